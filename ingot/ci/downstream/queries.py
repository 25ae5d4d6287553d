"""Queries of jobs that start pipelines, and of these pipelines."""

from functools import lru_cache

from sqlalchemy import bindparam, literal, select

from ingot.ci.job_records.policy import may_read_jobs
from ingot.ci.job_records.queries import JOBS
from ingot.ci.job_records.tables import CiJob, ci_jobs
from ingot.ci.pipelines.tables import downstream_pipelines, mirrored_pipelines
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.pipelines.queries import pipelines_by_ids
from ingot.pipelines.tables import Pipeline, Status, commit_statuses, pipelines
from ingot.projects.projects.queries import find_project, project_or_none
from ingot.projects.projects.tables import Project

_UNFINISHED_OF_PROJECT = (
    select(pipelines.c.id)
    .join(downstream_pipelines, downstream_pipelines.c.pipeline_id == pipelines.c.id)
    .where(
        pipelines.c.project_id == bindparam("project"),
        ~one_of(pipelines.c.status, "success", "failed", "canceled", "skipped"),
    )
    .order_by(pipelines.c.id)
)
_FOLLOWERS = (
    select(downstream_pipelines.c.job_id, literal(False))
    .where(downstream_pipelines.c.pipeline_id == bindparam("pipeline"))
    .union_all(
        select(mirrored_pipelines.c.job_id, literal(True)).where(
            mirrored_pipelines.c.pipeline_id == bindparam("pipeline")
        )
    )
)
_MIRRORS_OF_PROJECT = (
    select(mirrored_pipelines.c.job_id)
    .join(pipelines, pipelines.c.id == mirrored_pipelines.c.pipeline_id)
    .where(pipelines.c.project_id == bindparam("project"))
    .order_by(mirrored_pipelines.c.job_id)
)
_MIRRORED = select(mirrored_pipelines.c.job_id, mirrored_pipelines.c.pipeline_id).where(
    in_list(mirrored_pipelines.c.job_id, "jobs")
)


@lru_cache(maxsize=2)
def _bridges(with_statuses: bool) -> ListQuery:
    bridges = JOBS.where(
        commit_statuses.c.pipeline_id == bindparam("pipeline"), ~commit_statuses.c.retried, ci_jobs.c.bridge
    )
    if with_statuses:
        bridges = bridges.where(in_list(commit_statuses.c.status, "statuses"))
    return list_query(bridges, ci_jobs.c.id, ci_jobs.c.id.asc())


def list_bridges(db: Connection, pipeline: Pipeline, statuses: list[Status] | None, page: Page) -> Listing[CiJob]:
    """List the jobs of a pipeline that start other pipelines."""
    if not statuses:
        return fetch_page(db, CiJob, _bridges(False), page, pipeline=pipeline.id)
    return fetch_page(db, CiJob, _bridges(True), page, pipeline=pipeline.id, statuses=list(statuses))


def downstream_or_none(db: Connection, pipeline_id: int) -> Pipeline | None:
    """Return a pipeline, if it exists."""
    return pipelines_by_ids(db, [pipeline_id]).get(pipeline_id)


def unfinished_downstream_ids(db: Connection, project_id: int) -> list[int]:
    """Return the pipelines of a project that jobs have started and that have not ended."""
    return [pipeline_id for (pipeline_id,) in db.rows(_UNFINISHED_OF_PROJECT, project=project_id)]


def followers(db: Connection, pipeline_id: int) -> list[tuple[int, bool]]:
    """Return the jobs that follow a pipeline: the one that has started it, and, marked, those that mirror it."""
    return [(job_id, bool(mirrors)) for job_id, mirrors in db.rows(_FOLLOWERS, pipeline=pipeline_id)]


def mirrors_of_project(db: Connection, project_id: int) -> list[int]:
    """Return the jobs that take the status of a pipeline of a project."""
    return [job_id for (job_id,) in db.rows(_MIRRORS_OF_PROJECT, project=project_id)]


def mirrored_ids(db: Connection, job_ids: list[int]) -> dict[int, int]:
    """Return the ids of the pipelines whose status jobs take, by job id."""
    return dict(db.rows(_MIRRORED, jobs=job_ids)) if job_ids else {}


def is_project_deleted(db: Connection, project_id: int) -> bool:
    """Return whether a project is deleted; its pipelines remain until a job removes them."""
    project = project_or_none(db, project_id)
    return project is None or project.namespace_id is None


def visible_pipelines(db: Connection, actor: Actor, pipeline_ids: list[int]) -> dict[int, tuple[Pipeline, Project]]:
    """Return those pipelines with their projects that a user may see, by id."""
    projects: dict[int, Project | None] = {}
    visible: dict[int, tuple[Pipeline, Project]] = {}
    for pipeline in pipelines_by_ids(db, pipeline_ids).values():
        if pipeline.project_id not in projects:
            projects[pipeline.project_id] = _readable_project(db, actor, pipeline.project_id)
        project = projects[pipeline.project_id]
        if project is not None:
            visible[pipeline.id] = pipeline, project
    return visible


def _readable_project(db: Connection, actor: Actor, project_id: int) -> Project | None:
    try:
        access, project = find_project(db, actor, project_id)
    except NotFound:
        return None
    return project if may_read_jobs(actor, access, project) else None
