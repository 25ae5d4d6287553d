"""On which days of the last year something was done, by somebody or in a group."""

from datetime import date, timedelta
from typing import Literal, NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, day_of
from ingot.discovery.activity.views import activity_days

WEEKS = 53
_STEPS = (1, 5, 10, 20)


class CalendarDay(NamedTuple):
    """A day on which something was done: where it is, and how dark."""

    week: int
    weekday: int
    level: int
    date: str
    number: int


class ContributionCalendar(NamedTuple):
    """Weeks from left to right, Mondays above; days without anything are the ground that the rest is drawn on."""

    days: list[CalendarDay]
    weeks: int
    total: int
    whole: bool
    """Whether all was counted; otherwise only the newest."""


def contribution_calendar(
    db: Connection, actor: Actor, whose: Literal["author", "group"], number: int
) -> ContributionCalendar:
    """Return the year up to today, of a user or of a group, as far as the visitor may see it."""
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
