"""How statuses and pipelines are listed."""

from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, func, select

from ingot.db.connection import Connection
from ingot.db.expressions import any_of, one_of
from ingot.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.errors import NotFound
from ingot.git.commits import branch_tip, decoded, tag_tip
from ingot.git.refs import HEADS, TAGS
from ingot.git.sorted_refs import sorted_refs
from ingot.repository.pipelines.queries import newest_pipeline
from ingot.repository.pipelines.tables import CommitStatus, Pipeline, commit_statuses, pipelines
from ingot.repository.place import Place
from ingot.statuses.params import GetLatestPipeline, ListPipelines, ListStatuses
from ingot.users.accounts.tables import users


class ReportedStatus(CommitStatus, frozen=True):
    """A status with the commit and the branch or tag that it is about."""

    sha: str
    ref: str


_REPORTED = select(commit_statuses, pipelines.c.sha, pipelines.c.ref).join(
    pipelines, pipelines.c.id == commit_statuses.c.pipeline_id
)
_BY_ID = _REPORTED.where(commit_statuses.c.id == bindparam("status"))
_OF_COMMIT = _REPORTED.where(pipelines.c.project_id == bindparam("project"), pipelines.c.sha == bindparam("sha"))
_OF_PIPELINE = _REPORTED.where(commit_statuses.c.pipeline_id == bindparam("pipeline"))
_STATUS_CONDITIONS = {
    "states": any_of(commit_statuses.c.status, "states"),
    "latest": ~commit_statuses.c.retried,
    "ref": pipelines.c.ref == bindparam("ref"),
    "stage": commit_statuses.c.stage == bindparam("stage"),
    "name": commit_statuses.c.name == bindparam("name"),
}

_HERE = select(pipelines).where(pipelines.c.project_id == bindparam("project"))
_LATEST_ON_REFS = (
    select(func.max(pipelines.c.id))
    .where(pipelines.c.project_id == bindparam("project"), any_of(pipelines.c.ref, "refs"))
    .group_by(pipelines.c.ref)
)
_CALLED = select(users.c.id).where(users.c.username_key == bindparam("username"))
_NAMED = select(users.c.id).where(users.c.name == bindparam("name"))
_PIPELINE_CONDITIONS = {
    "running": pipelines.c.status == "running",
    "pending": pipelines.c.status == "pending",
    "finished": one_of(pipelines.c.status, "success", "failed", "canceled"),
    "refs": pipelines.c.id.in_(_LATEST_ON_REFS.scalar_subquery()),
    "status": pipelines.c.status == bindparam("status"),
    "ref": pipelines.c.ref == bindparam("ref"),
    "sha": pipelines.c.sha == bindparam("sha"),
    "source": pipelines.c.source == bindparam("source"),
    "username": pipelines.c.user_id.in_(_CALLED.scalar_subquery()),
    "name": pipelines.c.user_id.in_(_NAMED.scalar_subquery()),
    "with_errors": pipelines.c.yaml_errors.is_not(None),
    "without_errors": pipelines.c.yaml_errors.is_(None),
    "created_after": pipelines.c.created_at >= bindparam("created_after"),
    "created_before": pipelines.c.created_at <= bindparam("created_before"),
    "updated_after": pipelines.c.updated_at >= bindparam("updated_after"),
    "updated_before": pipelines.c.updated_at <= bindparam("updated_before"),
}
_BOUND = (
    "status",
    "ref",
    "sha",
    "source",
    "username",
    "name",
    "created_after",
    "created_before",
    "updated_after",
    "updated_before",
)


@lru_cache(maxsize=16)
def _statuses(filters: frozenset[str]) -> ListQuery:
    matching = _OF_COMMIT.where(*(_STATUS_CONDITIONS[name] for name in sorted(filters)))
    return list_query(matching, commit_statuses.c.id, commit_statuses.c.id.asc())


def list_statuses(
    db: Connection, project_id: int, sha: str, wanted: ListStatuses, page: Page
) -> Listing[ReportedStatus]:
    """A page of what was said of a commit, in the order in which it was said."""
    given = {"ref": wanted.ref, "stage": wanted.stage, "name": wanted.name}
    values = {name: value for name, value in given.items() if value}
    filters = frozenset(values) if wanted.all else frozenset({"latest", *values})
    return fetch_page(db, ReportedStatus, _statuses(filters), page, project=project_id, sha=sha, **values)


@lru_cache(maxsize=16)
def _pipeline_statuses(filters: frozenset[str]) -> ListQuery:
    matching = _OF_PIPELINE.where(*(_STATUS_CONDITIONS[name] for name in sorted(filters)))
    return list_query(matching, commit_statuses.c.id, commit_statuses.c.id.asc())


def list_pipeline_statuses(
    db: Connection, pipeline: Pipeline, page: Page, *, retried: bool, states: list[str] | None = None
) -> Listing[ReportedStatus]:
    """A page of what a pipeline is made of, in the order in which it was said."""
    filters = {name for name, wanted in (("latest", not retried), ("states", states is not None)) if wanted}
    values = {} if states is None else {"states": states}
    return fetch_page(db, ReportedStatus, _pipeline_statuses(frozenset(filters)), page, pipeline=pipeline.id, **values)


def find_status(db: Connection, status_id: int) -> ReportedStatus:
    """The status with this number."""
    status = db.first(ReportedStatus, _BY_ID, status=status_id)
    if status is None:
        raise NotFound("Commit Status")
    return status


@lru_cache(maxsize=256)
def _pipelines(filters: frozenset[str], order_by: str, sort: str) -> ListQuery:
    matching = _HERE.where(*(_PIPELINE_CONDITIONS[name] for name in sorted(filters)))
    columns = [pipelines.c[order_by]] if order_by == "id" else [pipelines.c[order_by], pipelines.c.id]
    return list_query(matching, pipelines.c.id, *(each.asc() if sort == "asc" else each.desc() for each in columns))


def list_pipelines(db: Connection, place: Place, wanted: ListPipelines, page: Page) -> Listing[Pipeline]:
    """A page of a project's pipelines, the newest first unless another order is asked for."""
    values: dict[str, Any] = {name: getattr(wanted, name) for name in _BOUND if getattr(wanted, name)}
    if "sha" in values:
        values["sha"] = wanted.sha.lower()
    if "username" in values:
        values["username"] = wanted.username.lower()
    filters = set(values)
    if wanted.yaml_errors is not None:
        filters.add("with_errors" if wanted.yaml_errors else "without_errors")
    if wanted.scope in ("branches", "tags"):
        values["refs"] = _names(place, HEADS if wanted.scope == "branches" else TAGS)
        filters.add("refs")
    elif wanted.scope is not None:
        filters.add(wanted.scope)
    query = _pipelines(frozenset(filters), wanted.order_by, wanted.sort)
    return fetch_page(db, Pipeline, query, page, project=place.project.id, **values)


def find_latest_pipeline(db: Connection, place: Place, wanted: GetLatestPipeline) -> Pipeline:
    """The newest pipeline of the commit that a branch or tag is at."""
    ref = wanted.ref or place.project.default_branch
    tip = branch_tip(place.repository, ref) or tag_tip(place.repository, ref)
    pipeline = newest_pipeline(db, place.project.id, tip, ref) if tip else None
    if pipeline is None:
        raise NotFound("Pipeline")
    return pipeline


def _names(place: Place, folder: bytes) -> list[str]:
    return [decoded(ref.name) for ref in sorted_refs(place.repository, folder, place.project.generation)]
