"""Numbers of folders, files and submodules below trees, counted by distinct trees.

A few small objects can describe a commit with ten billion files: ten folders that each contain the next one ten times.
Counting them this way is as fast as reading the objects once.
"""

from typing import TYPE_CHECKING

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import raise_if_cancelled, require_blocking_allowed
from ingot.git.core.errors import TreeTooLarge
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.trees.entries import ParsedTree, read_tree, tree_id

if TYPE_CHECKING:
    import pygit2

MAX_FOLDERS = 200_000
"""Maximum number of distinct folders that are read to count."""
MAX_ENTRIES = 1_000_000
"""Maximum number of files and folders of a commit that an archive, a search or a merge may process."""
_ENTRY_BYTES = 300

SubtreeTotals = dict[str, tuple[int, int, int]]
"""Numbers of folders, files and submodules anywhere below each tree."""
_total_cache: BoundedCache[str, SubtreeTotals] = declare_cache("tree-totals", share=3)


class TooManyFolders(Exception):
    """A count would have to read more distinct folders than ``MAX_FOLDERS``."""


def require_bounded_commit(repository: Repository, commit: str) -> None:
    """Raise ``TreeTooLarge`` if a commit has more than ``MAX_ENTRIES`` files and folders."""
    require_bounded_tree(repository, tree_id(open_repository(repository.path), commit))


def require_bounded_tree(repository: Repository, root: str, limit: int = MAX_ENTRIES) -> None:
    """Raise ``TreeTooLarge`` if there are more files and folders below a tree than the limit."""
    try:
        totals = subtree_totals(open_repository(repository.path), root)
    except TooManyFolders as error:
        raise TreeTooLarge("tree") from error
    if sum(totals[root]) > limit:
        raise TreeTooLarge("tree")


def subtree_totals(handle: "pygit2.Repository", root: str) -> SubtreeTotals:
    """Return the totals of a tree and of every tree below it; raise ``TooManyFolders``."""
    cached = _total_cache.get(root)
    if cached is not None:
        return cached
    require_blocking_allowed()
    done: SubtreeTotals = {}
    waiting = [root]
    while waiting:
        raise_if_cancelled()
        oid = waiting[-1]
        if oid in done:
            waiting.pop()
            continue
        tree = read_tree(handle, oid)
        below = tree.folder_ids()
        pending = {each for each in below if each not in done}
        if pending:
            waiting.extend(pending)
        else:
            done[oid] = _add_totals(tree, [done[each] for each in below])
            waiting.pop()
        if len(done) + len(waiting) > MAX_FOLDERS:
            raise TooManyFolders
    return _total_cache.put(root, done, 200 + _ENTRY_BYTES * len(done))


def _add_totals(tree: ParsedTree, below: list[tuple[int, int, int]]) -> tuple[int, int, int]:
    return (
        len(tree.folders) + sum(each[0] for each in below),
        len(tree.files) + sum(each[1] for each in below),
        len(tree.modules) + sum(each[2] for each in below),
    )
