"""Comparison of a merge request's head with its target by git, outside of transactions."""

from collections.abc import Sequence
from typing import NamedTuple

from ingot.collaboration.merge_requests.stacks.own_commits import own_base
from ingot.git.core.repository import Repository
from ingot.git.diffs.patches import patch_id_or_none
from ingot.git.diffs.tree_changes import EMPTY_TREE
from ingot.git.history.commits import Commit, branch_tip, read_commits
from ingot.git.history.log import count_between
from ingot.git.writing.merge_request_commits import (
    commits_not_in,
    copy_commit,
    count_files,
)
from ingot.git.writing.pinned_commits import pin_commits

MAX_MESSAGES = 100
"""Number of commits whose messages are read."""
MAX_ADDED = 50
MAX_RECORDED_COMMITS = 5_000
"""Number of commits that are recorded as part of a merge request."""


class VersionComparison(NamedTuple):
    """Result of the comparison of a head with its target branch."""

    head_oid: str
    base_oid: str | None
    """The merge base with the target; None if there is none."""
    start_oid: str | None
    """The tip of the target; None if the branch does not exist."""
    commits_count: int
    files_count: str
    patch_id: str | None
    messages: tuple[str, ...] = ()
    """Messages of the newest commits."""
    added: tuple[Commit, ...] = ()
    """The newest commits since the preceding version, the newest first."""
    added_count: int = 0
    commits: tuple[str, ...] = ()
    """Ids of the newest commits, the newest first."""


def compare_with_target(
    source: Repository | None,
    target: Repository,
    head_oid: str,
    target_branch: str,
    previous: str | None = None,
    lower_heads: Sequence[str] = (),
) -> VersionComparison:
    """Compare a head with a branch, and fetch its commits into the target repository.

    ``source`` is None if it is the target itself. ``previous`` is the head of the preceding version, ``lower_heads``
    are those of the layer below in a stack, whose commits are left out.
    """
    if source is not None:
        copy_commit(source, target, head_oid)
    start = branch_tip(target, target_branch)
    base = own_base(target, head_oid, start, lower_heads) if start is not None else None
    pin_commits(target, [head_oid] if start in (None, base) else [head_oid, start])
    excluded = [] if start is None else [start, *lower_heads]
    newest = commits_not_in(target, head_oid, excluded, MAX_RECORDED_COMMITS)
    count = len(newest) if len(newest) < MAX_RECORDED_COMMITS else count_between(target, start, head_oid)
    # Usually all new commits are among the newest; after a force push few of them are.
    added = commits_not_in(target, head_oid, [*excluded, previous], MAX_ADDED + 1) if previous and count else []
    return VersionComparison(
        head_oid,
        base,
        start,
        count,
        count_files(target, base or EMPTY_TREE, head_oid),
        patch_id_or_none(target, base, head_oid),
        tuple(commit.message for commit in read_commits(target, newest[:MAX_MESSAGES])),
        tuple(read_commits(target, added[:MAX_ADDED])),
        len(added),
        tuple(newest),
    )
