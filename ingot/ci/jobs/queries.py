"""Queries of the jobs of a project."""

from collections.abc import Collection

from sqlalchemy import bindparam, func, select

from ingot.ci.job_records.queries import JOBS
from ingot.ci.job_records.tables import CiJob, ResourceGroup, ci_jobs, resource_groups
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.pipelines.tables import Status, commit_statuses

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

_GROUPS = select(resource_groups).where(resource_groups.c.project_id == bindparam("project"))
_ALL_GROUPS = list_query(_GROUPS, resource_groups.c.id, resource_groups.c.id.asc())
_GROUP_BY_KEY = _GROUPS.where(resource_groups.c.key == bindparam("key"))
_OF_GROUP = JOBS.where(
    ci_jobs.c.project_id == bindparam("project"), ci_jobs.c.resource_group == bindparam("key"), ~ci_jobs.c.bridge
)
_UPCOMING = _OF_GROUP.where(in_list(commit_statuses.c.status, "statuses"))
_UPCOMING_STATUSES: list[Status] = ["created", "scheduled", "waiting_for_resource"]
_UPCOMING_JOBS = {
    "unordered": list_query(_UPCOMING, ci_jobs.c.id, ci_jobs.c.id.asc()),
    "oldest_first": list_query(_UPCOMING, ci_jobs.c.id, commit_statuses.c.pipeline_id.asc(), ci_jobs.c.id.asc()),
    "newest_first": list_query(_UPCOMING, ci_jobs.c.id, commit_statuses.c.pipeline_id.desc(), ci_jobs.c.id.asc()),
}


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


def list_resource_groups(db: Connection, project_id: int, page: Page) -> Listing[ResourceGroup]:
    """List a project's resource groups."""
    return fetch_page(db, ResourceGroup, _ALL_GROUPS, page, project=project_id)


def find_resource_group(db: Connection, project_id: int, key: str) -> ResourceGroup:
    """Return a project's resource group by its key; raise NotFound otherwise."""
    group = db.first(ResourceGroup, _GROUP_BY_KEY, project=project_id, key=key)
    if group is None:
        raise NotFound("Resource group")
    return group


def list_upcoming_jobs(db: Connection, group: ResourceGroup, page: Page) -> Listing[CiJob]:
    """List the jobs that wait for a resource group; a group with an order includes jobs that are not ready yet."""
    statuses = ["waiting_for_resource"] if group.process_mode == "unordered" else _UPCOMING_STATUSES
    statement = _UPCOMING_JOBS[group.process_mode]
    return fetch_page(db, CiJob, statement, page, project=group.project_id, key=group.key, statuses=statuses)
