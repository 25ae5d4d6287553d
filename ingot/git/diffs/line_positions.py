"""Where in a patch a line of a file is."""

import re
from typing import Literal

Side = Literal["new", "old"]
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def changes_line(patch: str, number: int, side: Side) -> bool:
    """Whether a file's patch adds the line of this number (``new``), or removes it (``old``)."""
    return line_position_or_none(patch, number, side) is not None


def line_position_or_none(patch: str, number: int, side: Side) -> tuple[int, int] | None:
    """Where a patch adds or removes a line: the numbers that both files have come to; nothing where it does not."""
    old = new = 0
    inside = False
    for line in patch.split("\n"):
        hunk = _HUNK.match(line)
        if hunk is not None:
            old, new = int(hunk[1]), int(hunk[2])
            inside = True
            continue
        sign = line[:1] if inside else ""  # Above the first part are the names of the file.
        if (sign == "+" and side == "new" and new == number) or (sign == "-" and side == "old" and old == number):
            return old, new
        old += sign in (" ", "-")
        new += sign in (" ", "+")
    return None
