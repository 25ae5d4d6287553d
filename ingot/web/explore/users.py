"""People: what everybody may know of them, what they did, and on which days."""

from typing import Any

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.queries import user_by_username_or_none
from ingot.accounts.users.tables import User
from ingot.accounts.users.views import user_view
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Page as ListPage
from ingot.discovery.activity.params import ListActivityEvents
from ingot.discovery.activity.queries import list_events
from ingot.discovery.activity.views import EventView, event_views
from ingot.projects.projects.views import instance_urls
from ingot.web.explore.calendar import ContributionCalendar, contribution_calendar
from ingot.web.explore.event_lines import activity_lines
from ingot.web.page_routes import PageResponse, TemplateResponse, Visit


def visible_user_or_none(visit: Visit, name: str) -> User | None:
    """The user with this name, if there is one that the visitor may know of.

    Where nothing may be public, people are not either.
    """
    if "/" in name or (visit.user is None and visit.database.read(_profiles_are_restricted)):
        return None
    found = visit.database.read(lambda db: user_by_username_or_none(db, name))
    return found if found is not None and not found.placeholder else None


def _profiles_are_restricted(db: Connection) -> bool:
    return "public" in current_settings(db).restricted_visibility_levels


def show_user_page(visit: Visit, user: User) -> PageResponse:
    """Somebody's projects and deeds, as far as the visitor may see them."""
    person = user_view(user, visit.origin.base)
    did, calendar = visit.database.read(lambda db: _user_activity(db, visit, user))
    context: dict[str, Any] = {
        "person": person,
        "user_page": user,
        "projects": visit.get("/users/:user_id/projects", {"order_by": "last_activity_at"}, user_id=user.id),
        "happenings": activity_lines(visit, did),
        "calendar": calendar,
    }
    return TemplateResponse("explore/person.html", context)


def _user_activity(db: Connection, visit: Visit, user: User) -> tuple[list[EventView], ContributionCalendar]:
    actor = visit.actor_or_anonymous
    found = list_events(db, actor, ListActivityEvents(), ListPage(size=20, keyset=True), "author", author=user.id)
    views = event_views(db, found.items, instance_urls(visit.origin, visit.settings))
    return views, contribution_calendar(db, actor, "author", user.id)
