"""Editable tree: folders are read on first access, and unchanged subtrees are reused."""

import re
from typing import TYPE_CHECKING, NamedTuple, Union

from ingot.git.core.library import open_repository
from ingot.git.core.repository import Repository
from ingot.git.writing.new_objects import NewObjects

if TYPE_CHECKING:
    import pygit2

FOLDER, FILE, EXECUTABLE, LINK, SUBMODULE = b"40000", b"100644", b"100755", b"120000", b"160000"
_ENTRY = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)


class TreeLeaf(NamedTuple):
    """Raw entry of a tree; a folder that has not been read yet is one too."""

    mode: bytes
    oid: str

    @property
    def is_folder(self) -> bool:
        """Return whether this is a folder."""
        return self.mode.lstrip(b"0") == FOLDER


Folder = dict[bytes, Union[TreeLeaf, "Folder"]]


class PathConflict(Exception):
    """A parent of the path is a file, a symbolic link or a submodule."""


class TreeBuilder:
    """Tree of a commit under construction; ``finish`` creates the objects."""

    def __init__(self, repository: Repository, tree: str | None) -> None:
        self._handle = open_repository(repository.path)
        self._root = _read_folder(self._handle, tree) if tree else {}

    def find(self, path: bytes) -> TreeLeaf | None:
        """Return the entry at a path, or None if it or one of its parents does not exist."""
        *above, name = path.split(b"/")
        folder = self._go(above)
        entry = folder.get(name) if folder is not None else None
        return TreeLeaf(FOLDER, "") if isinstance(entry, dict) else entry

    def put(self, path: bytes, leaf: TreeLeaf) -> None:
        """Put an entry at a path and create its parent folders; raise ``PathConflict`` if a parent is not a folder."""
        *above, name = path.split(b"/")
        folder = self._root
        for part in above:
            inner = self._enter(folder, part)
            if inner is None and part in folder:
                raise PathConflict
            if inner is None:
                inner = folder[part] = {}
            folder = inner
        folder[name] = leaf

    def remove(self, path: bytes) -> None:
        """Remove the entry at a path, and all folders that become empty."""
        parts = path.split(b"/")
        folders: list[Folder] = [self._root]
        for part in parts[:-1]:
            inner = self._enter(folders[-1], part)
            if inner is None:
                return
            folders.append(inner)
        for folder, part in zip(reversed(folders), reversed(parts), strict=True):
            folder.pop(part, None)
            if folder:
                break

    def finish(self, objects: NewObjects) -> str:
        """Create the tree objects; return the id of the root."""
        # Not recursive: a path may be deeper than our stack.
        folders = [self._root]
        for folder in folders:
            folders += [inner for inner in folder.values() if isinstance(inner, dict)]
        ids: dict[int, str] = {}
        for folder in reversed(folders):
            ids[id(folder)] = objects.add("tree", _write_folder(folder, ids))
        return ids[id(self._root)]

    def _go(self, parts: list[bytes]) -> Folder | None:
        folder: Folder | None = self._root
        for part in parts:
            if folder is None:
                return None
            folder = self._enter(folder, part)
        return folder

    def _enter(self, folder: Folder, name: bytes) -> Folder | None:
        entry = folder.get(name)
        if isinstance(entry, dict):
            return entry
        if entry is None or not entry.is_folder:
            return None
        inner = folder[name] = _read_folder(self._handle, entry.oid)
        return inner


def _read_folder(handle: "pygit2.Repository", tree: str) -> Folder:
    raw: bytes = handle.odb.read(tree)[1]
    return {name: TreeLeaf(mode, oid.hex()) for mode, name, oid in _ENTRY.findall(raw)}


def _write_folder(folder: Folder, ids: dict[int, str]) -> bytes:
    entries = []
    for name, inner in folder.items():
        leaf = TreeLeaf(FOLDER, ids[id(inner)]) if isinstance(inner, dict) else inner
        # git sorts folders as if their names ended with a slash.
        key = name + b"/" if leaf.is_folder else name
        entries.append((key, leaf.mode + b" " + name + b"\0" + bytes.fromhex(leaf.oid)))
    return b"".join(entry for _, entry in sorted(entries))
