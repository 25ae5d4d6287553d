"""Queue operations for administrators."""

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, NotFound
from ingot.core.events.bus import emit
from ingot.core.jobs.events import JobDeleted
from ingot.core.jobs.leases import requeue_job
from ingot.core.jobs.queue import wake_workers
from ingot.core.jobs.tables import Job, JobState, jobs

_ALL = select(jobs).order_by(jobs.c.id).limit(bindparam("most"))
_IN_STATE = _ALL.where(jobs.c.state == bindparam("state"))
_COUNT = select(func.count()).select_from(jobs)
_COUNT_IN_STATE = _COUNT.where(jobs.c.state == bindparam("state"))
_BY_ID = select(jobs).where(jobs.c.id == bindparam("job")).with_for_update()
_DEAD = select(jobs).where(jobs.c.state == "dead").order_by(jobs.c.id).with_for_update(skip_locked=True)


def list_jobs(db: Connection, state: JobState | None, limit: int) -> tuple[list[Job], int]:
    """Return the oldest jobs, of one state or of all, and their total number."""
    if state is None:
        return db.all(Job, _ALL, most=limit), db.value(_COUNT)
    return db.all(Job, _IN_STATE, state=state, most=limit), db.value(_COUNT_IN_STATE, state=state)


def retry_job(db: Connection, job_id: int) -> int:
    """Run a dead or waiting job now with all its attempts; return the id under which it waits."""
    job = _find_job(db, job_id)
    if job.state == "running":
        raise Conflict(f"Job {job_id} is running")
    waiting_id = requeue_job(db, job, db.now, 0, job.last_error)
    wake_workers(db)
    return waiting_id


def retry_dead(db: Connection) -> int:
    """Run every dead job again; return their number."""
    dead = db.all(Job, _DEAD)
    for job in dead:
        requeue_job(db, job, db.now, 0, job.last_error)
    wake_workers(db)
    return len(dead)


def delete_job(db: Connection, job_id: int) -> Job:
    """Delete a job; a running one is not interrupted, but not retried either."""
    job = _find_job(db, job_id)
    db.delete(jobs, job_id)
    emit(db, JobDeleted(kind=job.kind, unique_key=job.unique_key))
    return job


def _find_job(db: Connection, job_id: int) -> Job:
    job = db.first(Job, _BY_ID, job=job_id)
    if job is None:
        raise NotFound(f"There is no job {job_id}")
    return job
