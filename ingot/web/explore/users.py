"""Public user page with projects, activity and contribution calendar."""

from typing import Any

from ingot.accounts.instance.settings import current_settings
from ingot.accounts.users.views import UserView, profile_or_none, status_of_user, user_view_by_name
from ingot.activity.views import newest_events
from ingot.core.db.connection import Connection
from ingot.projects.projects import api as projects_api
from ingot.projects.projects.views import instance_urls_at
from ingot.web.explore.calendar import contribution_calendar
from ingot.web.explore.event_lines import activity_lines
from ingot.web.explore.feeds import feed_address
from ingot.web.page_routes import PageResponse, TemplateResponse, Visit

_EVENTS = 20


def visible_user_or_none(visit: Visit, name: str) -> UserView | None:
    """Return the user with this name, or None.

    If the instance restricts public visibility, signed-out users cannot see users.
    """
    if "/" in name or (visit.viewer.user is None and visit.database.read(_profiles_are_restricted)):
        return None
    return visit.database.read(lambda db: user_view_by_name(db, name, visit.request.origin.base))


def _profiles_are_restricted(db: Connection) -> bool:
    return "public" in current_settings(db).restricted_visibility_levels


def show_user_page(visit: Visit, shown_user: UserView) -> PageResponse:
    """Show a user's projects and activity that the viewer has permission to see; a private profile shows the name."""
    actor, at = visit.viewer.actor, instance_urls_at(visit.request.origin.base, visit.settings)
    details = visit.database.read(lambda db: profile_or_none(db, actor, shown_user.id))
    if details is None:
        return TemplateResponse("explore/user.html", {"shown_user": shown_user, "details": None})
    context: dict[str, Any] = {
        "shown_user": shown_user,
        "details": details,
        "status": visit.database.read(lambda db: status_of_user(db, shown_user.id)),
        "projects": visit.ask(projects_api.list_user_projects, {"order_by": "last_activity_at"}, user_id=shown_user.id),
        "activity": activity_lines(
            visit, visit.database.read(lambda db: newest_events(db, actor, "author", shown_user.id, _EVENTS, at))
        ),
        "feed": feed_address(visit, f"/{shown_user.username}.atom"),
        "calendar": visit.database.read(lambda db: contribution_calendar(db, actor, "author", shown_user.id)),
    }
    return TemplateResponse("explore/user.html", context)
