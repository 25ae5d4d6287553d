"""Tree listings: folders first, then files, then submodules, each in git's order. All pages cost about the same.

Recursive lists are counted by distinct trees, so a tree that repeats itself a million times is cheap too.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ingot.core.offload import require_blocking_allowed
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.trees.entries import FOLDER, ParsedTree, TreeEntry, entry_or_none, read_tree, tree_id
from ingot.git.trees.totals import SubtreeTotals, subtree_totals

if TYPE_CHECKING:
    import pygit2

_SLOW_FOLDER_COUNT = 2_000
_KINDS = range(3)
_FOLDERS = 0


class TreePage(NamedTuple):
    """A page of entries and the total number."""

    entries: list[TreeEntry]
    total: int


def list_tree(
    repository: Repository, commit: str, path: bytes, start: int, size: int, *, recursive: bool = False
) -> TreePage | None:
    """List the entries of a folder of a commit (empty path for the root), or return None if it does not exist."""
    handle = open_repository(repository.path)
    if path:
        entry = entry_or_none(repository, commit, path)
        if entry is None or entry.mode != FOLDER:
            return None
        root = entry.oid
    else:
        root = tree_id(handle, commit)
    return (
        _list_recursive(handle, root, path, start, size)
        if recursive
        else _list_children(handle, root, path, start, size)
    )


def _list_children(handle: "pygit2.Repository", root: str, path: bytes, start: int, size: int) -> TreePage:
    tree = read_tree(handle, root)
    entries: list[TreeEntry] = []
    total = 0
    for kind in _KINDS:
        offsets = tree.offsets_of_kind(kind)
        first = max(start - total, 0)
        entries += [tree.entry(offset, path) for offset in offsets[first : first + size - len(entries)]]
        total += len(offsets)
    return TreePage(entries, total)


def _list_recursive(handle: "pygit2.Repository", root: str, path: bytes, start: int, size: int) -> TreePage:
    totals = subtree_totals(handle, root)
    if totals[root][_FOLDERS] > _SLOW_FOLDER_COUNT:
        require_blocking_allowed()
    entries: list[TreeEntry] = []
    total = 0
    for kind in _KINDS:
        count = totals[root][kind]
        skipped = max(start - total, 0)
        if skipped < count and len(entries) < size:
            entries += islice(_walk_entries(handle, totals, kind, root, path, skipped), size - len(entries))
        total += count
    return TreePage(entries, total)


class _WalkLevel:
    """Position of a walk within one tree: the next folder to enter, and the next entry of the tree to yield."""

    __slots__ = ("folder", "name", "own", "tree")

    def __init__(self, tree: ParsedTree, name: bytes) -> None:
        self.tree = tree
        self.name = name
        self.folder = 0
        self.own = 0


def _walk_entries(
    handle: "pygit2.Repository", totals: SubtreeTotals, kind: int, root: str, path: bytes, skipped: int
) -> Iterator[TreeEntry]:
    """Yield all entries of a kind, each folder before its content; skipped parts are not read, only counted.

    Not recursive: a pushed tree may be deeper than our stack.
    """
    levels = [_WalkLevel(read_tree(handle, root), path)]
    while levels:
        level = levels[-1]
        folders = level.tree.folders
        if kind != _FOLDERS:
            offsets = level.tree.offsets_of_kind(kind)
            until = bisect_left(offsets, folders[level.folder]) if level.folder < len(folders) else len(offsets)
            passed = min(skipped, until - level.own)
            skipped -= passed
            own = offsets[level.own + passed : until]
            # The path is long if the tree is deep, so it is built only for the entries that are listed.
            above = _path_of(levels) if own else b""
            for offset in own:
                yield level.tree.entry(offset, above)
            level.own = until
        if level.folder == len(folders):
            levels.pop()
            continue
        folder = level.tree.entry(folders[level.folder], b"")
        level.folder += 1
        if kind == _FOLDERS and skipped:
            skipped -= 1
        elif kind == _FOLDERS:
            above = _path_of(levels)
            yield folder._replace(path=above + b"/" + folder.path) if above else folder
        below = totals[folder.oid][kind]
        if skipped >= below:
            skipped -= below
        else:
            levels.append(_WalkLevel(read_tree(handle, folder.oid), folder.name))


def _path_of(levels: list[_WalkLevel]) -> bytes:
    return b"/".join(level.name for level in levels if level.name)
