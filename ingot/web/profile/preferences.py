"""Notification settings and preferences of the current user."""

from collections.abc import Callable
from typing import Any

from ingot.accounts.users.service import set_page_preferences
from ingot.core.api.params import path_number
from ingot.core.db.connection import Connection
from ingot.notifications import api as notifications_api
from ingot.notifications.views import level_names, notification_addresses
from ingot.projects.groups import api as groups_api
from ingot.projects.projects import api as projects_api
from ingot.web.display_zone import zone_names
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.groups.notification_settings import LEVEL_TEXTS
from ingot.web.languages import LANGUAGES
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, form_field

pages = PageRoutes()
PAGE_PATH = "/profile/notifications"
_MAX_ROWS = 100


@pages.get("/profile/notifications")
def show_notification_settings(visit: Visit, db: Connection) -> PageResponse:
    """Show the notification levels: global, and of each group and project."""
    return _notifications_page(visit, db)


@pages.put("/profile/notifications", notice="Notification settings saved.")
def update_global_notifications(visit: Visit) -> PageResponse:
    """Change the global notification settings."""
    params = {"level": _text(visit, "level"), "notification_email": _text(visit, "notification_email")}
    return _save_settings(
        visit,
        notifications_api.update_global_notification_settings,
        {name: value for name, value in params.items() if value},
    )


@pages.put("/profile/notifications/groups/:id", notice="Notification settings saved.")
def update_group_notifications(visit: Visit) -> PageResponse:
    """Change the notification level of a group."""
    endpoint = notifications_api.update_group_notification_settings
    return _save_settings(visit, endpoint, {"level": _text(visit, "level")}, id=path_number(visit.request.path, "id"))


@pages.put("/profile/notifications/projects/:id", notice="Notification settings saved.")
def update_project_notifications(visit: Visit) -> PageResponse:
    """Change the notification level of a project."""
    endpoint = notifications_api.update_project_notification_settings
    return _save_settings(visit, endpoint, {"level": _text(visit, "level")}, id=path_number(visit.request.path, "id"))


@pages.get("/profile/preferences")
def show_preferences(visit: Visit) -> PageResponse:  # noqa: ARG001 - Every page takes the visit.
    """Show the preferences."""
    context = {"tab": "preferences", "languages": LANGUAGES, "zones": zone_names()}
    return TemplateResponse("profile/preferences.html", context)


@pages.put("/profile/preferences", notice="Preferences saved.")
def update_preferences(visit: Visit) -> PageResponse:
    """Change the language and the time zone of the pages; an unknown value means that of the browser."""
    language = form_field(visit.request.form, "user", "preferred_language")
    time_zone = form_field(visit.request.form, "user", "timezone")
    visit.database.write(
        lambda db: set_page_preferences(
            db,
            visit.viewer.signed_in,
            language if language in LANGUAGES else None,
            time_zone if time_zone in zone_names() else None,
        )
    )
    return LocalRedirect("/profile/preferences")


def _save_settings(
    visit: Visit, endpoint: Callable[..., object], params: dict[str, Any], **path: object
) -> PageResponse:
    try:
        visit.ask(endpoint, params, **path)
    except REQUEST_ERRORS as error:
        errors = error_messages(error)
        return visit.database.read(lambda db: _notifications_page(visit, db, errors))
    return LocalRedirect(PAGE_PATH)


def _text(visit: Visit, name: str) -> str:
    value = visit.request.form.get(name)
    return value if isinstance(value, str) else ""


def _notifications_page(visit: Visit, db: Connection, errors: list[str] | None = None) -> TemplateResponse:
    levels = level_names(db, visit.viewer.signed_in.id)
    groups = visit.ask(groups_api.list_groups, {"min_access_level": 10, "per_page": _MAX_ROWS}).items
    projects = visit.ask(projects_api.list_projects, {"membership": True, "simple": True, "per_page": _MAX_ROWS}).items
    rows = [("groups", group.id, group.full_path, levels.get(("group", group.id), "global")) for group in groups]
    rows += [
        ("projects", project.id, project.path_with_namespace, levels.get(("project", project.id), "global"))
        for project in projects
    ]
    context = {
        "tab": "notifications",
        "own": visit.ask(notifications_api.get_global_notification_settings),
        "addresses": notification_addresses(db, visit.viewer.signed_in),
        "rows": rows,
        "levels": LEVEL_TEXTS,
        "errors": errors or [],
    }
    return TemplateResponse("profile/notifications.html", context, 422 if errors else 200)
