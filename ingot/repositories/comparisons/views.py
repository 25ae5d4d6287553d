"""Response structs of comparisons."""

from ingot.core.api.views import View
from ingot.git.history.contributors import Contributor
from ingot.repositories.commits.views import CommitView, DiffView, commit_view, diff_view
from ingot.repositories.comparisons.queries import Comparison


class ComparisonView(View):
    """Commits and diffs between two refs."""

    commit: CommitView | None
    commits: list[CommitView]
    diffs: list[DiffView]
    compare_timeout: bool
    compare_same_ref: bool
    web_url: str


class ContributorView(View):
    """Author of commits; lines are not counted."""

    name: str
    email: str
    commits: int
    additions: int = 0
    deletions: int = 0


def comparison_view(comparison: Comparison, project_url: str, *, straight: bool) -> ComparisonView:
    """Return the view of a comparison; ``commit`` is the newest commit."""
    commits = [commit_view(commit, project_url) for commit in comparison.commits]
    return ComparisonView(
        commit=commits[-1] if commits else None,
        commits=commits,
        diffs=[diff_view(change) for change in comparison.diff.changes],
        compare_timeout=comparison.diff.overflow or comparison.more_commits,
        compare_same_ref=comparison.old == comparison.new,
        web_url=f"{project_url}/-/compare/{comparison.old}{'..' if straight else '...'}{comparison.new}",
    )


def contributor_view(contributor: Contributor) -> ContributorView:
    """Return the view of a contributor."""
    return ContributorView(contributor.name, contributor.email, contributor.commits)
