"""Line counts of small changes, in process: to start git takes longer than to compare a few small files."""

from typing import Any, NamedTuple

from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.diffs.tree_changes import EntryChange, few_changes_or_none

_MAX_FILES = 10
_MAX_BYTES = 64 * 1024
_FILE_MODES = (0o100644, 0o100755)
_BINARY_SEARCH_BYTES = 8_000
"""Git treats a file as binary if a null byte is among its first ones."""


class LineCounts(NamedTuple):
    """Numbers of added and deleted lines."""

    additions: int
    deletions: int


def small_change_stats(repository: Repository, old: str | None, new: str) -> LineCounts | None:
    """Count the changed lines between two commits; None if the change is large or may contain renames.

    ``old`` is None for the empty tree.
    """
    try:
        changes = few_changes_or_none(repository, old, new, _MAX_FILES)
        if changes is None or not _are_plain(changes):
            return None
        handle = open_repository(repository.path)
        counts = [_file_counts(handle, change) for change in changes]
    except (KeyError, pygit2_module().GitError):  # An object is missing or damaged, which git reports.
        return None
    if None in counts:
        return None
    known = [count for count in counts if count is not None]
    return LineCounts(sum(count.additions for count in known), sum(count.deletions for count in known))


def _are_plain(changes: list[EntryChange]) -> bool:
    """Return whether all are files, and none can be a rename, which needs an added and a deleted file."""
    entries = [entry for change in changes for entry in change if entry is not None]
    may_rename = any(change.old is None for change in changes) and any(change.new is None for change in changes)
    return not may_rename and all(entry.mode in _FILE_MODES for entry in entries)


def _file_counts(handle: Any, change: EntryChange) -> LineCounts | None:
    blobs: list[Any] = [None if entry is None else handle[entry.oid] for entry in change]
    if any(blob is not None and blob.size > _MAX_BYTES for blob in blobs):
        return None
    old, new = (b"" if blob is None else blob.data for blob in blobs)
    if old == new or any(b"\0" in content[:_BINARY_SEARCH_BYTES] for content in (old, new)):
        return LineCounts(0, 0)
    if not old or not new:
        return LineCounts(_lines(new), _lines(old))
    _, additions, deletions = blobs[0].diff(blobs[1]).line_stats
    return LineCounts(additions, deletions)


def _lines(content: bytes) -> int:
    return content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
