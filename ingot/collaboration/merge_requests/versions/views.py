"""Response structs of versions and changes."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ingot.collaboration.merge_requests.queries import latest_version
from ingot.collaboration.merge_requests.tables import DiffVersion, MergeRequest
from ingot.collaboration.merge_requests.versions.queries import (
    CommitRange,
    current_commit_range,
    diff_of,
    list_versions,
)
from ingot.collaboration.merge_requests.views import MergeRequestDetailView
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page
from ingot.core.db.times import Timestamp
from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import Diff, diff_between
from ingot.git.diffs.patches import PatchContent, read_diff, read_mails
from ingot.git.history.commits import Commit
from ingot.repositories.commits.views import CommitView, DiffView, commit_view, diff_view
from ingot.repositories.diff_limits import diff_limits


class ChangesView(MergeRequestDetailView, kw_only=True):
    """A merge request with its changes."""

    changes: list[DiffView]
    overflow: bool


class DiffVersionView(View):
    """A version of a merge request."""

    id: int
    head_commit_sha: str
    base_commit_sha: str | None
    start_commit_sha: str | None
    created_at: Timestamp
    merge_request_id: int
    state: str
    real_size: str
    patch_id_sha: str | None


class DiffVersionDetailView(DiffVersionView):
    """A version with its commits and changes."""

    commits: list[CommitView]
    diffs: list[DiffView]


def version_view(version: DiffVersion) -> DiffVersionView:
    """Build the view of a version."""
    return DiffVersionView(
        id=version.id,
        head_commit_sha=version.head_oid,
        base_commit_sha=version.base_oid,
        start_commit_sha=version.start_oid,
        created_at=version.created_at,
        merge_request_id=version.merge_request_id,
        state=version.state if version.commits_count else "empty",
        real_size=version.files_count or "0",
        patch_id_sha=version.patch_id,
    )


def version_detail_view(
    version: DiffVersion, commits: Sequence[Commit], diff: Diff, project_url: str
) -> DiffVersionDetailView:
    """Build the view of a version with its commits and changes."""
    view = version_view(version)
    return DiffVersionDetailView(
        **{name: getattr(view, name) for name in DiffVersionView.__struct_fields__},
        commits=[commit_view(commit, project_url) for commit in commits],
        diffs=diff_views(diff),
    )


def diff_views(diff: Diff) -> list[DiffView]:
    """Build the views of the changed files within the limits."""
    return [diff_view(change) for change in diff.changes]


def changes_view(view: MergeRequestDetailView, diff: Diff) -> ChangesView:
    """Build the view of a merge request with its changes."""
    fields = {name: getattr(view, name) for name in MergeRequestDetailView.__struct_fields__}
    return ChangesView(**fields, changes=diff_views(diff), overflow=diff.overflow)


class PushedVersion(NamedTuple):
    """A version of a merge request, as its pages name it."""

    id: int
    head_oid: str
    base_oid: str | None
    start_oid: str | None
    commits_count: int | None
    created_at: Timestamp


def _pushed(version: DiffVersion) -> PushedVersion:
    return PushedVersion(
        version.id,
        version.head_oid,
        version.base_oid,
        version.start_oid,
        version.commits_count,
        version.created_at,
    )


def pushed_versions(db: Connection, merge_request: MergeRequest, most: int) -> list[PushedVersion]:
    """Return the versions of a merge request, the newest first."""
    return [_pushed(version) for version in list_versions(db, merge_request, Page(1, most)).items]


def newest_version(db: Connection, merge_request_id: int) -> PushedVersion | None:
    """Return the newest version; there is none only in the moment after the merge request was opened."""
    version = latest_version(db, merge_request_id)
    return None if version is None else _pushed(version)


def version_diffs(
    db: Connection, repository: Repository, version: PushedVersion, since: PushedVersion | None = None
) -> list[DiffView]:
    """Return what a version changes, or what changed since another one."""
    limits = diff_limits(db)
    if since is None:
        return diff_views(
            diff_of(repository, CommitRange(version.start_oid, version.base_oid, version.head_oid), limits)
        )
    if since.head_oid == version.head_oid:
        return []
    return diff_views(diff_between(repository, since.head_oid, version.head_oid, limits))


def read_changes(
    db: Connection, repository: Repository, merge_request: MergeRequest, ending: Literal["patch", "diff"]
) -> PatchContent:
    """Return the current changes of a merge request as mails or as one diff."""
    span = current_commit_range(db, repository, merge_request)
    if ending == "patch":
        return read_mails(repository, span.start_oid, span.head_oid)
    return read_diff(repository, span.base_oid, span.head_oid)
