"""Queries of versions, and of their commits and diffs."""

from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.collaboration.merge_requests.queries import latest_version
from ingot.collaboration.merge_requests.stacks.lower_layers import heads_below
from ingot.collaboration.merge_requests.stacks.own_commits import own_base
from ingot.collaboration.merge_requests.tables import DiffVersion, MergeRequest, merge_request_versions
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import Diff, DiffLimits, diff_between
from ingot.git.diffs.patches import patch_between
from ingot.git.history.commits import branch_tip, commit_or_none
from ingot.git.history.log import ALL_COMMITS, list_commits
from ingot.git.writing.merge_request_commits import commits_not_in

MAX_COMMITS = 5_000
"""Number of commits that are listed for a version, the newest first."""
_OF = select(merge_request_versions).where(
    merge_request_versions.c.merge_request_id == bindparam("merge_request"),
    merge_request_versions.c.state == "collected",
)
_LIST = list_query(_OF, merge_request_versions.c.id, merge_request_versions.c.id.desc())
_ONE = _OF.where(merge_request_versions.c.id == bindparam("version"))
_BY_HEAD = (
    _OF.where(merge_request_versions.c.head_oid == bindparam("head"))
    .order_by(merge_request_versions.c.id.desc())
    .limit(1)
)


class CommitRange(NamedTuple):
    """Commits of a version: from the tip of the target, and from the merge base, to the head."""

    start_oid: str | None
    base_oid: str | None
    head_oid: str


def list_versions(db: Connection, merge_request: MergeRequest, page: Page) -> Listing[DiffVersion]:
    """Return a page of the versions, the newest first."""
    return fetch_page(db, DiffVersion, _LIST, page, merge_request=merge_request.id)


def find_version(db: Connection, merge_request: MergeRequest, version_id: int) -> DiffVersion:
    """Return a version of a merge request; raise ``NotFound``."""
    version = db.first(DiffVersion, _ONE, merge_request=merge_request.id, version=version_id)
    if version is None:
        raise NotFound("Merge Request Diff")
    return version


def version_with_head(db: Connection, merge_request_id: int, head_oid: str) -> DiffVersion | None:
    """Return the newest version with this head, or None."""
    return db.first(DiffVersion, _BY_HEAD, merge_request=merge_request_id, head=head_oid)


def commit_range_of(version: DiffVersion) -> CommitRange:
    """Return the commit range of a version."""
    return CommitRange(version.start_oid, version.base_oid, version.head_oid)


def current_commit_range(db: Connection, repository: Repository, merge_request: MergeRequest) -> CommitRange:
    """Return the current commit range of an open merge request, or that of the last version of another one.

    While the commits of a push from a fork are still being fetched, the range is that of the version before.
    """
    version = latest_version(db, merge_request.id)
    if merge_request.state == "opened":
        tip = branch_tip(repository, merge_request.target_branch)
        head = merge_request.head_oid
        if version is not None and commit_or_none(repository, head) is None:
            head = version.head_oid
        if tip is not None:
            return CommitRange(tip, own_base(repository, head, tip, heads_below(db, merge_request)), head)
    if version is None:
        raise NotFound("Merge Request Diff")
    return commit_range_of(version)


def commits_in(repository: Repository, commit_range: CommitRange) -> list[str]:
    """Return the ids of the commits of a version, the newest first."""
    if commit_range.start_oid is None:
        return list_commits(repository, [commit_range.head_oid], ALL_COMMITS, 0, MAX_COMMITS)[0]
    excluded = [oid for oid in (commit_range.start_oid, commit_range.base_oid) if oid is not None]
    return commits_not_in(repository, commit_range.head_oid, excluded, MAX_COMMITS)


def diff_of(repository: Repository, commit_range: CommitRange, limits: DiffLimits) -> Diff:
    """Return the changes of a version."""
    if commit_range.base_oid == commit_range.head_oid:
        return Diff(())
    return diff_between(repository, commit_range.base_oid, commit_range.head_oid, limits)


def patch_of(repository: Repository, commit_range: CommitRange) -> bytes:
    """Return the changes of a version as one patch for ``git apply``."""
    if commit_range.base_oid == commit_range.head_oid:
        return b""
    return patch_between(repository, commit_range.base_oid, commit_range.head_oid)
