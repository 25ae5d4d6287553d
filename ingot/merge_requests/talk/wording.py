"""The sentences below a merge request that say what became of it, where they are not those below an issue."""

from collections.abc import Sequence

from ingot.git.commits import Commit
from ingot.merge_requests.versions.looking import Looked
from ingot.repository.commits.views import shown_title

_SHORT = 8


def commits_added(looked: Looked) -> str:
    """What a push brought; of very many commits the newest are named."""
    count = looked.added_count
    more = "" if count <= len(looked.added) else f"{len(looked.added)}+ "
    heading = f"added {more or f'{count} '}{'commit' if count == 1 else 'commits'}"
    return f"{heading}\n\n{_listed(looked.added)}"


def _listed(commits: Sequence[Commit]) -> str:
    return "\n".join(f"* {commit.oid[:_SHORT]} - {shown_title(commit)}" for commit in reversed(commits))


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
