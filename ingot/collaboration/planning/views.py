"""Response structs that issues and merge requests share."""

from ingot.collaboration.planning.descriptions import Described, task_counts
from ingot.collaboration.planning.durations import format_duration
from ingot.collaboration.planning.time_tracking import TimeTracked
from ingot.core.api.views import View


class TimeStatsView(View):
    """The estimate and the time spent."""

    time_estimate: int
    total_time_spent: int
    human_time_estimate: str | None
    human_total_time_spent: str | None


class ReferencesView(View):
    """References to an issuable: from its project, from its group, and from anywhere."""

    short: str
    relative: str
    full: str


class TaskCompletionView(View):
    """The numbers of tasks and of completed tasks in a description."""

    count: int
    completed_count: int


_NO_TASKS = TaskCompletionView(0, 0)
_NO_TIME = TimeStatsView(0, 0, None, None)


def task_completion_view(described: Described) -> TaskCompletionView:
    """Return the numbers of tasks of an issuable."""
    counts = task_counts(described)
    return TaskCompletionView(*counts) if counts.total else _NO_TASKS


def time_stats_view(tracked: TimeTracked) -> TimeStatsView:
    """Return the time tracking of an issuable."""
    if not tracked.time_estimate and not tracked.total_time_spent:
        return _NO_TIME
    return TimeStatsView(
        tracked.time_estimate,
        tracked.total_time_spent,
        format_duration(tracked.time_estimate),
        format_duration(tracked.total_time_spent),
    )
