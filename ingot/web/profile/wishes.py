"""What a user wants to be told, and how pages look to them."""

from typing import Any

from ingot.api.params import path_number
from ingot.db.connection import Connection
from ingot.notifications.params import LEVELS
from ingot.notifications.queries import addresses_of_user, wishes_of
from ingot.web.pages import Page, Pages, Redirect, Reply, Visit
from ingot.web.refusals import Refusal, sentences

pages = Pages()
HERE = "/profile/notifications"
LEVEL_TEXTS = {
    "global": "As everywhere",
    "watch": "Watch: all that happens",
    "participating": "Participating: what you take part in",
    "mention": "Mention: only where you are named",
    "disabled": "Disabled: nothing",
    "custom": "Custom: what was chosen through the API",
}
_NAMES = {number: name for name, number in LEVELS.items()}
_MOST = 100


@pages.get("/profile/notifications")
def show_wishes(visit: Visit, db: Connection) -> Reply:
    """Show what a user is told of everywhere, and of each group and project."""
    return _page(visit, db)


@pages.put("/profile/notifications")
def change_own(visit: Visit) -> Reply:
    """Change what a user is told of everywhere."""
    sent = {"level": _text(visit, "level"), "notification_email": _text(visit, "notification_email")}
    return _changed(visit, "/notification_settings", {name: value for name, value in sent.items() if value})


@pages.put("/profile/notifications/groups/:id")
def change_of_group(visit: Visit) -> Reply:
    """Change what a user is told of a group."""
    route = "/groups/:id/notification_settings"
    return _changed(visit, route, {"level": _text(visit, "level")}, id=path_number(visit.path, "id"))


@pages.put("/profile/notifications/projects/:id")
def change_of_project(visit: Visit) -> Reply:
    """Change what a user is told of a project."""
    route = "/projects/:id/notification_settings"
    return _changed(visit, route, {"level": _text(visit, "level")}, id=path_number(visit.path, "id"))


@pages.get("/profile/preferences")
def show_preferences(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Show how pages look."""
    return Page("profile/preferences.html", {"tab": "preferences"})


def _changed(visit: Visit, route: str, sent: dict[str, Any], **path: Any) -> Reply:
    try:
        visit.call("PUT", route, sent, **path)
    except Refusal as refusal:
        errors = sentences(refusal)
        return visit.database.read(lambda db: _page(visit, db, errors))
    return Redirect(HERE)


def _text(visit: Visit, name: str) -> str:
    value = visit.form.get(name)
    return value if isinstance(value, str) else ""


def _page(visit: Visit, db: Connection, errors: list[str] | None = None) -> Page:
    said = {(wish.source_kind, wish.source_id): _NAMES[wish.level] for wish in wishes_of(db, visit.signed_in.id)}
    groups = visit.get("/groups", {"min_access_level": 10, "per_page": _MOST}).items
    projects = visit.get("/projects", {"membership": True, "simple": True, "per_page": _MOST}).items
    places = [("groups", group.id, group.full_path, said.get(("group", group.id), "global")) for group in groups]
    places += [
        ("projects", project.id, project.path_with_namespace, said.get(("project", project.id), "global"))
        for project in projects
    ]
    context = {
        "tab": "notifications",
        "own": visit.get("/notification_settings"),
        "addresses": addresses_of_user(db, visit.signed_in),
        "places": places,
        "levels": LEVEL_TEXTS,
        "errors": errors or [],
    }
    return Page("profile/notifications.html", context, 422 if errors else 200)
