"""Adding jobs to the queue."""

from typing import Any

import msgspec
from sqlalchemy import and_, bindparam, delete, or_, select, update
from sqlalchemy import text as sql

from ingot.core.db.connection import Connection
from ingot.core.db.engines import notify_watchers
from ingot.core.db.times import Timestamp
from ingot.core.jobs.tables import job_failures, jobs

MAX_ATTEMPTS = 12

# A job that waits under the same key is locked by the upsert: a worker must not claim it before the caller's
# transaction commits, or it would run without seeing the caller's changes. A failed job keeps its backoff.
_ENQUEUE = sql(
    "INSERT INTO jobs (kind, payload, state, run_at, placed_at, attempts, unique_key, created_at) "
    "VALUES (:kind, :payload, 'waiting', :run_at, :now, 0, :unique_key, :now) "
    "ON CONFLICT (unique_key) WHERE state = 'waiting' DO UPDATE SET run_at = "
    "CASE WHEN jobs.attempts = 0 AND excluded.run_at < jobs.run_at THEN excluded.run_at ELSE jobs.run_at END "
    "RETURNING id"
)
_NOTIFY = select(notify_watchers())
_CANCEL = delete(jobs).where(jobs.c.id == bindparam("job"), jobs.c.state == "waiting")
_CANCEL_UNIQUE = delete(jobs).where(jobs.c.unique_key == bindparam("key"), jobs.c.state == "waiting")
_POSTPONE_UNIQUE = (
    update(jobs)
    .where(
        jobs.c.unique_key == bindparam("key"),
        or_(jobs.c.state == "waiting", and_(jobs.c.state == "running", jobs.c.leased_until <= bindparam("now"))),
    )
    .values(state="waiting", lease=None, leased_until=None, run_at=bindparam("moment"))
)
_RESTART_ATTEMPTS = (
    update(jobs).where(jobs.c.unique_key == bindparam("key"), jobs.c.state == "running").values(attempts=1)
)
_COUNT_FAILURE = (
    update(job_failures).where(job_failures.c.kind == bindparam("failed")).values(count=job_failures.c.count + 1)
)


def enqueue(
    db: Connection, kind: str, payload: Any, run_at: Timestamp | None = None, unique_key: str | None = None
) -> int:
    """Add a job and return its id; it exists exactly when the caller's transaction commits.

    If a job already waits under the same ``unique_key``, its id is returned and no row is added.
    """
    payload_json = msgspec.json.encode(payload).decode()
    job_id: int = db.value(
        _ENQUEUE, kind=kind, payload=payload_json, run_at=run_at or db.now, unique_key=unique_key, now=db.now
    )
    wake_workers(db)
    return job_id


def cancel_job(db: Connection, job_id: int) -> None:
    """Delete a waiting job whose work was done in another way; a running one is not affected."""
    db.run(_CANCEL, job=job_id)


def cancel_unique_job(db: Connection, unique_key: str) -> None:
    """Delete the job that waits under a key, whose work was done in another way."""
    db.run(_CANCEL_UNIQUE, key=unique_key)


def postpone_unique_job(db: Connection, unique_key: str, run_at: Timestamp) -> bool:
    """Let the job under a key run later, while the caller does its work; return False if a worker runs it."""
    return db.run_counted(_POSTPONE_UNIQUE, key=unique_key, moment=run_at, now=db.now) > 0


def restart_attempts(db: Connection, unique_key: str) -> None:
    """Count the attempts of a running job anew: it has made progress, so it is not given up after many restarts."""
    db.run(_RESTART_ATTEMPTS, key=unique_key)


def wake_workers(db: Connection) -> None:
    """Wake sleeping workers when the caller's transaction commits."""
    db.run(_NOTIFY)
    db.wakes_watchers = True


def count_failure(db: Connection, kind: str) -> None:
    """Count a failed attempt for the metrics."""
    if db.run_counted(_COUNT_FAILURE, failed=kind) == 0:
        db.insert(job_failures, kind=kind, count=1)
