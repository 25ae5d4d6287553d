"""Positions of notes in diffs: validation, and tracing into later versions."""

import hashlib
from functools import lru_cache
from typing import Literal

import msgspec

from ingot.collaboration.merge_requests.versions.inspection import VersionComparison
from ingot.git.core.repository import Repository
from ingot.git.diffs.diffs import Diff, FileDiff, diff_between
from ingot.git.diffs.line_maps import LineMap
from ingot.git.diffs.line_positions import line_position_or_none
from ingot.git.history.commits import decode_text


class RangeEnd(msgspec.Struct, frozen=True):
    """The first or last line of a range; ``type`` is ``new`` for an added line and ``old`` for a removed one."""

    line_code: str
    type: Literal["new", "old"] | None
    old_line: int | None
    new_line: int | None


class LineRange(msgspec.Struct, frozen=True):
    """The lines that a comment is about, if there are several; the position is that of the last one."""

    start: RangeEnd
    end: RangeEnd


class DiffPosition(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a diff: in the old file, in the new file, or in both if it is unchanged."""

    base_sha: str | None
    start_sha: str | None
    head_sha: str
    old_path: str
    new_path: str
    position_type: Literal["text", "image", "file"] = "text"
    old_line: int | None = None
    new_line: int | None = None
    line_range: LineRange | None = None


_decode = msgspec.json.Decoder(DiffPosition).decode


def position_of(document: str | None) -> DiffPosition | None:
    """Return the position that a row holds as JSON, or None."""
    return _decode(document) if document else None


def is_in_diff(repository: Repository, position: DiffPosition) -> bool:
    """Return whether the line of a position is part of its diff."""
    change = _change(_diff(repository, position.base_sha, position.head_sha), position.old_path, position.new_path)
    if change is None:
        return False
    if position.position_type != "text":
        return True
    return _has_line(_lines(change.diff), position.old_line, position.new_line)


def range_end_or_none(
    repository: Repository, position: DiffPosition, old_line: int | None, new_line: int | None
) -> RangeEnd | None:
    """Return a line of the position's file as the end of a range, or None if the diff does not have it."""
    change = _change(_diff(repository, position.base_sha, position.head_sha), position.old_path, position.new_path)
    if change is None or not _has_line(_lines(change.diff), old_line, new_line):
        return None
    if old_line is not None and new_line is not None:
        return RangeEnd(line_code(position.new_path, old_line, new_line), None, old_line, new_line)
    side: Literal["new", "old"] = "old" if new_line is None else "new"
    numbers = line_position_or_none(change.diff, new_line or old_line or 0, side) or (0, 0)
    return RangeEnd(line_code(position.new_path, *numbers), side, old_line, new_line)


def line_code(path: str, old: int, new: int) -> str:
    """Return the name of a line in the API: a digest of its path, and its place in the old and new file."""
    digest = hashlib.sha1(path.encode(errors="replace"), usedforsecurity=False).hexdigest()
    return f"{digest}_{old}_{new}"


def trace_position(
    repository: Repository, position: DiffPosition, comparison: VersionComparison
) -> DiffPosition | None:
    """Return the position of the same line in a later version, or None if it has changed or left the diff.

    A range is kept if its first line still exists as well.
    """
    if position.position_type != "text":
        return None
    traced = _trace_line(repository, position, comparison)
    if traced is None or position.line_range is None:
        return traced
    start = position.line_range.start
    first = msgspec.structs.replace(position, old_line=start.old_line, new_line=start.new_line)
    first_traced = _trace_line(repository, first, comparison)
    ends = [
        range_end_or_none(repository, traced, each.old_line, each.new_line) if each else None
        for each in (first_traced, traced)
    ]
    line_range = LineRange(ends[0], ends[1]) if ends[0] and ends[1] else None
    return msgspec.structs.replace(traced, line_range=line_range)


def _trace_line(repository: Repository, position: DiffPosition, comparison: VersionComparison) -> DiffPosition | None:
    return (
        _trace_new_line(repository, position, comparison)
        if position.new_line
        else _trace_old_line(repository, position, comparison)
    )


def _trace_new_line(
    repository: Repository, position: DiffPosition, comparison: VersionComparison
) -> DiffPosition | None:
    """Trace a line of the new file through the pushes since."""
    change_since = _change(_diff(repository, position.head_sha, comparison.head_oid), position.new_path, None)
    path, line = position.new_path, position.new_line
    if change_since is not None:
        if change_since.deleted_file or change_since.too_large or change_since.collapsed or line is None:
            return None
        path, line = decode_text(change_since.new_path), _lines(change_since.diff).forth(line)
    change = _change(_diff(repository, comparison.base_oid, comparison.head_oid), None, path)
    if change is None or line is None:
        return None
    lines = _lines(change.diff)
    old_line = lines.back(line)
    # An added line must still be added, and an unchanged line unchanged.
    if (old_line is None) != (position.old_line is None):
        return None
    return _moved(position, comparison, change, old_line, line)


def _trace_old_line(
    repository: Repository, position: DiffPosition, comparison: VersionComparison
) -> DiffPosition | None:
    """Trace a removed line, which is part of the file in the target."""
    line: int | None = position.old_line
    path = position.old_path
    if position.base_sha != comparison.base_oid:
        change_since = _change(_diff(repository, position.base_sha, comparison.base_oid), position.old_path, None)
        if change_since is not None:
            if change_since.deleted_file or change_since.too_large or change_since.collapsed or line is None:
                return None
            path, line = decode_text(change_since.new_path), _lines(change_since.diff).forth(line)
    change = _change(_diff(repository, comparison.base_oid, comparison.head_oid), path, None)
    if change is None or line is None or line not in _lines(change.diff).removed:
        return None
    return _moved(position, comparison, change, line, None)


def _moved(
    position: DiffPosition, comparison: VersionComparison, change: FileDiff, old: int | None, new: int | None
) -> DiffPosition:
    return msgspec.structs.replace(
        position,
        base_sha=comparison.base_oid,
        start_sha=comparison.start_oid,
        head_sha=comparison.head_oid,
        old_path=decode_text(change.old_path),
        new_path=decode_text(change.new_path),
        old_line=old,
        new_line=new,
    )


# A push traces many notes on the same file one after the other.
@lru_cache(4)
def _lines(patch: str) -> LineMap:
    return LineMap(patch)


def _has_line(lines: LineMap, old: int | None, new: int | None) -> bool:
    if old is not None and new is not None:
        return old > 0 and lines.forth(old) == new
    if new is not None:
        return new in lines.added
    return old in lines.removed


def _diff(repository: Repository, old: str | None, new: str | None) -> Diff:
    return Diff(()) if new is None or old == new else diff_between(repository, old, new)


def _change(diff: Diff, old_path: str | None, new_path: str | None) -> FileDiff | None:
    """Return the file of a diff with these paths; None matches any path."""
    for change in diff.changes:
        if old_path in (None, decode_text(change.old_path)) and new_path in (None, decode_text(change.new_path)):
            return change
    return None
