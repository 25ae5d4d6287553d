"""Mapping of line numbers between the two sides of a patch."""

import re
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class _Hunk(NamedTuple):
    old: int
    old_count: int
    new: int
    new_count: int


class LineMap:
    """Line numbers of a file before and after a patch; without a patch, all lines stay in place."""

    def __init__(self, patch: str) -> None:
        self._hunks: list[_Hunk] = []
        self._forth: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self.removed: set[int] = set()
        self.added: set[int] = set()
        old = new = 0
        for line in patch.split("\n"):
            header = _HUNK.match(line)
            if header is not None:
                hunk = _Hunk(int(header[1]), int(header[2] or 1), int(header[3]), int(header[4] or 1))
                self._hunks.append(hunk)
                # For a side without lines, git gives the number of the preceding line.
                old, new = hunk.old + (hunk.old_count == 0), hunk.new + (hunk.new_count == 0)
                continue
            if not self._hunks:  # The file names precede the first hunk.
                continue
            sign = line[:1]
            if sign == "-":
                self.removed.add(old)
                old += 1
            elif sign == "+":
                self.added.add(new)
                new += 1
            elif sign == " ":
                self._forth[old], self._back[new] = new, old
                old, new = old + 1, new + 1

    def forth(self, line: int) -> int | None:
        """Return the new number of an old line, or None if it was removed."""
        if line in self.removed:
            return None
        return self._forth.get(line) or line + self._shift(line, before=True)

    def back(self, line: int) -> int | None:
        """Return the old number of a new line, or None if it was added."""
        if line in self.added:
            return None
        return self._back.get(line) or line - self._shift(line, before=False)

    def _shift(self, line: int, *, before: bool) -> int:
        """Return by how many lines the hunks above a line have moved it."""
        shift = 0
        for hunk in self._hunks:
            first, count = (hunk.old, hunk.old_count) if before else (hunk.new, hunk.new_count)
            if first + (count or 1) > line:  # A side without lines follows the line that it names.
                break
            shift += hunk.new_count - hunk.old_count
        return shift
