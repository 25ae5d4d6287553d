"""Depth of trees, checked before operations that would overflow the stack of git or libgit2."""

from ingot.core.offload import require_blocking_allowed
from ingot.git.core.errors import TreesTooDeep
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.trees.entries import read_tree, tree_id

MAX_DEPTH = 2048
"""Limit of git itself in its newer versions; paths of this depth cannot be checked out on any system."""
_MAX_FOLDERS = 500_000
_INLINE_FOLDERS = 100


def require_shallow_commit(repository: Repository, commit: str) -> None:
    """Raise ``TreesTooDeep`` if the folders of a commit are nested too deeply."""
    require_shallow_tree(repository, tree_id(open_repository(repository.path), commit))


def require_shallow_tree(repository: Repository, root: str) -> None:
    """Raise ``TreesTooDeep`` if folders below a tree are nested more than ``MAX_DEPTH`` times.

    Each distinct folder is read once. Commits with more than half a million folders are not checked to the end.
    """
    handle = open_repository(repository.path)
    depths: dict[str, int] = {}
    levels = [(root, iter(read_tree(handle, root).folder_ids()))]
    while levels and len(depths) < _MAX_FOLDERS:
        if len(depths) > _INLINE_FOLDERS:
            require_blocking_allowed()
        oid, folders = levels[-1]
        depths.setdefault(oid, 0)
        below = next((each for each in folders if each not in depths), None)
        if below is not None:
            levels.append((below, iter(read_tree(handle, below).folder_ids())))
        else:
            levels.pop()
            depths[oid] = 1 + max((depths[each] for each in read_tree(handle, oid).folder_ids()), default=0)
        if len(levels) + depths[oid] > MAX_DEPTH:
            raise TreesTooDeep("tree")
