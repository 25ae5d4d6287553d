"""Queries of deployments."""

from collections.abc import Collection

from sqlalchemy import and_, bindparam, func, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.sites.deployments.tables import PagesDeployment, pages_deployments

_BATCH = 100
_IN_PROJECT = select(pages_deployments).where(pages_deployments.c.project_id == bindparam("project"))
_BY_ID = _IN_PROJECT.where(pages_deployments.c.id == bindparam("deployment"))
_ACTIVE = _IN_PROJECT.where(
    pages_deployments.c.deleted_at.is_(None),
    or_(pages_deployments.c.expires_at.is_(None), pages_deployments.c.expires_at > bindparam("now")),
).order_by(pages_deployments.c.id)
_OF_JOB = select(pages_deployments).where(pages_deployments.c.job_id == bindparam("job")).limit(1)
_PAGE = list_query(_IN_PROJECT, pages_deployments.c.id, pages_deployments.c.id.desc())
_NEWEST_PIPELINE = select(func.max(pages_deployments.c.pipeline_id)).where(
    pages_deployments.c.project_id == bindparam("project"),
    pages_deployments.c.path_prefix == bindparam("prefix"),
    pages_deployments.c.deleted_at.is_(None),
)
_EXISTING_KEYS = select(pages_deployments.c.storage_key).where(in_list(pages_deployments.c.storage_key, "keys"))
_RECORDED = (
    select(pages_deployments.c.id, pages_deployments.c.storage_key, pages_deployments.c.size)
    .where(pages_deployments.c.id > bindparam("after"))
    .order_by(pages_deployments.c.id)
    .limit(_BATCH)
)
_ENDED = (
    select(pages_deployments)
    .where(
        or_(
            and_(pages_deployments.c.deleted_at.is_not(None), pages_deployments.c.deleted_at <= bindparam("moment")),
            and_(pages_deployments.c.deleted_at.is_(None), pages_deployments.c.expires_at <= bindparam("moment")),
        )
    )
    .order_by(pages_deployments.c.id)
    .limit(_BATCH)
)


def list_deployments(db: Connection, project_id: int, page: Page) -> Listing[PagesDeployment]:
    """List a page of the deployments of a project, the newest first."""
    return fetch_page(db, PagesDeployment, _PAGE, page, project=project_id)


def active_deployments(db: Connection, project_id: int) -> list[PagesDeployment]:
    """Return the deployments of a project that are served."""
    return db.all(PagesDeployment, _ACTIVE, project=project_id, now=db.now)


def find_deployment(db: Connection, project_id: int, deployment_id: int) -> PagesDeployment:
    """Return a deployment of a project; raise NotFound otherwise."""
    deployment = db.first(PagesDeployment, _BY_ID, project=project_id, deployment=deployment_id)
    if deployment is None:
        raise NotFound("Pages deployment")
    return deployment


def deployment_of_job(db: Connection, job_id: int) -> PagesDeployment | None:
    """Return the deployment that a job has made, if any."""
    return db.first(PagesDeployment, _OF_JOB, job=job_id)


def newest_pipeline_id(db: Connection, project_id: int, path_prefix: str) -> int:
    """Return the newest pipeline that has deployed below a path prefix; 0 if there is none."""
    return db.value(_NEWEST_PIPELINE, project=project_id, prefix=path_prefix) or 0


def ended_deployments(db: Connection, moment: Timestamp) -> list[PagesDeployment]:
    """Return the next deployments that were deleted or expired before a moment."""
    return db.all(PagesDeployment, _ENDED, moment=moment)


def existing_keys(db: Connection, keys: Collection[str]) -> set[str]:
    """Return those of these storage keys that have a row."""
    return {key for (key,) in db.rows(_EXISTING_KEYS, keys=list(keys))}


def recorded_deployments(db: Connection, after: int) -> list[tuple[int, str, int]]:
    """List the next files with their ids, storage keys and sizes."""
    return [(row_id, key, size) for row_id, key, size in db.rows(_RECORDED, after=after)]
