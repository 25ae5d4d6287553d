"""Background jobs that delete traces of erased and deleted jobs, and move those of finished jobs to the bucket."""

import time
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from ingot.ci.jobs.queries import existing_job_ids, finished_job_ids
from ingot.ci.traces.store import TraceStore
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue

SWEEP_TRACES = "sweep_traces"
ARCHIVE_TRACES = "archive_traces"
SWEEP_AFTER_SECONDS = 3600
ARCHIVE_AFTER_SECONDS = 3600
"""Age of a trace from which it is moved; a runner may send the end of a canceled job's output for ten minutes."""
_BATCH = 500


def enqueue_trace_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_TRACES, None, unique_key=SWEEP_TRACES)


def enqueue_trace_archival(db: Connection) -> None:
    """Enqueue the move of the traces of finished jobs to the bucket."""
    enqueue(db, ARCHIVE_TRACES, None, unique_key=ARCHIVE_TRACES)


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
        for batch in _batches(self._traces.job_ids(), SWEEP_AFTER_SECONDS):
            existing = database.read(partial(existing_job_ids, job_ids=batch))
            for job_id in batch:
                if job_id not in existing:
                    self._traces.delete(job_id)

    def archive(self, database: Database, _payload: Any) -> None:
        """Move the traces of jobs that have finished to the bucket."""
        for batch in _batches(self._traces.job_ids(only_disk=True), ARCHIVE_AFTER_SECONDS):
            for job_id in database.read(partial(finished_job_ids, job_ids=batch)):
                self._traces.archive(job_id)


def _batches(traces: Iterable[tuple[int, float]], older_than_seconds: float) -> Iterator[list[int]]:
    """Yield the jobs of traces that are older, some at a time."""
    cutoff = time.time() - older_than_seconds
    batch: list[int] = []
    for job_id, changed_at in traces:
        if changed_at <= cutoff:
            batch.append(job_id)
        if len(batch) >= _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
