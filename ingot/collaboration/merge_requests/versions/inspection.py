"""Asking git what a merge request brings, outside of transactions."""

from typing import NamedTuple

from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import EMPTY_TREE
from ingot.git.history.commits import Commit, branch_tip, read_commits
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.writing.merge_request_commits import (
    commits_not_in,
    copy_commit,
    count_between,
    count_files,
    pin_commits,
)

MAX_MESSAGES = 100
"""Of so many commits the messages are looked at."""
MAX_ADDED = 50
MAX_RECORDED_COMMITS = 5_000
"""Of so many commits it is known that a merge request has brought them."""


class VersionComparison(NamedTuple):
    """Between which commits something lies, and how much it is."""

    head_oid: str
    base_oid: str | None
    """Where it parted from the target; nothing where they have nothing in common."""
    start_oid: str | None
    """Where the target was; nothing where it was not there."""
    commits_count: int
    files_count: str
    messages: tuple[str, ...] = ()
    """What its newest commits say."""
    added: tuple[Commit, ...] = ()
    """The newest of the commits that came since the version before, the newest first."""
    added_count: int = 0
    commits: tuple[str, ...] = ()
    """The ids of its newest commits, the newest first."""


def compare_with_target(
    source: Repository | None, target: Repository, head_oid: str, target_branch: str, previous: str | None = None
) -> VersionComparison:
    """What a head brings to a branch as it is now; from here on the target holds all of it.

    The source is missing where it is the target itself. ``previous`` is the head of the version before.
    """
    if source is not None:
        copy_commit(source, target, head_oid)
    start = branch_tip(target, target_branch)
    base = merge_base_or_none(target, [start, head_oid]) if start is not None else None
    pin_commits(target, [head_oid] if start in (None, base) else [head_oid, start])
    known = [] if start is None else [start]
    newest = commits_not_in(target, head_oid, known, MAX_RECORDED_COMMITS)
    count = len(newest) if len(newest) < MAX_RECORDED_COMMITS else count_between(target, start, head_oid)
    # Mostly all that came is among the newest; after a force push little of it is.
    since = commits_not_in(target, head_oid, [*known, previous], MAX_ADDED + 1) if previous and count else []
    return VersionComparison(
        head_oid,
        base,
        start,
        count,
        count_files(target, base or EMPTY_TREE, head_oid),
        tuple(commit.message for commit in read_commits(target, newest[:MAX_MESSAGES])),
        tuple(read_commits(target, since[:MAX_ADDED])),
        len(since),
        tuple(newest),
    )
