"""Background jobs that delete traces of erased and deleted jobs."""

import time
from functools import partial
from typing import Any

from ingot.ci.jobs.queries import existing_job_ids
from ingot.ci.traces.store import TraceStore
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue

SWEEP_TRACES = "sweep_traces"
SWEEP_AFTER_SECONDS = 3600
_BATCH = 500


def enqueue_trace_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_TRACES, None, unique_key=SWEEP_TRACES)


class TraceJobs:
    """Idempotent handlers of jobs about traces."""

    def __init__(self, traces: TraceStore) -> None:
        self._traces = traces

    def delete(self, _database: Database, job_ids: list[int]) -> None:
        """Delete the traces of erased or deleted jobs."""
        for job_id in job_ids:
            self._traces.delete(job_id)

    def sweep(self, database: Database, _payload: Any) -> None:
        """Delete the traces of jobs that no longer exist, such as those of deleted projects."""
        cutoff = time.time() - SWEEP_AFTER_SECONDS
        batch: list[int] = []
        for job_id, changed_at in self._traces.job_ids():
            if changed_at <= cutoff:
                batch.append(job_id)
            if len(batch) >= _BATCH:
                self._delete_unknown(database, batch)
                batch = []
        self._delete_unknown(database, batch)

    def _delete_unknown(self, database: Database, job_ids: list[int]) -> None:
        if not job_ids:
            return
        existing = database.read(partial(existing_job_ids, job_ids=job_ids))
        for job_id in job_ids:
            if job_id not in existing:
                self._traces.delete(job_id)
