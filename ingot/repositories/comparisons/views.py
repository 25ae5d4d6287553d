"""How comparisons are shown."""

from ingot.core.api.views import View
from ingot.git.history.contributors import Contributor
from ingot.repositories.commits.views import CommitView, DiffView, commit_view, diff_view
from ingot.repositories.comparisons.queries import Comparison


class ComparisonView(View):
    """What leads from one reference to another."""

    commit: CommitView | None
    commits: list[CommitView]
    diffs: list[DiffView]
    compare_timeout: bool
    compare_same_ref: bool
    web_url: str


class ContributorView(View):
    """Who wrote commits; lines are not counted."""

    name: str
    email: str
    commits: int
    additions: int = 0
    deletions: int = 0


def comparison_view(found: Comparison, project_url: str, *, straight: bool) -> ComparisonView:
    """What leads from one reference to another; the newest commit also stands by itself."""
    commits = [commit_view(commit, project_url) for commit in found.commits]
    return ComparisonView(
        commit=commits[-1] if commits else None,
        commits=commits,
        diffs=[diff_view(change) for change in found.diff.changes],
        compare_timeout=found.diff.overflow or found.more_commits,
        compare_same_ref=found.old == found.new,
        web_url=f"{project_url}/-/compare/{found.old}{'..' if straight else '...'}{found.new}",
    )


def contributor_view(contributor: Contributor) -> ContributorView:
    """One author."""
    return ContributorView(contributor.name, contributor.email, contributor.commits)
