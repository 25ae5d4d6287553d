"""Trees as they are stored: what one holds, and which entry a path leads to."""

import os
import re
from array import array
from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

from ingot.cache import BoundedCache, declare_cache
from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.offload import require_blocking_allowed

if TYPE_CHECKING:
    import pygit2

FOLDER, LINK, SUBMODULE = 0o040000, 0o120000, 0o160000
_LARGE_BYTES = 64 * 1024
_NAME_AND_OID = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


class TreeEntry(NamedTuple):
    """What a tree has under a name: a file, a link, a folder, or a submodule, whose id is another repository's."""

    mode: int
    oid: str
    path: bytes
    """From the root, however deep it lies."""

    @property
    def name(self) -> bytes:
        """The last part of its path."""
        return self.path.rpartition(b"/")[2]


class ParsedTree(NamedTuple):
    """One tree as git wrote it, and where in it the entries of each kind begin; a name is read when it is needed."""

    raw: bytes
    folders: "array[int]"
    files: "array[int]"
    modules: "array[int]"

    def entry(self, place: int, above: bytes) -> TreeEntry:
        """The entry that begins at a place; ``above`` is the path of the tree."""
        found = _NAME_AND_OID.match(self.raw, place)
        if found is None:
            raise ValueError("No entry begins there")
        mode, name, oid = found.groups()
        return TreeEntry(int(mode, 8), oid.hex(), above + b"/" + name if above else name)

    def offsets_of_kind(self, kind: int) -> "array[int]":
        """Where the folders (0), files (1) or submodules (2) begin."""
        return (self.folders, self.files, self.modules)[kind]

    def folder_ids(self) -> list[str]:
        """The ids of the trees right below."""
        return [self.entry(place, b"").oid for place in self.folders]

    def named(self, name: bytes) -> TreeEntry | None:
        """The entry with this name, if there is one."""
        wanted = b" " + name + b"\0"
        found = self.raw.find(wanted)
        while found >= 0:
            # The same bytes may also stand in an id, so an entry must be known to begin before them.
            for begins in (found - 5, found - 6):
                if any(_contains(self.offsets_of_kind(kind), begins) for kind in range(3)):
                    entry = self.entry(begins, b"")
                    if entry.path == name:
                        return entry
            found = self.raw.find(wanted, found + 1)
        return None


_tree_cache: BoundedCache[str, ParsedTree] = declare_cache("trees", share=6)
_entry_cache: BoundedCache[tuple[str, bytes], TreeEntry] = declare_cache("tree-entries", share=2)


def read_tree(handle: "pygit2.Repository", oid: str) -> ParsedTree:
    """A tree by its id; a large one is not read while an event loop waits."""
    known = _tree_cache.get(oid)
    if known is not None:
        return known
    if handle.odb.read_header(oid)[1] > _LARGE_BYTES:
        require_blocking_allowed()
    raw: bytes = handle.odb.read(oid)[1]
    tree = ParsedTree(raw, array("L"), array("L"), array("L"))
    for found in _NAME_AND_OID.finditer(raw):
        mode = found[1]
        of_kind = tree.folders if mode.startswith(b"4") else tree.modules if mode.startswith(b"16") else tree.files
        of_kind.append(found.start())
    entries = len(tree.folders) + len(tree.files) + len(tree.modules)
    return _tree_cache.put(oid, tree, len(raw) + 10 * entries + 500)


def entry_or_none(repository: Repository, commit: str, path: bytes) -> TreeEntry | None:
    """What a commit has at a path; nothing where it has nothing there."""
    known = _entry_cache.get((commit, path))
    if known is not None:
        return known
    handle = open_repository(repository.path)
    found = entry_in_tree_or_none(handle, tree_id(handle, commit), path)
    return None if found is None else _entry_cache.put((commit, path), found, len(path) + 450)


def tree_id(handle: "pygit2.Repository", commit: str) -> str:
    """The root of a commit that is known to be there."""
    found: Any = handle[commit]
    return str(found.tree_id)


def entry_in_tree_or_none(handle: "pygit2.Repository", tree: str, path: bytes) -> TreeEntry | None:
    """The same from a tree on."""
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
            # The library would go through all of it at each question.
            return read_tree(handle, oid).named(name)
        tree: Any = handle[oid]
        found = tree / os.fsdecode(name)
    except KeyError:
        return None
    return TreeEntry(int(found.filemode), str(found.id), name)


def _contains(places: "array[int]", place: int) -> bool:
    at = bisect_left(places, place)
    return at < len(places) and places[at] == place
