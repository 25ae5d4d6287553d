"""The sentences below a merge request that say what became of it, where they are not those below an issue."""

from collections.abc import Sequence

from ingot.collaboration.merge_requests.versions.inspection import VersionComparison
from ingot.git.history.commits import Commit
from ingot.repositories.commits.views import truncated_title

_SHORT = 8


def commits_added(comparison: VersionComparison) -> str:
    """What a push brought; of very many commits the newest are named."""
    count = comparison.added_count
    more = "" if count <= len(comparison.added) else f"{len(comparison.added)}+ "
    heading = f"added {more or f'{count} '}{'commit' if count == 1 else 'commits'}"
    return f"{heading}\n\n{_listed(comparison.added)}"


def _listed(commits: Sequence[Commit]) -> str:
    return "\n".join(f"* {commit.oid[:_SHORT]} - {truncated_title(commit)}" for commit in reversed(commits))


def reviewers_changed(added: Sequence[str], removed: Sequence[str]) -> str:
    """Who is to look at it now, and who no more."""
    parts = [
        f"{verb} {' and '.join(f'@{name}' for name in names)}"
        for verb, names in (("requested review from", added), ("removed review request for", removed))
        if names
    ]
    return " and ".join(parts)


def target_changed(before: str, after: str) -> str:
    """Into which branch it would be merged."""
    return f"changed target branch from `{before}` to `{after}`"


def draft_changed(draft: bool) -> str:
    """Whether it is to be merged at all yet."""
    return "marked this merge request as **draft**" if draft else "marked this merge request as **ready**"


def lock_changed(locked: bool) -> str:
    """Who may talk about it."""
    return "locked this merge request" if locked else "unlocked this merge request"
