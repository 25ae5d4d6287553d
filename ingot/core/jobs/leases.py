"""Leases of jobs: claiming, renewing and finishing; only the holder of a lease can finish its job."""

import random
import secrets
from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select, update

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.jobs.queue import MAX_ATTEMPTS, count_failure, wake_workers
from ingot.core.jobs.tables import Job, jobs

FIRST_PAUSE_SECONDS = 10.0
MAX_PAUSE_SECONDS = 3600.0
_WAITING = jobs.c.state == "waiting"
_RUNNING = jobs.c.state == "running"
_ALLOWED = ~in_list(jobs.c.kind, "full_kinds")
_DUE = (
    select(jobs)
    .where(_WAITING, jobs.c.run_at <= bindparam("now"), _ALLOWED)
    .order_by(jobs.c.run_at, jobs.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
_EXPIRED = (
    select(jobs)
    .where(_RUNNING, jobs.c.leased_until <= bindparam("now"), _ALLOWED)
    .order_by(jobs.c.leased_until, jobs.c.id)
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
_NEXT = select(
    select(jobs.c.run_at).where(_WAITING, _ALLOWED).order_by(jobs.c.run_at, jobs.c.id).limit(1).scalar_subquery(),
    select(jobs.c.leased_until).where(_RUNNING, _ALLOWED).order_by(jobs.c.leased_until).limit(1).scalar_subquery(),
)
_HELD = (jobs.c.id == bindparam("job"), jobs.c.lease == bindparam("held"))
_FIND_HELD = select(jobs.c.id).where(*_HELD).with_for_update()
_FINISH = delete(jobs).where(*_HELD)
_RENEW = update(jobs).where(_RUNNING, in_list(jobs.c.lease, "leases")).values(leased_until=bindparam("until"))
_DUPLICATE = select(jobs).where(_WAITING, jobs.c.unique_key == bindparam("key")).with_for_update()
_DELETE_DEAD_DUPLICATES = delete(jobs).where(jobs.c.state == "dead", jobs.c.unique_key == bindparam("key"))


class JobCapacity(NamedTuple):
    """The number and kinds of jobs that a worker can claim now."""

    limit: int
    refused_kinds: Sequence[str] = ()
    """Kinds of which the worker already runs enough, or which it does not know."""
    takeovers: bool = True
    """Whether expired leases may be taken over; false right after the clock was set."""


def next_due_at(db: Connection, capacity: JobCapacity) -> Timestamp | None:
    """Return when the next job is due or the next lease expires; None if the queue is empty."""
    waiting, expiring = db.rows(_NEXT, full_kinds=list(capacity.refused_kinds))[0]
    return min((moment for moment in (waiting, expiring if capacity.takeovers else None) if moment), default=None)


def claim_jobs(db: Connection, capacity: JobCapacity, lease_seconds: float) -> list[Job]:
    """Lease due jobs, first those whose worker died; no other worker gets them before the lease expires."""
    limits = {"now": db.now, "full_kinds": list(capacity.refused_kinds)}
    claimable: list[Job] = []
    if capacity.takeovers:
        for job in db.all(Job, _EXPIRED, most=capacity.limit, **limits):
            count_failure(db, job.kind)
            if job.attempts < MAX_ATTEMPTS:
                claimable.append(job)
            else:
                _mark_dead(db, job, "The worker died")
    if len(claimable) < capacity.limit:
        claimable += db.all(Job, _DUE, most=capacity.limit - len(claimable), **limits)
    return [_lease(db, job, lease_seconds) for job in claimable]


def _lease(db: Connection, job: Job, lease_seconds: float) -> Job:
    lease = secrets.token_hex(8)
    until = add_duration(db.now, seconds=lease_seconds)
    # Count the attempt before it runs, so that a job that kills its worker is not retried forever.
    attempts = job.attempts + 1
    db.update(jobs, job.id, state="running", attempts=attempts, lease=lease, leased_until=until)
    return Job(
        job.id,
        job.kind,
        job.payload,
        "running",
        job.run_at,
        job.placed_at,
        attempts,
        job.unique_key,
        lease,
        until,
        job.last_error,
        job.created_at,
    )


def renew_leases(db: Connection, held: Sequence[Job], lease_seconds: float) -> None:
    """Extend the leases of jobs."""
    db.run(_RENEW, leases=[job.lease for job in held], until=add_duration(db.now, seconds=lease_seconds))


def finish_job(db: Connection, job: Job) -> bool:
    """Delete a finished job; return False if its lease was lost."""
    return db.run_counted(_FINISH, job=job.id, held=job.lease) > 0


def fail_job(db: Connection, job: Job, error: str) -> bool:
    """Requeue a failed job with exponential backoff, or mark it dead after the last attempt.

    Returns False if its lease was lost. A dead job stays in the table for an administrator.
    """
    if not _is_held(db, job):
        return False
    count_failure(db, job.kind)
    if job.attempts >= MAX_ATTEMPTS:
        _mark_dead(db, job, error)
    else:
        requeue_job(db, job, add_duration(db.now, seconds=retry_pause(job.attempts)), job.attempts, error)
    return True


def postpone_job(db: Connection, job: Job, seconds: float, reason: str | None = None) -> bool:
    """Requeue a job as its handler requested, without counting a failure.

    Without a reason, the attempt is not counted either. Returns False if its lease was lost.
    """
    if not _is_held(db, job):
        return False
    attempts = job.attempts - (reason is None)
    requeue_job(db, job, add_duration(db.now, seconds=seconds), attempts, reason or job.last_error)
    return True


def release_jobs(db: Connection, held: Sequence[Job]) -> None:
    """Requeue jobs that a stopping worker cannot finish, so that others need not wait for the leases to expire."""
    for job in held:
        postpone_job(db, job, 0)
    wake_workers(db)


def requeue_job(db: Connection, job: Job, run_at: Timestamp, attempts: int, error: str | None) -> int:
    """Requeue a job; return its id, or the id of a job that already waits under its key."""
    if job.unique_key is not None:
        duplicate = db.first(Job, _DUPLICATE, key=job.unique_key)
        if duplicate is not None and duplicate.id != job.id:
            # The waiting job does the same work. It inherits the attempts, or a failing job would never become dead.
            db.update(jobs, duplicate.id, attempts=max(attempts, duplicate.attempts), last_error=error)
            db.delete(jobs, job.id)
            return duplicate.id
    db.update(
        jobs,
        job.id,
        state="waiting",
        run_at=run_at,
        placed_at=db.now,
        attempts=attempts,
        lease=None,
        leased_until=None,
        last_error=error,
    )
    return job.id


def retry_pause(attempts: int) -> float:
    """Return the seconds to wait after the n-th failure: 5 to 10 at first, up to between half an hour and an hour."""
    longest = min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (attempts - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - Jitter that spreads load, not a secret.


def _mark_dead(db: Connection, job: Job, error: str) -> None:
    if job.unique_key is not None:
        # Keep one dead job per key: work that always fails must not fill the table.
        db.run(_DELETE_DEAD_DUPLICATES, key=job.unique_key)
    db.update(jobs, job.id, state="dead", lease=None, leased_until=None, last_error=error)


def _is_held(db: Connection, job: Job) -> bool:
    return db.value(_FIND_HELD, job=job.id, held=job.lease) is not None
