"""Texts of system notes that only merge requests have; clients parse them, so their form is part of the contract."""

from collections.abc import Sequence

from ingot.collaboration.merge_requests.versions.inspection import VersionComparison
from ingot.git.history.commits import Commit
from ingot.repositories.commits.views import truncated_title

_SHORT = 8


def commits_added(comparison: VersionComparison) -> str:
    """Return the text for a push; of very many commits it lists the newest."""
    count = comparison.added_count
    more = "" if count <= len(comparison.added) else f"{len(comparison.added)}+ "
    heading = f"added {more or f'{count} '}{'commit' if count == 1 else 'commits'}"
    return f"{heading}\n\n{_listed(comparison.added)}"


def _listed(commits: Sequence[Commit]) -> str:
    return "\n".join(f"* {commit.oid[:_SHORT]} - {truncated_title(commit)}" for commit in reversed(commits))


def reviewers_changed(added: Sequence[str], removed: Sequence[str]) -> str:
    """Return the text for changed reviewers."""
    parts = [
        f"{verb} {' and '.join(f'@{name}' for name in names)}"
        for verb, names in (("requested review from", added), ("removed review request for", removed))
        if names
    ]
    return " and ".join(parts)


def target_changed(before: str, after: str) -> str:
    """Return the text for a new target branch."""
    return f"changed target branch from `{before}` to `{after}`"


def draft_changed(draft: bool) -> str:
    """Return the text for a change of the draft status."""
    return "marked this merge request as **draft**" if draft else "marked this merge request as **ready**"


def auto_merge_aborted(reason: str, *, from_train: bool = False) -> str:
    """Return the text for a scheduled merge that was impossible; the reason is a sentence."""
    action = "removed this merge request from the merge train" if from_train else "aborted the automatic merge"
    return f"{action} because {reason[:1].lower()}{reason[1:].removesuffix('.')}"


def lock_changed(locked: bool) -> str:
    """Return the text for a locked or unlocked discussion."""
    return "locked this merge request" if locked else "unlocked this merge request"
