"""Listing trees: folders first, then files, then submodules, each in git's order; any page costs about the same.

A recursive list is counted once, by distinct trees: one that repeats itself a million times over is cheap too.
"""

from bisect import bisect_left
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.trees.entries import FOLDER, ParsedTree, TreeEntry, entry_or_none, read_tree, tree_id
from ingot.offload import require_blocking_allowed

if TYPE_CHECKING:
    import pygit2

MAX_FOLDERS = 200_000
_SLOW_FOLDER_COUNT = 2_000
_KINDS = range(3)
_FOLDERS = 0
_ENTRY_BYTES = 300


class TooManyFolders(Exception):
    """A recursive list would have to look into more distinct folders than anybody could want to page through."""


class TreePage(NamedTuple):
    """A part of a list, and how long the whole of it is."""

    entries: list[TreeEntry]
    total: int


SubtreeTotals = dict[str, tuple[int, int, int]]
"""How many folders, files and submodules there are anywhere below each tree."""
_total_cache: BoundedCache[str, SubtreeTotals] = declare_cache("tree-totals", share=4)


def list_tree(
    repository: Repository, commit: str, path: bytes, start: int, size: int, *, recursive: bool = False
) -> TreePage | None:
    """Entries of the folder that a commit has at a path (empty for the root); nothing where it has no folder there."""
    handle = open_repository(repository.path)
    if path:
        found = entry_or_none(repository, commit, path)
        if found is None or found.mode != FOLDER:
            return None
        root = found.oid
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
        places = tree.offsets_of_kind(kind)
        first = max(start - total, 0)
        entries += [tree.entry(place, path) for place in places[first : first + size - len(entries)]]
        total += len(places)
    return TreePage(entries, total)


def _list_recursive(handle: "pygit2.Repository", root: str, path: bytes, start: int, size: int) -> TreePage:
    sums = _subtree_totals(handle, root)
    if sums[root][_FOLDERS] > _SLOW_FOLDER_COUNT:
        require_blocking_allowed()
    entries: list[TreeEntry] = []
    total = 0
    for kind in _KINDS:
        amount = sums[root][kind]
        skipped = max(start - total, 0)
        if skipped < amount and len(entries) < size:
            entries += islice(_walk_entries(handle, sums, kind, root, path, skipped), size - len(entries))
        total += amount
    return TreePage(entries, total)


def _subtree_totals(handle: "pygit2.Repository", root: str) -> SubtreeTotals:
    known = _total_cache.get(root)
    if known is not None:
        return known
    require_blocking_allowed()
    done: SubtreeTotals = {}
    waiting = [root]
    while waiting:
        oid = waiting[-1]
        if oid in done:
            waiting.pop()
            continue
        tree = read_tree(handle, oid)
        below = tree.folder_ids()
        unknown = {each for each in below if each not in done}
        if unknown:
            waiting.extend(unknown)
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


class _WalkLevel:
    """Where a walk is within one tree: the next folder to go into, and the next entry of its own to show."""

    __slots__ = ("folder", "name", "own", "tree")

    def __init__(self, tree: ParsedTree, name: bytes) -> None:
        self.tree = tree
        self.name = name
        self.folder = 0
        self.own = 0


def _walk_entries(
    handle: "pygit2.Repository", sums: SubtreeTotals, kind: int, root: str, path: bytes, skipped: int
) -> Iterator[TreeEntry]:
    """All entries of a kind, each folder before what is in it; what is skipped is passed over by its sums.

    Not by recursion: a pushed tree may be deeper than our stack.
    """
    levels = [_WalkLevel(read_tree(handle, root), path)]
    while levels:
        level = levels[-1]
        folders = level.tree.folders
        above = b"/".join(each.name for each in levels if each.name)
        if kind != _FOLDERS:
            own = level.tree.offsets_of_kind(kind)
            until = bisect_left(own, folders[level.folder]) if level.folder < len(folders) else len(own)
            passed = min(skipped, until - level.own)
            skipped -= passed
            for place in own[level.own + passed : until]:
                yield level.tree.entry(place, above)
            level.own = until
        if level.folder == len(folders):
            levels.pop()
            continue
        found = level.tree.entry(folders[level.folder], above)
        level.folder += 1
        if kind == _FOLDERS and skipped:
            skipped -= 1
        elif kind == _FOLDERS:
            yield found
        inside = sums[found.oid][kind]
        if skipped >= inside:
            skipped -= inside
        else:
            levels.append(_WalkLevel(read_tree(handle, found.oid), found.name))
