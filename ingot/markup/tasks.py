"""How many of the tasks that a text lists are done."""

import re
from typing import NamedTuple

from ingot.markup.shielding import hidden_blocks

_TASK = re.compile(r"^[ \t>]*+(?:[-+*]|\d{1,9}+[.)])[ \t]++\[([ xX])\][ \t]++\S", re.MULTILINE)


class Tasks(NamedTuple):
    """Items with a box before them."""

    total: int
    done: int


def count_tasks(text: str) -> Tasks:
    """The tasks of a markdown text; boxes in code do not count."""
    boxes = [found[1] for found in _TASK.finditer(hidden_blocks(text))] if "[" in text else []
    return Tasks(len(boxes), sum(box != " " for box in boxes))
