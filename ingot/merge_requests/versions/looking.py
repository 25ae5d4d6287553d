"""Asking git what a merge request brings, outside of transactions."""

from typing import NamedTuple

from ingot.git.bases import merge_base
from ingot.git.commits import Commit, branch_tip, read_commits
from ingot.git.diffs import EMPTY_TREE
from ingot.git.offered import bring_commit, commits_apart, count_between, count_files, keep_commits
from ingot.git.repository import Repository

MOST_READ = 100
"""Of so many commits the messages are looked at."""
MOST_ADDED = 50
MOST_KEPT = 5_000
"""Of so many commits it is known that a merge request has brought them."""


class Looked(NamedTuple):
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


def look(
    source: Repository | None, target: Repository, head_oid: str, target_branch: str, previous: str | None = None
) -> Looked:
    """What a head brings to a branch as it is now; from here on the target holds all of it.

    The source is missing where it is the target itself. ``previous`` is the head of the version before.
    """
    if source is not None:
        bring_commit(source, target, head_oid)
    start = branch_tip(target, target_branch)
    base = merge_base(target, [start, head_oid]) if start is not None else None
    keep_commits(target, [head_oid] if start in (None, base) else [head_oid, start])
    known = [] if start is None else [start]
    newest = commits_apart(target, head_oid, known, MOST_KEPT)
    count = len(newest) if len(newest) < MOST_KEPT else count_between(target, start, head_oid)
    # Mostly all that came is among the newest; after a force push little of it is.
    since = commits_apart(target, head_oid, [*known, previous], MOST_ADDED + 1) if previous and count else []
    return Looked(
        head_oid,
        base,
        start,
        count,
        count_files(target, base or EMPTY_TREE, head_oid),
        tuple(commit.message for commit in read_commits(target, newest[:MOST_READ])),
        tuple(read_commits(target, since[:MOST_ADDED])),
        len(since),
        tuple(newest),
    )
