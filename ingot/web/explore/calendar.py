"""Contribution calendar of a user or group over the last year."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from ingot.accounts.instance.all_settings import all_settings
from ingot.activity.views import activity_days
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date

WEEKS = 53
_STEPS = (1, 5, 10, 20)
_WEEK_DAYS = 7


class CalendarDay(NamedTuple):
    """Day with contributions: its position in the calendar, shade, date and number of contributions."""

    week: int
    weekday: int
    level: int
    date: str
    number: int


class ContributionCalendar(NamedTuple):
    """Calendar with one column per week; days without contributions are omitted."""

    days: list[CalendarDay]
    months: list[tuple[str, int]]
    """Abbreviated name of each month, with the week in which it begins."""
    labels: list[tuple[str, int]]
    """Names of some days of the week, with their rows."""
    weeks: int
    total: int
    whole: bool
    """False if there were too many events and only the newest were counted."""


def contribution_calendar(
    db: Connection, actor: Actor, whose: Literal["author", "group"], number: int
) -> ContributionCalendar:
    """Return the contributions of a user or group in the last year that the actor has permission to see."""
    today = date.fromisoformat(db.today)
    since = Date((today - timedelta(days=7 * WEEKS)).isoformat())
    counts, complete = activity_days(db, actor, whose, number, since)
    first_weekday = (all_settings(db).first_day_of_week - 1) % _WEEK_DAYS
    first = today - timedelta(days=(today.weekday() - first_weekday) % _WEEK_DAYS + 7 * (WEEKS - 1))
    days = []
    for text, count in counts.items():
        week, weekday = divmod((date.fromisoformat(text) - first).days, 7)
        if week >= 0:
            days.append(CalendarDay(week, weekday, sum(count >= step for step in _STEPS), text, count))
    labels = [(name, (weekday - first_weekday) % _WEEK_DAYS) for name, weekday in (("Mon", 0), ("Wed", 2), ("Fri", 4))]
    return ContributionCalendar(days, _months(first), labels, WEEKS, sum(counts.values()), complete)


def _months(first: date) -> list[tuple[str, int]]:
    """Return the months whose first day is in the calendar, except where the edge would cut off the name."""
    weeks = [first + timedelta(weeks=number, days=6) for number in range(WEEKS)]
    return [(day.strftime("%b"), number) for number, day in enumerate(weeks[:-1]) if day.day <= _WEEK_DAYS]
