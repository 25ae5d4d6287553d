"""Taking jobs out of the queue for a while, and what becomes of them; only the holder of a lease can end its job."""

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
    """What a worker can take right now."""

    limit: int
    saturated_kinds: Sequence[str] = ()
    """Kinds of which it runs enough already."""
    takeovers: bool = True
    """Whether a lease that is over may be believed; not right after the clock was set."""


def next_due_at(db: Connection, params: JobCapacity) -> Timestamp | None:
    """When there will be a job to take, as far as the queue knows now."""
    waiting, lapsing = db.rows(_NEXT, full_kinds=list(params.saturated_kinds))[0]
    return min((moment for moment in (waiting, lapsing if params.takeovers else None) if moment), default=None)


def claim_jobs(db: Connection, params: JobCapacity, lease_seconds: float) -> list[Job]:
    """Take due jobs, first those whose worker has died; nobody else gets them before the lease is over."""
    limits = {"now": db.now, "full_kinds": list(params.saturated_kinds)}
    found: list[Job] = []
    if params.takeovers:
        for job in db.all(Job, _EXPIRED, most=params.limit, **limits):
            count_failure(db, job.kind)
            if job.attempts < MAX_ATTEMPTS:
                found.append(job)
            else:
                _mark_dead(db, job, "The worker died")
    if len(found) < params.limit:
        found += db.all(Job, _DUE, most=params.limit - len(found), **limits)
    return [_lease(db, job, lease_seconds) for job in found]


def _lease(db: Connection, job: Job, lease_seconds: float) -> Job:
    lease = secrets.token_hex(8)
    until = add_duration(db.now, seconds=lease_seconds)
    # The attempt counts before it is made, so that a job which kills its worker cannot do so for ever.
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
    """Hold jobs for longer."""
    db.run(_RENEW, leases=[job.lease for job in held], until=add_duration(db.now, seconds=lease_seconds))


def finish_job(db: Connection, job: Job) -> bool:
    """The work is done; says whether the job was still the caller's to end."""
    return db.run(_FINISH, job=job.id, held=job.lease) > 0


def fail_job(db: Connection, job: Job, error: str) -> bool:
    """Try again later, ever less often; after the last attempt the row stays for a person to look at."""
    if not _is_held(db, job):
        return False
    count_failure(db, job.kind)
    if job.attempts >= MAX_ATTEMPTS:
        _mark_dead(db, job, error)
    else:
        requeue_job(db, job, add_duration(db.now, seconds=retry_pause(job.attempts)), job.attempts, error)
    return True


def postpone_job(db: Connection, job: Job, seconds: float, reason: str | None = None) -> bool:
    """Let the job wait as its handler asked; this was no failure, and without a reason not even an attempt."""
    if not _is_held(db, job):
        return False
    attempts = job.attempts - (reason is None)
    requeue_job(db, job, add_duration(db.now, seconds=seconds), attempts, reason or job.last_error)
    return True


def release_jobs(db: Connection, held: Sequence[Job]) -> None:
    """Give jobs back that there is no time to finish, so that others need not wait for the leases."""
    for job in held:
        postpone_job(db, job, 0)
    wake_workers(db)


def requeue_job(db: Connection, job: Job, run_at: Timestamp, attempts: int, error: str | None) -> int:
    """Let a job wait again and give its id, or that of the one which waits already under its key."""
    if job.unique_key is not None:
        twin = db.first(Job, _DUPLICATE, key=job.unique_key)
        if twin is not None and twin.id != job.id:
            # The later one does the same work; it inherits the attempts, or a failing job would never be given up.
            db.update(jobs, twin.id, attempts=max(attempts, twin.attempts), last_error=error)
            db.delete(jobs, job.id)
            return twin.id
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
    """How long a job rests after its n-th failure: 5 to 10 seconds at first, half an hour to an hour in the end."""
    longest = min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** (attempts - 1))
    return longest * random.uniform(0.5, 1.0)  # noqa: S311 - It spreads load; nobody gains by guessing it.


def _mark_dead(db: Connection, job: Job, error: str) -> None:
    if job.unique_key is not None:
        # One such row tells a person enough; work that always fails must not fill the table.
        db.run(_DELETE_DEAD_DUPLICATES, key=job.unique_key)
    db.update(jobs, job.id, state="dead", lease=None, leased_until=None, last_error=error)


def _is_held(db: Connection, job: Job) -> bool:
    return db.value(_FIND_HELD, job=job.id, held=job.lease) is not None
