"""On which days of the last year something was done, by somebody or in a group."""

from datetime import date, timedelta
from typing import NamedTuple

from ingot.access.actor import Actor
from ingot.activity.queries import MOST_COUNTED, Whose, count_by_day
from ingot.db.connection import Connection
from ingot.db.times import Date, day_of

WEEKS = 53
_STEPS = (1, 5, 10, 20)


class Day(NamedTuple):
    """A day on which something was done: where it is, and how dark."""

    week: int
    weekday: int
    level: int
    date: str
    number: int


class Calendar(NamedTuple):
    """Weeks from left to right, Mondays above; days without anything are the ground that the rest is drawn on."""

    days: list[Day]
    weeks: int
    total: int
    whole: bool
    """Whether all was counted; otherwise only the newest."""


def calendar_of(db: Connection, actor: Actor, whose: Whose, number: int) -> Calendar:
    """The year up to today, as far as the visitor may see what was done."""
    today = date.fromisoformat(day_of(db.now))
    counts = count_by_day(db, actor, whose, number, Date((today - timedelta(days=7 * WEEKS)).isoformat()))
    first = today - timedelta(days=today.weekday() + 7 * (WEEKS - 1))
    days = []
    for text, count in counts.items():
        week, weekday = divmod((date.fromisoformat(text) - first).days, 7)
        if week >= 0:
            days.append(Day(week, weekday, sum(count >= step for step in _STEPS), text, count))
    total = sum(counts.values())
    return Calendar(days, WEEKS, total, total < MOST_COUNTED)
