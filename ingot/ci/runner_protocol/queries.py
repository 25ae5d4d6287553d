"""Queries of the jobs that runners execute."""

import hmac
from functools import cache
from typing import Any

from sqlalchemy import bindparam, select

from ingot.ci.job_records.queries import JOBS, job_by_id, require_active_user
from ingot.ci.job_records.tables import CiJob, ci_jobs
from ingot.ci.runner_protocol.params import ListRunnerJobs
from ingot.ci.runners.tables import Runner
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import add_duration
from ingot.core.errors import Denied, NotFound
from ingot.pipelines.tables import commit_statuses
from ingot.projects.projects.policy import projects_of_actor
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
    if job.status in EXECUTED:
        require_active_user(db, job)
    return job


def _has_just_ended(db: Connection, job: CiJob) -> bool:
    return job.finished_at is not None and job.finished_at > add_duration(db.now, minutes=-LATE_MINUTES)


@cache
def _runner_jobs(*, of_status: bool, of_actor: bool, ascending: bool) -> ListQuery:
    matching = JOBS.where(ci_jobs.c.runner_id == bindparam("runner"))
    if of_status:
        matching = matching.where(commit_statuses.c.status == bindparam("status"))
    if of_actor:
        matching = matching.where(ci_jobs.c.project_id.in_(projects_of_actor(Level.REPORTER).scalar_subquery()))
    return list_query(matching, ci_jobs.c.id, ci_jobs.c.id.asc() if ascending else ci_jobs.c.id.desc())


def list_runner_jobs(
    db: Connection, actor: Actor, runner: Runner, params: ListRunnerJobs, page: Page
) -> Listing[CiJob]:
    """List the jobs that a runner has taken, in projects of which the caller is at least a reporter."""
    values: dict[str, Any] = {"runner": runner.id}
    if params.status is not None:
        values["status"] = params.status
    if not actor.admin:
        values |= {"actor": actor.user_id, "today": db.today}
    ascending = params.sort == "asc"
    query = _runner_jobs(of_status=params.status is not None, of_actor=not actor.admin, ascending=ascending)
    return fetch_page(db, CiJob, query, page, **values)
