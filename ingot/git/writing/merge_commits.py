"""Merge commits, squashed commits and rebases.

These functions only create objects; the caller updates the branch.
"""

from collections.abc import Sequence

import msgspec

from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, Signature, read_commits
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.writing.cherry_picks import EmptyPick, PickConflict, picked_tree
from ingot.git.writing.commits import CommitMetadata, write_commit
from ingot.git.writing.merge_trees import MergeConflict, write_merged_tree

MAX_REBASED_COMMITS = 1_000
"""Rebasing more commits would take minutes; users can do that locally."""


class TooManyCommits(Exception):
    """The rebase has more than ``MAX_REBASED_COMMITS`` commits."""


class MergeResult(msgspec.Struct, frozen=True):
    """The commit for the target branch, and the squashed commit if there is one."""

    commit: str
    squashed: str | None = None


def merge_commit(repository: Repository, onto: str, head: str, metadata: CommitMetadata) -> MergeResult:
    """Create a merge commit of two branches; raise ``MergeConflict``."""
    return MergeResult(write_commit(repository, write_merged_tree(repository, onto, head), [onto, head], metadata))


def squash_merge(
    repository: Repository, onto: str, head: str, squashed: CommitMetadata, metadata: CommitMetadata
) -> MergeResult:
    """Create a merge commit whose second parent is one squashed commit at the merge base; raise ``MergeConflict``.

    The tree is that of merging the branch itself, so a squash only conflicts where a merge would.
    """
    tree = write_merged_tree(repository, onto, head)
    single = squash_commit(repository, onto, head, squashed)
    return MergeResult(write_commit(repository, tree, [onto, single], metadata), single)


def squash_commit(repository: Repository, onto: str, head: str, metadata: CommitMetadata) -> str:
    """Create one commit with all changes since the merge base; raise ``MergeConflict`` if there is none."""
    base = merge_base_or_none(repository, [onto, head])
    if base is None:
        raise MergeConflict
    (tip,) = read_commits(repository, [head])
    return write_commit(repository, tip.tree, [base], metadata)


def rebase_commits(
    repository: Repository, onto: str, head: str, committer: Signature, left_out: Sequence[str] = ()
) -> str:
    """Rebase the commits of ``head`` onto ``onto`` and return the new tip; raise ``MergeConflict``.

    Commits that are reachable from ``left_out`` are not copied, as by ``git rebase --onto``.

    Merges and commits that no longer change anything are skipped, as in git. If nothing remains, the tip is ``onto``
    itself.
    """
    tip = read_commits(repository, [onto])[0]
    for commit in _commits_to_rebase(repository, onto, head, left_out):
        try:
            tree = picked_tree(repository, commit, tip)
        except EmptyPick:
            continue
        except PickConflict:
            raise MergeConflict from None
        oid = write_commit(repository, tree, [tip.oid], CommitMetadata(commit.message, commit.author, committer))
        tip = read_commits(repository, [oid])[0]
    return tip.oid


def _commits_to_rebase(repository: Repository, onto: str, head: str, left_out: Sequence[str]) -> list[Commit]:
    """List the commits of ``head`` that ``onto`` and ``left_out`` lack, in the order of the rebase."""
    listed = run_git(
        [
            "rev-list",
            "--reverse",
            "--topo-order",
            "--no-merges",
            f"--max-count={MAX_REBASED_COMMITS + 1}",
            head,
            f"^{onto}",
            *(f"^{oid}" for oid in left_out),
        ],
        repository.path,
    )
    oids = listed.out.decode().split()
    if len(oids) > MAX_REBASED_COMMITS:
        raise TooManyCommits
    return read_commits(repository, oids)
