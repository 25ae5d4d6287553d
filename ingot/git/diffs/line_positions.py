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
