"""Queries of the layer below a merge request, whose commits are not its own."""

from sqlalchemy import bindparam, select, union_all

from ingot.collaboration.merge_requests.tables import (
    MergeRequest,
    Restack,
    merge_request_restacks,
    merge_request_versions,
    merge_requests,
)
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.projects.projects.tables import projects

_MAX_HEADS = 20
"""Number of the newest versions of the layer below whose commits are recognized."""
_COLLECTED = "collected"
_RESTACK = select(merge_request_restacks).where(merge_request_restacks.c.merge_request_id == bindparam("merge_request"))
_ABOVE = (
    select(merge_request_restacks)
    .where(merge_request_restacks.c.lower_id == bindparam("lower"))
    .order_by(merge_request_restacks.c.id)
)
_NEWEST_FROM = (
    select(merge_requests.c.state)
    .where(
        merge_requests.c.source_project_id == bindparam("project"),
        merge_requests.c.target_project_id == bindparam("project"),
        merge_requests.c.source_branch == bindparam("branch"),
        merge_requests.c.id != bindparam("merge_request"),
        merge_requests.c.deleted_at.is_(None),
    )
    .order_by((merge_requests.c.state == "opened").desc(), merge_requests.c.id.desc())
    .limit(1)
)
_lower_one = merge_requests.alias("lower_one")
_OPEN_BELOW = (
    select(merge_request_restacks.c.id)
    .join(_lower_one, _lower_one.c.id == merge_request_restacks.c.lower_id)
    .where(
        merge_request_restacks.c.merge_request_id == bindparam("merge_request"),
        merge_request_restacks.c.state == "train",
        _lower_one.c.state == "opened",
        _lower_one.c.deleted_at.is_(None),
    )
)
_OF_PAGE = select(merge_request_restacks).where(in_list(merge_request_restacks.c.merge_request_id, "ids"))
_default_branch = select(projects.c.default_branch).where(projects.c.id == bindparam("project")).scalar_subquery()
_lower = union_all(
    select(merge_request_restacks.c.lower_id.label("id")).where(
        merge_request_restacks.c.merge_request_id == bindparam("merge_request")
    ),
    select(merge_requests.c.id).where(
        merge_requests.c.source_project_id == bindparam("project"),
        merge_requests.c.target_project_id == bindparam("project"),
        merge_requests.c.source_branch == bindparam("branch"),
        merge_requests.c.source_branch != _default_branch,
        merge_requests.c.id != bindparam("merge_request"),
        merge_requests.c.state == "opened",
        merge_requests.c.deleted_at.is_(None),
    ),
).subquery("lower_layers")
_HEADS_BELOW = (
    select(merge_request_versions.c.head_oid)
    .join(_lower, _lower.c.id == merge_request_versions.c.merge_request_id)
    .where(merge_request_versions.c.state == _COLLECTED)
    .order_by(merge_request_versions.c.id.desc())
    .limit(_MAX_HEADS)
)


def heads_below(db: Connection, merge_request: MergeRequest) -> tuple[str, ...]:
    """Return the newest heads that the layer below a merge request has had; none if there is no such layer.

    What they contain are not changes of the merge request, even if the layer below has been rebased or squashed since.
    """
    rows = db.rows(
        _HEADS_BELOW,
        merge_request=merge_request.id,
        project=merge_request.target_project_id,
        branch=merge_request.target_branch,
    )
    return tuple(dict.fromkeys(row[0] for row in rows))


def state_of_layer_below(db: Connection, merge_request: MergeRequest) -> str | None:
    """Return the state of the newest merge request from the target branch, of an open one if there is one."""
    state: str | None = db.value(
        _NEWEST_FROM,
        project=merge_request.target_project_id,
        branch=merge_request.target_branch,
        merge_request=merge_request.id,
    )
    return state


def restack_or_none(db: Connection, merge_request_id: int) -> Restack | None:
    """Return what is known of rewritten commits in a merge request, or None if it has none."""
    return db.first(Restack, _RESTACK, merge_request=merge_request_id)


def follows_open_layer(db: Connection, merge_request_id: int) -> bool:
    """Return whether the target of a merge request is not the layer below only because both are in a merge train."""
    return bool(db.rows(_OPEN_BELOW, merge_request=merge_request_id))


def restacks_above(db: Connection, lower_id: int) -> list[Restack]:
    """Return the rows of the merge requests that were retargeted because of a layer below them."""
    return db.all(Restack, _ABOVE, lower=lower_id)


def restacks_of(db: Connection, merge_request_ids: list[int]) -> dict[int, Restack]:
    """Return the rows of these merge requests by their ids."""
    return {row.merge_request_id: row for row in db.all(Restack, _OF_PAGE, ids=merge_request_ids)}
