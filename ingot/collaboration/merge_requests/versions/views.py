"""Response structs of versions and changes."""

from collections.abc import Sequence

from ingot.collaboration.merge_requests.tables import DiffVersion
from ingot.collaboration.merge_requests.views import MergeRequestDetailView
from ingot.core.api.views import View
from ingot.core.db.times import Timestamp
from ingot.git.diffs.diffs import Diff
from ingot.git.history.commits import Commit
from ingot.repositories.commits.views import CommitView, DiffView, commit_view, diff_view


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
