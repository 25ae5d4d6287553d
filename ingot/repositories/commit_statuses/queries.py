"""Queries of statuses and pipelines."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, func, select

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list, one_of
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.git.core.refs import HEADS, TAGS
from ingot.git.core.sorted_refs import sorted_refs
from ingot.git.history.commits import branch_tip, decode_text, tag_tip
from ingot.pipelines.queries import newest_pipeline_or_none
from ingot.pipelines.tables import IS_NO_CHILD, CommitStatus, Pipeline, commit_statuses, pipelines
from ingot.repositories.commit_statuses.params import GetLatestPipeline, ListPipelines, ListStatuses
from ingot.repositories.context import RepositoryContext


class ReportedStatus(CommitStatus, frozen=True):
    """A status with its commit and its branch or tag."""

    sha: str
    ref: str


_STATUSES = select(commit_statuses, pipelines.c.sha, pipelines.c.ref).join(
    pipelines, pipelines.c.id == commit_statuses.c.pipeline_id
)
_BY_ID = _STATUSES.where(commit_statuses.c.id == bindparam("status"))
_OF_COMMIT = _STATUSES.where(pipelines.c.project_id == bindparam("project"), pipelines.c.sha == bindparam("sha"))
_OF_PIPELINE = _STATUSES.where(commit_statuses.c.pipeline_id == bindparam("pipeline"))
_STATUS_CONDITIONS = {
    "states": in_list(commit_statuses.c.status, "states"),
    "latest": ~commit_statuses.c.retried,
    "excluded": ~in_list(commit_statuses.c.id, "excluded"),
    "ref": pipelines.c.ref == bindparam("ref"),
    "stage": commit_statuses.c.stage == bindparam("stage"),
    "name": commit_statuses.c.name == bindparam("name"),
}

_IN_PROJECT = select(pipelines).where(pipelines.c.project_id == bindparam("project"))
_LATEST_ON_REFS = (
    select(func.max(pipelines.c.id))
    .where(pipelines.c.project_id == bindparam("project"), in_list(pipelines.c.ref, "refs"), IS_NO_CHILD)
    .group_by(pipelines.c.ref)
)
_USER_BY_USERNAME = select(users.c.id).where(users.c.username_key == bindparam("username"))
_USER_BY_NAME = select(users.c.id).where(users.c.name == bindparam("name"))
_PIPELINE_CONDITIONS = {
    "running": pipelines.c.status == "running",
    "pending": pipelines.c.status == "pending",
    "finished": one_of(pipelines.c.status, "success", "failed", "canceled"),
    "refs": pipelines.c.id.in_(_LATEST_ON_REFS.scalar_subquery()),
    "status": pipelines.c.status == bindparam("status"),
    "ref": pipelines.c.ref == bindparam("ref"),
    "sha": pipelines.c.sha == bindparam("sha"),
    "source": pipelines.c.source == bindparam("source"),
    "no_children": IS_NO_CHILD,
    "username": pipelines.c.user_id.in_(_USER_BY_USERNAME.scalar_subquery()),
    "name": pipelines.c.user_id.in_(_USER_BY_NAME.scalar_subquery()),
    "with_errors": pipelines.c.yaml_errors.is_not(None),
    "without_errors": pipelines.c.yaml_errors.is_(None),
    "created_after": pipelines.c.created_at >= bindparam("created_after"),
    "created_before": pipelines.c.created_at <= bindparam("created_before"),
    "updated_after": pipelines.c.updated_at >= bindparam("updated_after"),
    "updated_before": pipelines.c.updated_at <= bindparam("updated_before"),
}
_BOUND_FILTERS = (
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
    db: Connection, project_id: int, sha: str, params: ListStatuses, page: Page
) -> Listing[ReportedStatus]:
    """List a page of a commit's statuses in the order of their reports."""
    given = {"ref": params.ref, "stage": params.stage, "name": params.name}
    values = {name: value for name, value in given.items() if value}
    filters = frozenset(values) if params.all else frozenset({"latest", *values})
    return fetch_page(db, ReportedStatus, _statuses(filters), page, project=project_id, sha=sha, **values)


@lru_cache(maxsize=16)
def _pipeline_statuses(filters: frozenset[str]) -> ListQuery:
    matching = _OF_PIPELINE.where(*(_STATUS_CONDITIONS[name] for name in sorted(filters)))
    return list_query(matching, commit_statuses.c.id, commit_statuses.c.id.asc())


def list_pipeline_statuses(
    db: Connection,
    pipeline: Pipeline,
    page: Page,
    *,
    retried: bool,
    states: Sequence[str] | None = None,
    excluded: Sequence[int] = (),
) -> Listing[ReportedStatus]:
    """List a page of a pipeline's statuses in the order of their reports, without those whose ids are excluded."""
    values: dict[str, Any] = {} if states is None else {"states": list(states)}
    if excluded:
        values["excluded"] = list(excluded)
    filters = frozenset(values if retried else {*values, "latest"})
    return fetch_page(db, ReportedStatus, _pipeline_statuses(filters), page, pipeline=pipeline.id, **values)


def find_status(db: Connection, status_id: int) -> ReportedStatus:
    """Return the status with this id; raise NotFound otherwise."""
    status = db.first(ReportedStatus, _BY_ID, status=status_id)
    if status is None:
        raise NotFound("Commit Status")
    return status


@lru_cache(maxsize=256)
def _pipelines(filters: frozenset[str], order_by: str, sort: str) -> ListQuery:
    matching = _IN_PROJECT.where(*(_PIPELINE_CONDITIONS[name] for name in sorted(filters)))
    columns = [pipelines.c[order_by]] if order_by == "id" else [pipelines.c[order_by], pipelines.c.id]
    return list_query(matching, pipelines.c.id, *(each.asc() if sort == "asc" else each.desc() for each in columns))


def list_pipelines(db: Connection, context: RepositoryContext, params: ListPipelines, page: Page) -> Listing[Pipeline]:
    """List a page of a project's pipelines, newest first unless another order is requested."""
    values: dict[str, Any] = {name: getattr(params, name) for name in _BOUND_FILTERS if getattr(params, name)}
    if "sha" in values:
        values["sha"] = params.sha.lower()
    if "username" in values:
        values["username"] = params.username.lower()
    filters = set(values) if "source" in values else {*values, "no_children"}
    if params.yaml_errors is not None:
        filters.add("with_errors" if params.yaml_errors else "without_errors")
    if params.scope in ("branches", "tags"):
        values["refs"] = _names(context, HEADS if params.scope == "branches" else TAGS)
        filters.add("refs")
    elif params.scope is not None:
        filters.add(params.scope)
    query = _pipelines(frozenset(filters), params.order_by, params.sort)
    return fetch_page(db, Pipeline, query, page, project=context.project.id, **values)


def find_latest_pipeline(db: Connection, context: RepositoryContext, params: GetLatestPipeline) -> Pipeline:
    """Return the newest pipeline of a branch's or tag's current commit; raise NotFound otherwise."""
    ref = params.ref or context.project.default_branch
    tip = branch_tip(context.repository, ref) or tag_tip(context.repository, ref)
    pipeline = newest_pipeline_or_none(db, context.project.id, tip, ref) if tip else None
    if pipeline is None:
        raise NotFound("Pipeline")
    return pipeline


def _names(context: RepositoryContext, folder: bytes) -> list[str]:
    return [decode_text(ref.name) for ref in sorted_refs(context.repository, folder, context.project.generation)]
