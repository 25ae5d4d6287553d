"""Changed files between two trees, counted and listed in process with bounded work.

Git lists all changes before it writes the first one, so a commit with ten billion files, which a few small objects can
describe, would exhaust its memory. Each distinct pair of folders is compared once to count them.
"""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ingot.core.offload import raise_if_cancelled, require_blocking_allowed
from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.trees.entries import FOLDER, TreeEntry, read_tree, tree_id

if TYPE_CHECKING:
    import pygit2

MAX_CHANGES = 200_000
"""Maximum number of changed files and folders that git is asked to compare; the first version of Linux has 90,000."""
_MAX_COUNTED_FOLDERS = 50_000
_MAX_LISTED_FOLDERS = 10_000
_MAX_FEW_FOLDERS = 100
_MAX_TREE_BYTES = 64 * 2**20
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""git provides it in every repository."""

_TreePair = tuple[str | None, str | None]


class EntryChange(NamedTuple):
    """An entry that two trees do not have in common; None where it does not exist."""

    old: TreeEntry | None
    new: TreeEntry | None

    @property
    def is_folder(self) -> bool:
        """Return whether it is a folder; a file that becomes a folder is two changes."""
        entry = self.new or self.old
        return entry is not None and entry.mode == FOLDER

    @property
    def trees(self) -> _TreePair:
        """Return the ids of both sides."""
        return self.old and self.old.oid, self.new and self.new.oid


class _WorkExceeded(Exception):
    """The comparison would read more folders than it may."""


def has_too_many_changes(repository: Repository, old: str | None, new: str) -> bool:
    """Return whether two commits differ in more files and folders than git may compare; None is the empty tree."""
    require_blocking_allowed()
    comparison = _TreeComparison(open_repository(repository.path), _MAX_COUNTED_FOLDERS)
    try:
        return comparison.count(*comparison.roots(old, new)) > MAX_CHANGES
    except _WorkExceeded:
        return True
    except (KeyError, pygit2_module().GitError):
        return False  # An object is missing or damaged, which git reports.


def list_first_changes(repository: Repository, old: str | None, new: str, limit: int) -> list[EntryChange]:
    """List the first changed files between two commits in git's order, without renames; None is the empty tree."""
    require_blocking_allowed()
    comparison = _TreeComparison(open_repository(repository.path), _MAX_LISTED_FOLDERS)
    changes: list[EntryChange] = []
    try:
        for change in comparison.walk(*comparison.roots(old, new)):
            if len(changes) == limit:
                break
            changes.append(change)
    except _WorkExceeded:
        pass
    return changes


def few_changes_or_none(repository: Repository, old: str | None, new: str, limit: int) -> list[EntryChange] | None:
    """List all changed files between two commits, without renames; None if there are more than ``limit``."""
    require_blocking_allowed()
    comparison = _TreeComparison(open_repository(repository.path), _MAX_FEW_FOLDERS)
    try:
        changes = list(islice(comparison.walk(*comparison.roots(old, new)), limit + 1))
    except _WorkExceeded:
        return None
    return changes if len(changes) <= limit else None


class _TreeComparison:
    """Comparison of two trees that stops at a number of folders and of bytes."""

    def __init__(self, handle: "pygit2.Repository", max_folders: int) -> None:
        self._handle = handle
        self._folders_left = max_folders
        self._bytes = 0

    def roots(self, old: str | None, new: str) -> _TreePair:
        """Return the root trees of two commits, or None for the empty tree."""
        return None if old in (None, EMPTY_TREE) else tree_id(self._handle, str(old)), tree_id(self._handle, new)

    def count(self, old: str | None, new: str | None) -> int:
        """Count the changed files and folders; not recursive, since a pushed tree may be deeper than our stack."""
        counts: dict[_TreePair, int] = {}
        inner: dict[_TreePair, tuple[int, list[_TreePair]]] = {}
        counted = 0
        waiting: list[_TreePair] = [(old, new)]
        while waiting and counted <= MAX_CHANGES:
            pair = waiting[-1]
            if pair in counts:
                waiting.pop()
                continue
            if pair not in inner:
                changes = self._changes(pair, b"")
                inner[pair] = len(changes), [change.trees for change in changes if change.is_folder]
                counted += len(changes)
            own, below = inner[pair]
            pending = {each for each in below if each not in counts}
            if pending:
                waiting.extend(pending)
            else:
                counts[pair] = own + sum(counts[each] for each in below)
                waiting.pop()
        return max(counted, counts.get((old, new), 0))

    def walk(self, old: str | None, new: str | None) -> Iterator[EntryChange]:
        """Yield the changed files and submodules in git's order."""
        levels = [iter(self._changes((old, new), b""))]
        while levels:
            change = next(levels[-1], None)
            if change is None:
                levels.pop()
            elif change.is_folder:
                entry = change.new or change.old
                levels.append(iter(self._changes(change.trees, entry.path if entry is not None else b"")))
            else:
                yield change

    def _changes(self, pair: _TreePair, path: bytes) -> list[EntryChange]:
        """Return the entries that differ between two trees at a path, sorted as git sorts them."""
        raise_if_cancelled()
        self._folders_left -= 1
        if self._folders_left < 0:
            raise _WorkExceeded
        before, after = (self._entries(oid) for oid in pair)
        sides: dict[bytes, list[TreeEntry | None]] = {}
        for side, entries in enumerate((before - after, after - before)):
            for mode, name, oid in entries:
                entry = TreeEntry(int(mode, 8), oid.hex(), path + b"/" + name if path else name)
                sides.setdefault(name + b"/" if entry.mode == FOLDER else name, [None, None])[side] = entry
        # A deep tree has long paths.
        self._bytes += len(path) * len(sides)
        # Modes with leading zeros make different trees of equal entries.
        return [EntryChange(old, new) for _, (old, new) in sorted(sides.items()) if old != new]

    def _entries(self, oid: str | None) -> set[tuple[bytes, bytes, bytes]]:
        if oid is None:
            return set()
        tree = read_tree(self._handle, oid)
        self._bytes += len(tree.raw)
        if self._bytes > _MAX_TREE_BYTES:
            raise _WorkExceeded
        return tree.raw_entries()
