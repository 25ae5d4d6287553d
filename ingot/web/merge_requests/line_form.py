"""Form for a comment on lines of a diff: the line, the lines above it that may be included, and their text."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ingot.collaboration.merge_requests.versions.views import PushedVersion
from ingot.repositories.commits.views import DiffView
from ingot.web.code.patch_rows import DiffLine, parse_hunks

_MAX_LINES_ABOVE = 30

DiffLineKey = tuple[str, int | None, int | None]
"""Path of the file, and the old and new number of a line."""


class RangeStart(NamedTuple):
    """Line at which a comment on several lines may start."""

    value: str
    """Old and new number, as in the element id of the line."""
    label: str
    text: str


class LineForm(NamedTuple):
    """Comment form below a line."""

    position: dict[str, Any]
    """Position of the line in the format of the API."""
    name: str
    """Number of the line, as shown to the user."""
    starts: list[RangeStart]
    """The lines above in the same hunk, from the first to this one."""
    start: str
    """The selected start."""
    typed: str = ""

    @property
    def may_suggest(self) -> bool:
        """Return whether a change can be suggested: only lines of the new file can be replaced."""
        return "new_line" in self.position


def line_form(
    version: PushedVersion, items: Sequence[DiffView], line: DiffLineKey, start: str, typed: str = ""
) -> LineForm | None:
    """Return the form for a line, or None if the diff does not have it; ``start`` is the first line of a range."""
    path, old, new = line
    item = next((item for item in items if item.new_path == path), None)
    if item is None:
        return None
    position = {
        "base_sha": version.base_oid,
        "start_sha": version.start_oid,
        "head_sha": version.head_oid,
        "old_path": item.old_path,
        "new_path": path,
        "old_line": old,
        "new_line": new,
    }
    starts = [_range_start(above, new is not None) for above in _lines_above(item, old, new)]
    selected = start if any(each.value == start for each in starts) else f"{old or ''}_{new or ''}"
    position = {name: value for name, value in position.items() if value is not None}
    return LineForm(position, str(new or old), starts, selected, typed)


def _lines_above(item: DiffView, old: int | None, new: int | None) -> list[DiffLine]:
    for hunk in parse_hunks(item.diff, "").hunks:
        lines = [line for line in hunk.lines if line.sign != "\\"]
        for index, line in enumerate(lines):
            if line.key == (old, new):
                # A range within one side: it would otherwise name lines that a suggestion cannot replace.
                side = [above for above in lines[: index + 1] if (above.new if new is not None else above.old)]
                return side[-_MAX_LINES_ABOVE:]
    return []


def _range_start(line: DiffLine, in_new: bool) -> RangeStart:
    number = line.new if in_new else line.old
    return RangeStart(f"{line.old or ''}_{line.new or ''}", f"{number}: {line.text.strip()[:60]}", line.text)


def range_params(position: dict[str, Any], start: str) -> dict[str, Any]:
    """Return the position with a range from the start to its line, unless the range is that line alone."""
    old, _, new = start.partition("_")
    first = {name: value for name, value in (("old_line", old), ("new_line", new)) if value}
    last = {name: position[name] for name in ("old_line", "new_line") if name in position}
    if not first or {name: str(value) for name, value in last.items()} == first:
        return position
    return {**position, "line_range": {"start": first, "end": last}}
