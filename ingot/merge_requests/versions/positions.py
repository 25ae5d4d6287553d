"""Lines of diffs that people talk about: whether they are there, and where they are in a later version."""

from functools import lru_cache
from typing import Literal

import msgspec

from ingot.git.commits import decoded
from ingot.git.diffs import Change, Diff, diff_between
from ingot.git.line_maps import LineMap
from ingot.git.repository import Repository
from ingot.merge_requests.versions.looking import Looked


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a diff: of the file before, after, or of both where it did not change."""

    base_sha: str | None
    start_sha: str | None
    head_sha: str
    old_path: str
    new_path: str
    position_type: Literal["text", "image", "file"] = "text"
    old_line: int | None = None
    new_line: int | None = None
    line_range: dict[str, object] | None = None


def is_placed(repository: Repository, position: Position) -> bool:
    """Whether the line that a position names is one of its diff."""
    change = _change(_diff(repository, position.base_sha, position.head_sha), position.old_path, position.new_path)
    if change is None:
        return False
    if position.position_type != "text":
        return True
    return _stands(_lines(change.diff), position.old_line, position.new_line)


def retrace(repository: Repository, position: Position, looked: Looked) -> Position | None:
    """The same line in a later version; nothing where it was changed, or is not part of the diff any more."""
    if position.position_type != "text":
        return None
    return (
        _retrace_new(repository, position, looked) if position.new_line else _retrace_old(repository, position, looked)
    )


def _retrace_new(repository: Repository, position: Position, looked: Looked) -> Position | None:
    """A line of the file as it is to be goes along with what was pushed since."""
    since = _change(_diff(repository, position.head_sha, looked.head_oid), position.new_path, None)
    path, line = position.new_path, position.new_line
    if since is not None:
        if since.deleted_file or since.too_large or since.collapsed or line is None:
            return None
        path, line = decoded(since.new_path), _lines(since.diff).forth(line)
    change = _change(_diff(repository, looked.base_oid, looked.head_oid), None, path)
    if change is None or line is None:
        return None
    lines = _lines(change.diff)
    old_line = lines.back(line)
    # What was added must be new still, and what was not, not.
    if (old_line is None) != (position.old_line is None):
        return None
    return _moved(position, looked, change, old_line, line)


def _retrace_old(repository: Repository, position: Position, looked: Looked) -> Position | None:
    """A line that is to go is one of the file as it is in the target."""
    line: int | None = position.old_line
    path = position.old_path
    if position.base_sha != looked.base_oid:
        since = _change(_diff(repository, position.base_sha, looked.base_oid), position.old_path, None)
        if since is not None:
            if since.deleted_file or since.too_large or since.collapsed or line is None:
                return None
            path, line = decoded(since.new_path), _lines(since.diff).forth(line)
    change = _change(_diff(repository, looked.base_oid, looked.head_oid), path, None)
    if change is None or line is None or line not in _lines(change.diff).removed:
        return None
    return _moved(position, looked, change, line, None)


def _moved(position: Position, looked: Looked, change: Change, old: int | None, new: int | None) -> Position:
    return msgspec.structs.replace(
        position,
        base_sha=looked.base_oid,
        start_sha=looked.start_oid,
        head_sha=looked.head_oid,
        old_path=decoded(change.old_path),
        new_path=decoded(change.new_path),
        old_line=old,
        new_line=new,
    )


# Most notes of a discussion, and many others, are on the same file.
@lru_cache(64)
def _lines(patch: str) -> LineMap:
    return LineMap(patch)


def _stands(lines: LineMap, old: int | None, new: int | None) -> bool:
    if old is not None and new is not None:
        return old > 0 and lines.forth(old) == new
    if new is not None:
        return new in lines.added
    return old in lines.removed


def _diff(repository: Repository, old: str | None, new: str | None) -> Diff:
    return Diff(()) if new is None or old == new else diff_between(repository, old, new)


def _change(diff: Diff, old_path: str | None, new_path: str | None) -> Change | None:
    """The file of a diff that had the one name and has the other, of those that are told."""
    for change in diff.changes:
        if old_path in (None, decoded(change.old_path)) and new_path in (None, decoded(change.new_path)):
            return change
    return None
