"""Asking git what a merge request brings, outside of transactions."""

from typing import NamedTuple

from ingot.git.bases import merge_base
from ingot.git.commits import branch_tip
from ingot.git.diffs import EMPTY_TREE
from ingot.git.offered import bring_commit, count_between, count_files, keep_commits
from ingot.git.repository import Repository


class Looked(NamedTuple):
    """Between which commits something lies, and how much it is."""

    head_oid: str
    base_oid: str | None
    """Where it parted from the target; nothing where they have nothing in common."""
    start_oid: str | None
    """Where the target was; nothing where it was not there."""
    commits_count: int
    files_count: str


def look(source: Repository | None, target: Repository, head_oid: str, target_branch: str) -> Looked:
    """What a head brings to a branch as it is now; from here on the target holds all of it.

    The source is missing where it is the target itself.
    """
    if source is not None:
        bring_commit(source, target, head_oid)
    start = branch_tip(target, target_branch)
    base = merge_base(target, [start, head_oid]) if start is not None else None
    keep_commits(target, [head_oid] if start in (None, base) else [head_oid, start])
    return Looked(
        head_oid,
        base,
        start,
        count_between(target, start, head_oid),
        count_files(target, base or EMPTY_TREE, head_oid),
    )
