"""Positions of file lines in a patch."""

import re
from typing import Literal

Side = Literal["new", "old"]
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def changes_line(patch: str, number: int, side: Side) -> bool:
    """Return whether a patch adds (``new``) or removes (``old``) the line with this number."""
    return line_position_or_none(patch, number, side) is not None


def line_position_or_none(patch: str, number: int, side: Side) -> tuple[int, int] | None:
    """Return the old and new line numbers at which a patch adds or removes a line, or None if it does not."""
    old = new = 0
    inside = False
    for line in patch.split("\n"):
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = int(hunk[1]), int(hunk[2])
            inside = True
            continue
        sign = line[:1] if inside else ""  # The file names precede the first hunk.
        if (sign == "+" and side == "new" and new == number) or (sign == "-" and side == "old" and old == number):
            return old, new
        old += sign in (" ", "-")
        new += sign in (" ", "+")
    return None


def lines_before(patch: str, old: int | None, new: int | None, most: int) -> list[str]:
    """Return the line of a patch with these numbers after the lines before it in its hunk; empty if it has none.

    A removed line has an old number only, an added line a new one only, and an unchanged one both.
    """
    number = [0, 0]
    shown: list[str] = []
    inside = False
    for line in patch.split("\n"):
        hunk = _HUNK.match(line)
        if hunk is not None:
            number, shown, inside = [int(hunk[1]), int(hunk[2])], [], True
            continue
        sign = line[:1] if inside else ""
        if sign not in (" ", "-", "+") or not sign:
            continue
        shown = [*shown[-most:], line]
        if (old, new) == (number[0] if sign != "+" else None, number[1] if sign != "-" else None):
            return shown
        number[0] += sign != "+"
        number[1] += sign != "-"
    return []
