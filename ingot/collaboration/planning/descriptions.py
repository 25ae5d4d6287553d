"""Columns of issues and merge requests that depend on their description."""

from typing import Any, Protocol

from ingot.core.markup.tasks import TaskCounts, count_tasks


class Described(Protocol):
    """Part of an issue or merge request."""

    @property
    def description(self) -> str | None:
        """The text."""

    @property
    def task_count(self) -> int | None:
        """The number of tasks in the text; None if a previous version of Ingot has written the row."""

    @property
    def completed_task_count(self) -> int | None:
        """The number of completed tasks."""


def description_columns(description: str | None) -> dict[str, Any]:
    """Return the columns to store with a description: a copy for searches, and the numbers of its tasks.

    The numbers are part of every list, and to count takes as long as everything else that a list does.
    """
    counts = count_tasks(description or "")
    return {
        "description_key": (description or "").casefold(),
        "task_count": counts.total,
        "completed_task_count": counts.done,
    }


def task_counts(described: Described) -> TaskCounts:
    """Return the numbers of all and of completed tasks."""
    if described.task_count is None or described.completed_task_count is None:
        return count_tasks(described.description or "")
    return TaskCounts(described.task_count, described.completed_task_count)
