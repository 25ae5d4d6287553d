"""Putting work into the queue."""

from typing import Any

import msgspec
from sqlalchemy import bindparam, delete, select, update
from sqlalchemy import text as sql

from ingot.core.db.connection import Connection
from ingot.core.db.engines import notify_watchers
from ingot.core.db.times import Timestamp
from ingot.core.jobs.tables import job_failures, jobs

MAX_ATTEMPTS = 12

# A row that waits under the same key is locked rather than left alone: no worker may take it before the caller's
# transaction has committed, or it would run without seeing what the caller wrote. One that failed keeps its backoff.
_ENQUEUE = sql(
    "INSERT INTO jobs (kind, payload, state, run_at, placed_at, attempts, unique_key, created_at) "
    "VALUES (:kind, :payload, 'waiting', :run_at, :now, 0, :unique_key, :now) "
    "ON CONFLICT (unique_key) WHERE state = 'waiting' DO UPDATE SET run_at = "
    "CASE WHEN jobs.attempts = 0 AND excluded.run_at < jobs.run_at THEN excluded.run_at ELSE jobs.run_at END "
    "RETURNING id"
)
_NOTIFY = select(notify_watchers())
_WITHDRAW = delete(jobs).where(jobs.c.id == bindparam("job"), jobs.c.state == "waiting")
_COUNT_FAILURE = (
    update(job_failures).where(job_failures.c.kind == bindparam("failed")).values(count=job_failures.c.count + 1)
)


def enqueue(
    db: Connection, kind: str, payload: Any, run_at: Timestamp | None = None, unique_key: str | None = None
) -> int:
    """Add work, and give its id; it exists exactly when the caller's transaction commits.

    A job that waits already under the same ``unique_key`` is the one: there is no second row.
    """
    document = msgspec.json.encode(payload).decode()
    job_id: int = db.value(
        _ENQUEUE, kind=kind, payload=document, run_at=run_at or db.now, unique_key=unique_key, now=db.now
    )
    wake_workers(db)
    return job_id


def cancel_job(db: Connection, job_id: int) -> None:
    """Take back work that was done in another way, unless a worker is at it."""
    db.run(_WITHDRAW, job=job_id)


def wake_workers(db: Connection) -> None:
    """Let sleeping workers look at the queue once the caller's transaction commits."""
    db.value(_NOTIFY)


def count_failure(db: Connection, kind: str) -> None:
    """Count a failed attempt, for the metrics."""
    if db.run(_COUNT_FAILURE, failed=kind) == 0:
        db.insert(job_failures, kind=kind, count=1)
