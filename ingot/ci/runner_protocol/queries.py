"""Queries of the jobs that runners execute, by the tokens of the jobs."""

import hmac

from sqlalchemy import bindparam, select

from ingot.ci.job_records.queries import job_by_id
from ingot.ci.job_records.tables import CiJob
from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.errors import Denied, NotFound
from ingot.projects.projects.tables import projects

LATE_MINUTES = 10
"""Time after the end of a job in which its runner may still send output and learn how the job ended."""
EXECUTED = ("running", "canceling")
_NAMESPACE = select(projects.c.namespace_id).where(projects.c.id == bindparam("project"))


def find_executed_job(db: Connection, job_id: int, token: str | None) -> CiJob:
    """Return the job with this token; raise NotFound if there is no such job, and Denied for another token.

    A job that the server has ended is returned for a while, so that its runner learns of it.
    """
    job = job_by_id(db, job_id)
    if job is None:
        raise NotFound(message="404 Not found")
    if not token or job.token_digest is None or not hmac.compare_digest(db.vault.digest(token), job.token_digest):
        raise Denied
    if db.value(_NAMESPACE, project=job.project_id) is None:
        raise Denied("Project has been deleted!")
    if job.erased_at is not None:
        raise Denied("Job has been erased!")
    if job.status not in EXECUTED and not _has_just_ended(db, job):
        raise Denied("Job is not running")
    return job


def _has_just_ended(db: Connection, job: CiJob) -> bool:
    return job.finished_at is not None and job.finished_at > add_duration(db.now, minutes=-LATE_MINUTES)
