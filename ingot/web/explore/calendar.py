"""On which days of the last year something was done, by somebody or in a group."""

from datetime import date, timedelta
from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Date, day_of
from ingot.discovery.activity.queries import MAX_COUNTED, EventOwner, count_events_by_day

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


def contribution_calendar(db: Connection, actor: Actor, whose: EventOwner, number: int) -> ContributionCalendar:
    """The year up to today, as far as the visitor may see what was done."""
    today = date.fromisoformat(day_of(db.now))
    counts = count_events_by_day(db, actor, whose, number, Date((today - timedelta(days=7 * WEEKS)).isoformat()))
    first = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    days = []
    for text, count in counts.items():
        week, weekday = divmod((date.fromisoformat(text) - first).days, 7)
        if week >= 0:
            days.append(CalendarDay(week, weekday, sum(count >= step for step in _STEPS), text, count))
    total = sum(counts.values())
    return ContributionCalendar(days, WEEKS, total, total < MAX_COUNTED)
