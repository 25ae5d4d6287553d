"""People: what everybody may know of them, what they did, and on which days."""

from typing import Any

from ingot.activity.params import ListEvents
from ingot.activity.queries import list_events
from ingot.activity.views import EventView, event_views
from ingot.db.connection import Connection
from ingot.db.paging import Page as ListPage
from ingot.instance.settings import current_settings
from ingot.projects.views import addresses_of
from ingot.users.accounts.queries import user_by_username
from ingot.users.accounts.tables import User
from ingot.users.accounts.views import user_view
from ingot.web.explore.calendar import Calendar, calendar_of
from ingot.web.explore.happenings import happenings
from ingot.web.pages import Page, Reply, Visit


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
    did, calendar = visit.database.read(lambda db: _deeds(db, visit, user))
    context: dict[str, Any] = {
        "person": person,
        "user_page": user,
        "projects": visit.get("/users/:user_id/projects", {"order_by": "last_activity_at"}, user_id=user.id),
        "happenings": happenings(visit, did),
        "calendar": calendar,
    }
    return Page("explore/person.html", context)


def _deeds(db: Connection, visit: Visit, user: User) -> tuple[list[EventView], Calendar]:
    actor = visit.actor_or_nobody
    found = list_events(db, actor, ListEvents(), ListPage(size=20, keyset=True), "author", author=user.id)
    views = event_views(db, found.items, addresses_of(visit.origin, visit.settings))
    return views, calendar_of(db, actor, "author", user.id)
