"""Commits that bring one line of history to another: merges, squashed lines, and lines done again elsewhere.

All of this only makes objects; whoever wants a branch to have them moves it.
"""

import msgspec

from ingot.git.core.command import run_git
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, Signature, read_commits
from ingot.git.history.merge_bases import merge_base_or_none
from ingot.git.writing.cherry_picks import EmptyPick, PickConflict, picked_tree
from ingot.git.writing.commits import CommitMetadata, write_commit
from ingot.git.writing.merge_trees import MergeConflict, write_merged_tree

MAX_REBASED_COMMITS = 1_000
"""Doing more commits again would take minutes; whoever has so many does it at home."""


class TooManyCommits(Exception):
    """There are more commits than are done again here."""


class MergeResult(msgspec.Struct, frozen=True):
    """What was made for a merge: the commit for the branch to have, and the squashed one where there is one."""

    commit: str
    squashed: str | None = None


def merge_commit(repository: Repository, onto: str, head: str, words: CommitMetadata) -> MergeResult:
    """Join two lines of history in a commit with both as its parents; raises ``MergeConflict``."""
    return MergeResult(write_commit(repository, write_merged_tree(repository, onto, head), [onto, head], words))


def squash_merge(
    repository: Repository, onto: str, head: str, squashed: CommitMetadata, words: CommitMetadata
) -> MergeResult:
    """The same, where all that a line did is one commit that stands where it began.

    The tree of the merge is that of merging the line itself, so a squash never conflicts where a merge would not.
    """
    tree = write_merged_tree(repository, onto, head)
    single = squash_commit(repository, onto, head, squashed)
    return MergeResult(write_commit(repository, tree, [onto, single], words), single)


def squash_commit(repository: Repository, onto: str, head: str, words: CommitMetadata) -> str:
    """One commit with all that a line of history did since it parted; raises ``MergeConflict`` where it never did."""
    base = merge_base_or_none(repository, [onto, head])
    if base is None:
        raise MergeConflict
    (tip,) = read_commits(repository, [head])
    return write_commit(repository, tip.tree, [base], words)


def rebase_commits(repository: Repository, onto: str, head: str, committer: Signature) -> str:
    """The tip of a line of history whose commits were done again, one by one, upon ``onto``; raises ``MergeConflict``.

    Merges in it are passed over, as git does, and so is what would change nothing any more. Where nothing is left,
    the tip is ``onto`` itself.
    """
    tip = read_commits(repository, [onto])[0]
    for commit in _commits_to_rebase(repository, onto, head):
        try:
            tree = picked_tree(repository, commit, tip)
        except EmptyPick:
            continue
        except PickConflict:
            raise MergeConflict from None
        oid = write_commit(repository, tree, [tip.oid], CommitMetadata(commit.message, commit.author, committer))
        tip = read_commits(repository, [oid])[0]
    return tip.oid


def _commits_to_rebase(repository: Repository, onto: str, head: str) -> list[Commit]:
    """The commits of ``head`` that ``onto`` lacks, in the order in which they are done again."""
    listed = run_git(
        [
            "rev-list",
            "--reverse",
            "--topo-order",
            "--no-merges",
            f"--max-count={MAX_REBASED_COMMITS + 1}",
            head,
            f"^{onto}",
        ],
        repository.path,
    )
    oids = listed.out.decode().split()
    if len(oids) > MAX_REBASED_COMMITS:
        raise TooManyCommits
    return read_commits(repository, oids)
