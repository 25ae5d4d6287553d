"""Trees and their entries, with lookup by path."""

import os
import re
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository

if TYPE_CHECKING:
    import pygit2

FOLDER, LINK, SUBMODULE = 0o040000, 0o120000, 0o160000
_LARGE_BYTES = 64 * 1024
_NAME_AND_OID = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


class TreeEntry(NamedTuple):
    """An entry of a tree: a file, a symbolic link, a folder, or a submodule, whose id belongs to another repository."""

    mode: int
    oid: str
    path: bytes
    """Path from the root of the repository."""

    @property
    def name(self) -> bytes:
        """Return the last part of its path."""
        return self.path.rpartition(b"/")[2]


class ParsedTree(NamedTuple):
    """A raw tree with the offsets of its entries by kind; names are parsed on demand."""

    raw: bytes
    folders: "array[int]"
    files: "array[int]"
    modules: "array[int]"

    def entry(self, offset: int, above: bytes) -> TreeEntry:
        """Return the entry at an offset; ``above`` is the path of the tree."""
        match = _NAME_AND_OID.match(self.raw, offset)
        if match is None:
            raise ValueError("No entry begins there")
        mode, name, oid = match.groups()
        return TreeEntry(int(mode, 8), oid.hex(), above + b"/" + name if above else name)

    def offsets_of_kind(self, kind: int) -> "array[int]":
        """Return the offsets of the folders (0), files (1) or submodules (2)."""
        return (self.folders, self.files, self.modules)[kind]

    def folder_ids(self) -> list[str]:
        """Return the ids of the direct subtrees."""
        return [self.entry(offset, b"").oid for offset in self.folders]

    def raw_entries(self) -> set[tuple[bytes, bytes, bytes]]:
        """Return the mode, name and binary id of each entry."""
        return set(_NAME_AND_OID.findall(self.raw))

    def named(self, name: bytes) -> TreeEntry | None:
        """Return the entry with this name, or None."""
        pattern = b" " + name + b"\0"
        position = self.raw.find(pattern)
        while position >= 0:
            # These bytes may also occur within an id, so an entry must be known to begin before them.
            for offset in (position - 5, position - 6):
                if any(_contains(self.offsets_of_kind(kind), offset) for kind in range(3)):
                    entry = self.entry(offset, b"")
                    if entry.path == name:
                        return entry
            position = self.raw.find(pattern, position + 1)
        return None


_tree_cache: BoundedCache[str, ParsedTree] = declare_cache("trees", share=5)
_entry_cache: BoundedCache[tuple[str, bytes], TreeEntry] = declare_cache("tree-entries", share=2)


def read_tree(handle: "pygit2.Repository", oid: str) -> ParsedTree:
    """Return a tree by its id; a large one is not read on the event loop."""
    cached = _tree_cache.get(oid)
    if cached is not None:
        return cached
    if handle.odb.read_header(oid)[1] > _LARGE_BYTES:
        require_blocking_allowed()
    raw: bytes = handle.odb.read(oid)[1]
    tree = ParsedTree(raw, array("L"), array("L"), array("L"))
    for match in _NAME_AND_OID.finditer(raw):
        mode = match[1]
        of_kind = tree.folders if mode.startswith(b"4") else tree.modules if mode.startswith(b"16") else tree.files
        of_kind.append(match.start())
    entries = len(tree.folders) + len(tree.files) + len(tree.modules)
    return _tree_cache.put(oid, tree, len(raw) + 10 * entries + 500)


def entry_or_none(repository: Repository, commit: str, path: bytes) -> TreeEntry | None:
    """Return the entry at a path of a commit, or None."""
    cached = _entry_cache.get((commit, path))
    if cached is not None:
        return cached
    handle = open_repository(repository.path)
    entry = entry_in_tree_or_none(handle, tree_id(handle, commit), path)
    return None if entry is None else _entry_cache.put((commit, path), entry, len(path) + 450)


def tree_id(handle: "pygit2.Repository", commit: str) -> str:
    """Return the root tree of an existing commit."""
    obj: Any = handle[commit]
    return str(obj.tree_id)


def entry_in_tree_or_none(handle: "pygit2.Repository", tree: str, path: bytes) -> TreeEntry | None:
    """Return the entry at a path below a tree, or None."""
    entry: TreeEntry | None = None
    for name in path.split(b"/"):
        if entry is not None and entry.mode != FOLDER:
            return None
        entry = _child_entry(handle, tree if entry is None else entry.oid, name)
        if entry is None:
            return None
    return None if entry is None else entry._replace(path=path)


def _child_entry(handle: "pygit2.Repository", oid: str, name: bytes) -> TreeEntry | None:
    if not name or b"\0" in name:
        return None
    try:
        if handle.odb.read_header(oid)[1] > _LARGE_BYTES:
            # libgit2 would scan the whole tree for each name.
            return read_tree(handle, oid).named(name)
        tree: Any = handle[oid]
        entry = tree / os.fsdecode(name)
    except KeyError:
        return None
    return TreeEntry(int(entry.filemode), str(entry.id), name)


def _contains(offsets: "array[int]", offset: int) -> bool:
    index = bisect_left(offsets, offset)
    return index < len(offsets) and offsets[index] == offset
