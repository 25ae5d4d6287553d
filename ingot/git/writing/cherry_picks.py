"""Cherry-picks and reverts by a three-way merge of trees in memory."""

from typing import TYPE_CHECKING

from ingot.git.core.errors import DamagedRepository
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, commit_or_none
from ingot.git.trees.depth import require_shallow_tree
from ingot.git.trees.totals import require_bounded_tree
from ingot.git.writing.new_objects import write_object

if TYPE_CHECKING:
    import pygit2


_MAX_ENTRIES = 500_000
"""Maximum number of files and folders of a tree that is merged in the memory of this process."""


class PickConflict(Exception):
    """The changes conflict with the target and cannot be applied automatically."""


class EmptyPick(PickConflict):
    """The target already contains the changes."""


def picked_tree(repository: Repository, commit: Commit, onto: Commit) -> str:
    """Return the tree of ``onto`` with the changes of ``commit``; a merge is compared with its first parent."""
    return _write_merged(repository, _parent_tree(repository, commit), onto, commit.tree)


def reverted_tree(repository: Repository, commit: Commit, onto: Commit) -> str:
    """Return the tree of ``onto`` without the changes of ``commit``."""
    return _write_merged(repository, commit.tree, onto, _parent_tree(repository, commit))


def _parent_tree(repository: Repository, commit: Commit) -> str:
    """Return the tree of the first parent, or an empty tree for a root commit."""
    if not commit.parents:
        return write_object(repository, "tree", b"")
    parent = commit_or_none(repository, commit.parents[0])
    if parent is None:
        raise DamagedRepository(f"A commit of {repository.path.name} is missing")
    return parent.tree


def _write_merged(repository: Repository, base: str, onto: Commit, other: str) -> str:
    # libgit2 writes trees recursively, and an overflow of its stack would end this process; so would a list of all
    # files if a few objects describe billions of them.
    for tree in (base, onto.tree, other):
        require_shallow_tree(repository, tree)
        require_bounded_tree(repository, tree, _MAX_ENTRIES)
    handle = open_repository(repository.path)
    try:
        return _merge(handle, base, onto, other)
    except OSError:
        # As for any loose object: housekeeping may have removed the folder just before the object was written.
        return _merge(handle, base, onto, other)


def _merge(handle: "pygit2.Repository", base: str, onto: Commit, other: str) -> str:
    index = handle.merge_trees(handle[base], handle[onto.tree], handle[other])  # type: ignore[arg-type] # They are trees.
    if index.conflicts is not None:
        raise PickConflict
    tree = str(index.write_tree(handle))
    if tree == onto.tree:
        raise EmptyPick
    return tree
