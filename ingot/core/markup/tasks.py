"""How many of the tasks that a text lists are done, and ticking one."""

import re
from typing import NamedTuple

from ingot.core.markup.literal_spans import mask_blocks

_TASK = re.compile(r"^[ \t>]*+(?:[-+*]|\d{1,9}+[.)])[ \t]++\[([ xX])\][ \t]++\S", re.MULTILINE)


class TaskCounts(NamedTuple):
    """Items with a box before them."""

    total: int
    done: int


def tick_task(text: str, number: int, *, done: bool) -> str | None:
    """The text with one of its tasks, counted from 0, done or open again; nothing where there is no such task."""
    boxes = list(_TASK.finditer(mask_blocks(text)))
    if not 0 <= number < len(boxes):
        return None
    place = boxes[number].start(1)
    return f"{text[:place]}{'x' if done else ' '}{text[place + 1 :]}"


def count_tasks(text: str) -> TaskCounts:
    """The tasks of a markdown text; boxes in code do not count."""
    boxes = [found[1] for found in _TASK.finditer(mask_blocks(text))] if "[" in text else []
    return TaskCounts(len(boxes), sum(box != " " for box in boxes))
