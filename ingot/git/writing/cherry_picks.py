"""Doing again, or undoing, what a commit did, upon another one: a merge of three trees in memory."""

from typing import TYPE_CHECKING

from ingot.git.core.errors import DamagedRepository
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.history.commits import Commit, commit_or_none
from ingot.git.writing.new_objects import write_object

if TYPE_CHECKING:
    import pygit2


class PickConflict(Exception):
    """It does not go without a person: what it changed looks different by now."""


class EmptyPick(PickConflict):
    """There is nothing left to change."""


def picked_tree(repository: Repository, commit: Commit, onto: Commit) -> str:
    """The tree of ``onto`` with what ``commit`` changed; a merge counts by what it brought to its first parent."""
    return _write_merged(repository, _parent_tree(repository, commit), onto, commit.tree)


def reverted_tree(repository: Repository, commit: Commit, onto: Commit) -> str:
    """The tree of ``onto`` without what ``commit`` changed."""
    return _write_merged(repository, commit.tree, onto, _parent_tree(repository, commit))


def _parent_tree(repository: Repository, commit: Commit) -> str:
    """The tree that a commit began with: an empty one, for the first of a history."""
    if not commit.parents:
        return write_object(repository, "tree", b"")
    parent = commit_or_none(repository, commit.parents[0])
    if parent is None:
        raise DamagedRepository(f"A commit of {repository.path.name} is missing")
    return parent.tree


def _write_merged(repository: Repository, base: str, onto: Commit, other: str) -> str:
    handle = open_repository(repository.path)
    try:
        return _merge(handle, base, onto, other)
    except OSError:
        # As for any loose object: the folder may have been removed just before something was to be put into it.
        return _merge(handle, base, onto, other)


def _merge(handle: "pygit2.Repository", base: str, onto: Commit, other: str) -> str:
    index = handle.merge_trees(handle[base], handle[onto.tree], handle[other])  # type: ignore[arg-type] # They are trees.
    if index.conflicts is not None:
        raise PickConflict
    tree = str(index.write_tree(handle))
    if tree == onto.tree:
        raise EmptyPick
    return tree
