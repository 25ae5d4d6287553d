"""Burndown chart of a milestone: its open issues at the end of each day."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from typing import NamedTuple

from ingot.collaboration.milestones.views import MilestoneView
from ingot.core.db.times import Date
from ingot.web.analytics.bars import Bar, scaled_bars

MAX_DAYS = 366
"""A chart of a longer milestone shows its last days."""


class Burndown(NamedTuple):
    """Bars of the days until today, and the range of the whole chart."""

    bars: list[Bar]
    days: int
    """Number of days until the due date, or until today without one."""
    start: Date
    end: Date
    ideal: bool
    """Whether the milestone has a start and a due date, between which an ideal line is drawn."""


def burndown_or_none(
    milestone: MilestoneView, issues: Iterable[tuple[Date, Date | None, int]], today: Date
) -> Burndown | None:
    """Return the chart of issues given by creation day, day of closing and number; None without issues or past days."""
    issues = list(issues)
    if not issues:
        return None
    first = milestone.start_date or min(created for created, _, _ in issues)
    last = milestone.due_date or max([today, *(closed for _, closed, _ in issues if closed is not None)])
    if not first <= min(last, today):
        return None
    end = date.fromisoformat(last)
    start = max(date.fromisoformat(first), end - timedelta(days=MAX_DAYS - 1))
    days = [Date((start + timedelta(days=place)).isoformat()) for place in range((end - start).days + 1)]
    changes: Counter[str] = Counter()
    for created, closed, count in issues:
        changes[max(created, days[0])] += count
        if closed is not None:
            changes[max(closed, days[0])] -= count
    values, open_issues = [], 0
    for day in days:
        if day > today:
            break
        open_issues += changes[day]
        values.append((day, float(open_issues)))
    ideal = milestone.start_date == days[0] and milestone.due_date is not None
    return Burndown(scaled_bars(values), len(days), days[0], days[-1], ideal) if values else None
