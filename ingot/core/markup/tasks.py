"""Task lists in a text: counting and ticking of tasks."""

import re
from typing import NamedTuple

from ingot.core.markup.literal_spans import mask_blocks

_BOX = re.compile(r"\[[ xX]\]")
_TASK = re.compile(r"^[ \t>]*+(?:[-+*]|\d{1,9}+[.)])[ \t]++\[([ xX])\][ \t]++\S", re.MULTILINE)


class TaskCounts(NamedTuple):
    """The numbers of all and of completed tasks."""

    total: int
    done: int


def tick_task(text: str, number: int, *, done: bool) -> str | None:
    """Return the text with the task at an index, counted from 0, ticked or unticked; None if there is none."""
    boxes = list(_TASK.finditer(mask_blocks(text)))
    if not 0 <= number < len(boxes):
        return None
    position = boxes[number].start(1)
    return f"{text[:position]}{'x' if done else ' '}{text[position + 1 :]}"


def count_tasks(text: str) -> TaskCounts:
    """Count the tasks of a markdown text; checkboxes in code do not count."""
    boxes = [match[1] for match in _TASK.finditer(mask_blocks(text))] if _BOX.search(text) else []
    return TaskCounts(len(boxes), sum(box != " " for box in boxes))
