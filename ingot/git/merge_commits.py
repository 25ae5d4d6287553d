"""Commits that bring one line of history to another: merges, squashed lines, and lines done again elsewhere.

All of this only makes objects; whoever wants a branch to have them moves it.
"""

import msgspec

from ingot.git.bases import merge_base
from ingot.git.command import run_git
from ingot.git.commits import Commit, Signature, read_commits
from ingot.git.merge_trees import CannotMerge, merged_tree
from ingot.git.picking import CannotPick, NothingToPick, picked_tree
from ingot.git.repository import Repository
from ingot.git.writing import Words, write_commit

MOST_REPLAYED = 1_000
"""Doing more commits again would take minutes; whoever has so many does it at home."""


class TooMany(Exception):
    """There are more commits than are done again here."""


class Merge(msgspec.Struct, frozen=True):
    """What was made for a merge: the commit for the branch to have, and the squashed one where there is one."""

    commit: str
    squashed: str | None = None


def merge_commit(repository: Repository, onto: str, head: str, words: Words) -> Merge:
    """Join two lines of history in a commit with both as its parents; raises ``CannotMerge``."""
    return Merge(write_commit(repository, merged_tree(repository, onto, head), [onto, head], words))


def squash_merge(repository: Repository, onto: str, head: str, squashed: Words, words: Words) -> Merge:
    """The same, where all that a line did is one commit that stands where it began.

    The tree of the merge is that of merging the line itself, so a squash never conflicts where a merge would not.
    """
    tree = merged_tree(repository, onto, head)
    single = squash_commit(repository, onto, head, squashed)
    return Merge(write_commit(repository, tree, [onto, single], words), single)


def squash_commit(repository: Repository, onto: str, head: str, words: Words) -> str:
    """One commit with all that a line of history did since it parted; raises ``CannotMerge`` where it never did."""
    base = merge_base(repository, [onto, head])
    if base is None:
        raise CannotMerge
    (tip,) = read_commits(repository, [head])
    return write_commit(repository, tip.tree, [base], words)


def rebased_commit(repository: Repository, onto: str, head: str, committer: Signature) -> str:
    """The tip of a line of history whose commits were done again, one by one, upon ``onto``; raises ``CannotMerge``.

    Merges in it are passed over, as git does, and so is what would change nothing any more. Where nothing is left,
    the tip is ``onto`` itself.
    """
    tip = read_commits(repository, [onto])[0]
    for commit in _line(repository, onto, head):
        try:
            tree = picked_tree(repository, commit, tip)
        except NothingToPick:
            continue
        except CannotPick:
            raise CannotMerge from None
        oid = write_commit(repository, tree, [tip.oid], Words(commit.message, commit.author, committer))
        tip = read_commits(repository, [oid])[0]
    return tip.oid


def _line(repository: Repository, onto: str, head: str) -> list[Commit]:
    """The commits of ``head`` that ``onto`` lacks, in the order in which they are done again."""
    listed = run_git(
        ["rev-list", "--reverse", "--topo-order", "--no-merges", f"--max-count={MOST_REPLAYED + 1}", head, f"^{onto}"],
        repository.path,
    )
    oids = listed.out.decode().split()
    if len(oids) > MOST_REPLAYED:
        raise TooMany
    return read_commits(repository, oids)
