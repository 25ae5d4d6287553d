"""Contribution calendar of a user or group over the last year."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, day_of
from ingot.discovery.activity.views import activity_days

WEEKS = 53
_STEPS = (1, 5, 10, 20)


class CalendarDay(NamedTuple):
    """Day with contributions: its position in the calendar, shade, date and number of contributions."""

    week: int
    weekday: int
    level: int
    date: str
    number: int


class ContributionCalendar(NamedTuple):
    """Calendar with one column per week, Monday first; days without contributions are omitted."""

    days: list[CalendarDay]
    weeks: int
    total: int
    whole: bool
    """False if there were too many events and only the newest were counted."""


def contribution_calendar(
    db: Connection, actor: Actor, whose: Literal["author", "group"], number: int
) -> ContributionCalendar:
    """Return the contributions of a user or group in the last year that the actor has permission to see."""
    today = date.fromisoformat(day_of(db.now))
    since = Date((today - timedelta(days=7 * WEEKS)).isoformat())
    counts, complete = activity_days(db, actor, whose, number, since)
    first = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    days = []
    for text, count in counts.items():
        week, weekday = divmod((date.fromisoformat(text) - first).days, 7)
        if week >= 0:
            days.append(CalendarDay(week, weekday, sum(count >= step for step in _STEPS), text, count))
    return ContributionCalendar(days, WEEKS, sum(counts.values()), complete)
