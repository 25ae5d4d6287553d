"""Where the lines of a file have gone in a patch."""

import re
from typing import NamedTuple

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class _Hunk(NamedTuple):
    old: int
    old_count: int
    new: int
    new_count: int


class LineMap:
    """The lines of a file before and after a patch; of a file that did not change, all stay where they are."""

    def __init__(self, patch: str) -> None:
        self._hunks: list[_Hunk] = []
        self._forth: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self.removed: set[int] = set()
        self.added: set[int] = set()
        old = new = 0
        for line in patch.split("\n"):
            begins = _HUNK.match(line)
            if begins is not None:
                hunk = _Hunk(int(begins[1]), int(begins[2] or 1), int(begins[3]), int(begins[4] or 1))
                self._hunks.append(hunk)
                # Of a side without lines, git names the one before.
                old, new = hunk.old + (hunk.old_count == 0), hunk.new + (hunk.new_count == 0)
                continue
            if not self._hunks:  # Above the first part are the names of the file.
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
        """Where a line of the file before is afterwards; nothing where it was removed."""
        if line in self.removed:
            return None
        return self._forth.get(line) or line + self._shift(line, before=True)

    def back(self, line: int) -> int | None:
        """Where a line of the file after the patch was before; nothing where it was added."""
        if line in self.added:
            return None
        return self._back.get(line) or line - self._shift(line, before=False)

    def _shift(self, line: int, *, before: bool) -> int:
        """By how many lines the parts above a line have moved it."""
        shift = 0
        for hunk in self._hunks:
            first, count = (hunk.old, hunk.old_count) if before else (hunk.new, hunk.new_count)
            if first + (count or 1) > line:  # A side without lines stands behind the one that it names.
                break
            shift += hunk.new_count - hunk.old_count
        return shift
