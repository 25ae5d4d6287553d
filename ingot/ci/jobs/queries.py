"""Queries of the jobs of a project."""

from collections.abc import Collection

from sqlalchemy import bindparam, func, select

from ingot.ci.job_records.queries import JOBS
from ingot.ci.job_records.tables import CiJob, ci_jobs
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.repositories.pipelines.tables import Status, commit_statuses

_IN_PROJECT = JOBS.where(ci_jobs.c.project_id == bindparam("project"), ~ci_jobs.c.bridge)
_COUNT = select(func.count()).select_from(ci_jobs).where(ci_jobs.c.project_id == bindparam("project"))
# The total needs only the indexes of jobs by project and of bridges by project.
_ALL = list_query(_IN_PROJECT, ci_jobs.c.id, ci_jobs.c.id.desc())._replace(
    total=select(_COUNT.scalar_subquery() - _COUNT.where(ci_jobs.c.bridge).scalar_subquery())
)
_BY_STATUS = list_query(
    _IN_PROJECT.where(in_list(commit_statuses.c.status, "statuses")), ci_jobs.c.id, ci_jobs.c.id.desc()
)
_EXISTING = select(ci_jobs.c.id).where(in_list(ci_jobs.c.id, "jobs"))

_FINISHED = _EXISTING.join(commit_statuses, commit_statuses.c.id == ci_jobs.c.id).where(
    in_list(commit_statuses.c.status, "ended")
)


def list_jobs(db: Connection, project_id: int, statuses: Collection[Status] | None, page: Page) -> Listing[CiJob]:
    """List a project's jobs, newest first."""
    if not statuses:
        return fetch_page(db, CiJob, _ALL, page, project=project_id)
    return fetch_page(db, CiJob, _BY_STATUS, page, project=project_id, statuses=list(statuses))


def existing_job_ids(db: Connection, job_ids: list[int]) -> set[int]:
    """Return those of these jobs that exist."""
    return {job_id for (job_id,) in db.rows(_EXISTING, jobs=job_ids)}


def finished_job_ids(db: Connection, job_ids: list[int]) -> set[int]:
    """Return those of these jobs that have ended."""
    return {
        job_id for (job_id,) in db.rows(_FINISHED, jobs=job_ids, ended=["success", "failed", "canceled", "skipped"])
    }
