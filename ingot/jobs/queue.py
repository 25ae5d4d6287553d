"""Putting work into the queue and taking it out."""

from typing import Any

import msgspec
from sqlalchemy import bindparam, func, or_, select

from ingot.db.connection import Connection
from ingot.db.times import Timestamp, later
from ingot.jobs.tables import Job, jobs

MOST_ATTEMPTS = 12
LEASE_SECONDS = 300
LONGEST_PAUSE_SECONDS = 3600
_DUE = (
    select(jobs)
    # Nothing is ever put off for that long: what seems to be was written before the clock was set back.
    .where(or_(jobs.c.run_at <= bindparam("now"), jobs.c.run_at > bindparam("far")), jobs.c.attempts < MOST_ATTEMPTS)
    .order_by(jobs.c.run_at, jobs.c.id)
    .limit(1)
    .with_for_update(skip_locked=True)
)
_DEPTH = select(func.count()).select_from(jobs)


def enqueue(db: Connection, kind: str, payload: Any, run_at: Timestamp | None = None) -> int:
    """Add work, for now or within the hour; it exists exactly when the caller's transaction commits."""
    document = msgspec.json.encode(payload).decode()
    return db.insert(jobs, kind=kind, payload=document, run_at=run_at or db.now, attempts=0, created_at=db.now)


def claim(db: Connection) -> Job | None:
    """Take the next due job for a while; a worker that dies leaves it to another one."""
    job = db.first(Job, _DUE, now=db.now, far=later(db.now, seconds=2 * LONGEST_PAUSE_SECONDS))
    if job is None:
        return None
    db.update(jobs, job.id, attempts=job.attempts + 1, run_at=later(db.now, seconds=LEASE_SECONDS))
    return job


def finish(db: Connection, job: Job) -> None:
    """The work is done."""
    db.delete(jobs, job.id)


def fail(db: Connection, job: Job, error: str) -> None:
    """Try again later, ever less often; after the last attempt the row stays for a person to look at."""
    pause = min(LONGEST_PAUSE_SECONDS, 2**job.attempts * 5)
    db.update(jobs, job.id, last_error=error[:1000], run_at=later(db.now, seconds=pause))


def depth(db: Connection) -> int:
    """How many jobs are waiting."""
    count: int = db.value(_DEPTH)
    return count
