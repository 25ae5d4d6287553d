"""Queries of merge requests to merge, and of merges in progress."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.collaboration.issues.tables import ISSUE_COLUMNS, Issue, issues
from ingot.collaboration.merge_requests.queries import IS_OPEN
from ingot.collaboration.merge_requests.tables import (
    MERGE_REQUEST_COLUMNS,
    MergeRequest,
    PendingMerge,
    merge_request_closings,
    merge_request_merges,
    merge_requests,
)
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.git.writing.ref_updates import RefUpdate

_INTO = (
    merge_requests.c.target_project_id == bindparam("project"),
    in_list(merge_requests.c.target_branch, "branches"),
)
_EXPECTED_HEADS = select(
    merge_requests.c.target_branch,
    merge_requests.c.head_oid,
    merge_requests.c.source_project_id,
    merge_requests.c.source_branch,
).where(*_INTO, IS_OPEN)
_OPEN_WITH_HEADS = (
    select(*MERGE_REQUEST_COLUMNS)
    .where(
        merge_requests.c.target_project_id == bindparam("project"),
        merge_requests.c.target_branch == bindparam("branch"),
        in_list(merge_requests.c.head_oid, "heads"),
        IS_OPEN,
    )
    .order_by(merge_requests.c.id)
)
_PENDING_MERGES = (
    select(merge_request_merges)
    .join(merge_requests, merge_requests.c.id == merge_request_merges.c.merge_request_id)
    .where(
        merge_requests.c.target_project_id == bindparam("project"),
        in_list(merge_requests.c.target_branch, "branches"),
        in_list(merge_request_merges.c.new_oid, "oids"),
        merge_requests.c.deleted_at.is_(None),
    )
    .order_by(merge_request_merges.c.id)
)
_OPEN_FROM = (
    select(*MERGE_REQUEST_COLUMNS)
    .where(merge_requests.c.source_project_id == bindparam("project"), IS_OPEN)
    .order_by(merge_requests.c.id)
)
_AT = (
    select(*MERGE_REQUEST_COLUMNS)
    .where(
        (merge_requests.c.source_project_id == bindparam("project"))
        | ((merge_requests.c.target_project_id == bindparam("project")) & (merge_requests.c.id == bindparam("own"))),
        merge_requests.c.head_oid == bindparam("sha"),
        IS_OPEN,
    )
    .order_by(merge_requests.c.id)
)
_AUTO_MERGES_FROM = _OPEN_FROM.where(
    merge_requests.c.merge_when_pipeline_succeeds.is_(True), in_list(merge_requests.c.source_branch, "branches")
)
_SCHEDULED = select(*MERGE_REQUEST_COLUMNS).where(merge_requests.c.merge_when_pipeline_succeeds.is_(True), IS_OPEN)
_SCHEDULED_ONE = _SCHEDULED.where(merge_requests.c.id == bindparam("merge_request"))
_SCHEDULED_INTO = _SCHEDULED.where(merge_requests.c.target_project_id == bindparam("project")).order_by(
    merge_requests.c.id
)
_SCHEDULED_FROM = _OPEN_FROM.where(merge_requests.c.merge_when_pipeline_succeeds.is_(True))
_LEFTOVER_BRANCH = select(merge_request_merges).where(
    merge_request_merges.c.merge_request_id == bindparam("merge_request"),
    merge_request_merges.c.remove_source_branch.is_(True),
)
_OPEN_INTO = (
    select(*MERGE_REQUEST_COLUMNS)
    .where(
        merge_requests.c.target_project_id == bindparam("project"),
        merge_requests.c.target_branch == bindparam("branch"),
        IS_OPEN,
    )
    .order_by(merge_requests.c.id)
)
# A subquery instead of a join: the text and the commits of a merge request may close the same issue.
_CLOSES = (
    select(*ISSUE_COLUMNS)
    .where(
        issues.c.id.in_(
            select(merge_request_closings.c.issue_id).where(
                merge_request_closings.c.merge_request_id == bindparam("merge_request")
            )
        ),
        issues.c.deleted_at.is_(None),
        issues.c.state == "opened",
    )
    .order_by(issues.c.id)
)


class ExpectedHead(NamedTuple):
    """Head of an open merge request, with its source and target branch."""

    target_branch: str
    head_oid: str
    source_project_id: int | None
    source_branch: str


def expected_heads(db: Connection, project_id: int, branches: Collection[str]) -> list[ExpectedHead]:
    """Return the heads of the open merge requests into these branches."""
    return [ExpectedHead(*row) for row in db.rows(_EXPECTED_HEADS, project=project_id, branches=list(branches))]


def open_merge_requests_with_heads(
    db: Connection, project_id: int, branch: str, heads: Collection[str]
) -> list[MergeRequest]:
    """Return the open merge requests into a branch whose heads are among these commits."""
    return db.all(MergeRequest, _OPEN_WITH_HEADS, project=project_id, branch=branch, heads=sorted(heads))


def pending_merges_to(db: Connection, project_id: int, tips: Mapping[str, str]) -> list[PendingMerge]:
    """Return the merges in progress that move one of the branches to one of their new commits."""
    branches, oids = list(tips), sorted(set(tips.values()))
    return db.all(PendingMerge, _PENDING_MERGES, project=project_id, branches=branches, oids=oids)


def open_merge_requests_at(db: Connection, project_id: int, sha: str, own_id: int | None) -> list[MergeRequest]:
    """Return the open merge requests whose head is this commit and that have a pipeline of a project.

    These are those from the project, and the one whose ``own_id`` the pipeline has, which may be from a fork.
    """
    return db.all(MergeRequest, _AT, project=project_id, sha=sha, own=own_id or 0)


def merge_with_leftover_branch(db: Connection, merge_request_id: int) -> PendingMerge | None:
    """Return the completed merge whose source branch is still to be removed, or None."""
    return db.first(PendingMerge, _LEFTOVER_BRANCH, merge_request=merge_request_id)


def auto_merges_from(db: Connection, project_id: int, branches: Collection[str]) -> list[MergeRequest]:
    """Return the merge requests from branches of a project that are scheduled to merge when their pipeline succeeds."""
    return db.all(MergeRequest, _AUTO_MERGES_FROM, project=project_id, branches=list(branches))


def scheduled_merge_or_none(db: Connection, merge_request_id: int) -> MergeRequest | None:
    """Return a merge request if it is scheduled to merge or in a merge train, or None."""
    return db.first(MergeRequest, _SCHEDULED_ONE, merge_request=merge_request_id)


def scheduled_merges_into(db: Connection, project_id: int) -> list[MergeRequest]:
    """Return the merge requests of a project that are scheduled to merge or in a merge train."""
    return db.all(MergeRequest, _SCHEDULED_INTO, project=project_id)


def scheduled_merges_from(db: Connection, project_id: int) -> list[MergeRequest]:
    """Return the merge requests from branches of a project that are scheduled to merge or in a merge train."""
    return db.all(MergeRequest, _SCHEDULED_FROM, project=project_id)


def open_merge_requests_into(db: Connection, project_id: int, branch: str) -> list[MergeRequest]:
    """Return the open merge requests into a branch."""
    return db.all(MergeRequest, _OPEN_INTO, project=project_id, branch=branch)


def open_issues_to_close(db: Connection, merge_request: MergeRequest) -> list[Issue]:
    """Return the open issues that a merge request closes."""
    return db.all(Issue, _CLOSES, merge_request=merge_request.id)


def merge_request_heads(db: Connection, project_id: int, updates: tuple[RefUpdate, ...]) -> dict[str, set[str]]:
    """Return by target branch the heads of open merge requests, including heads that the same push moves."""
    new = {update.branch: update.new for update in updates if update.branch is not None}
    awaited: dict[str, set[str]] = {}
    for expected in expected_heads(db, project_id, list(new)):
        heads = awaited.setdefault(expected.target_branch, set())
        heads.add(expected.head_oid)
        if expected.source_project_id == project_id and expected.source_branch in new:
            heads.add(new[expected.source_branch])
    return awaited
