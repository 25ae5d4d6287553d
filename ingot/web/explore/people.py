"""People: what everybody may know of them, what they did, and on which days."""

from datetime import date, timedelta
from typing import Any, NamedTuple

from ingot.activity.params import ListEvents
from ingot.activity.queries import count_by_day, list_events
from ingot.activity.views import EventView, event_views
from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.db.times import Date, day_of
from ingot.instance.settings import current_settings
from ingot.projects.views import addresses_of
from ingot.users.accounts.queries import user_by_username
from ingot.users.accounts.tables import User
from ingot.users.accounts.views import user_view
from ingot.web.explore.happenings import happenings
from ingot.web.pages import Page, Reply, Visit

_WEEKS = 53
_STEPS = (1, 5, 10, 20)


class Day(NamedTuple):
    """A day of the calendar on which something was done: where it is, and how dark."""

    week: int
    weekday: int
    level: int
    date: str
    number: int


def person_or_none(visit: Visit, name: str) -> User | None:
    """The user with this name, if there is one that the visitor may know of.

    Where nothing may be public, people are not either.
    """
    if "/" in name or (visit.user is None and visit.database.read(_hides_people)):
        return None
    found = visit.database.read(lambda db: user_by_username(db, name))
    return found if found is not None and not found.placeholder else None


def _hides_people(db: Connection) -> bool:
    return "public" in current_settings(db).restricted_visibility_levels


def show_person(visit: Visit, user: User) -> Reply:
    """Somebody's projects and deeds, as far as the visitor may see them."""
    person = user_view(user, visit.origin.base)
    did, counts, last = visit.database.read(lambda db: _deeds(db, visit, user))
    context: dict[str, Any] = {
        "person": person,
        "user_page": user,
        "projects": visit.get("/users/:user_id/projects", {"order_by": "last_activity_at"}, user_id=user.id),
        "happenings": happenings(visit, did),
        "days": _calendar(counts, date.fromisoformat(last)),
        "weeks": _WEEKS,
        "total": sum(counts.values()),
    }
    return Page("explore/person.html", context)


def _deeds(db: Connection, visit: Visit, user: User) -> tuple[list[EventView], dict[str, int], str]:
    actor, today = visit.actor_or_nobody, day_of(db.now)
    found = list_events(db, actor, ListEvents(), ListPage(size=20), "author", author=user.id)
    start = date.fromisoformat(today) - timedelta(days=7 * _WEEKS)
    counts = count_by_day(db, actor, user.id, Date(start.isoformat()))
    return event_views(db, found.items, addresses_of(visit.origin, visit.settings)), counts, today


def _calendar(counts: dict[str, int], today: date) -> list[Day]:
    """Weeks from left to right, Mondays above; days without anything are the ground that the rest is drawn on."""
    first = today - timedelta(days=today.weekday() + 7 * (_WEEKS - 1))
    days = []
    for text, count in counts.items():
        week, weekday = divmod((date.fromisoformat(text) - first).days, 7)
        if week >= 0:
            days.append(Day(week, weekday, sum(count >= step for step in _STEPS), text, count))
    return days
