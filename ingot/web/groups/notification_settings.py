"""Notification level of the current user for a project or group: the Watch menu, and the page with single events."""

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from msgspec import UNSET

from ingot.core.errors import Invalid
from ingot.notifications import api as notifications_api
from ingot.notifications.params import EVENT_FLAGS, ON_BY_DEFAULT
from ingot.notifications.views import NotificationSettingsView
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.groups.settings_parent import settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
LEVEL_TEXTS = {
    "global": "Global: use the global setting",
    "watch": "Watch: all activity",
    "participating": "Participating: threads you participate in",
    "mention": "On mention: only when you are mentioned",
    "disabled": "Disabled: no notifications",
    "custom": "Custom: events that you select",
}
EVENT_TEXTS = {
    "new_note": "New comment",
    "new_issue": "New issue",
    "reopen_issue": "Issue reopened",
    "close_issue": "Issue closed",
    "reassign_issue": "Issue reassigned",
    "new_merge_request": "New merge request",
    "reopen_merge_request": "Merge request reopened",
    "close_merge_request": "Merge request closed",
    "reassign_merge_request": "Merge request reassigned",
    "merge_merge_request": "Merge request merged",
    "failed_pipeline": "Pipeline failed",
    "success_pipeline": "Pipeline passed",
}


class WatchMenu(NamedTuple):
    """Menu of the notification levels of a project or group."""

    url: str
    """Path of the page with the settings, to which the menu's form is sent too."""
    level: str
    levels: dict[str, str]


def watch_menu_or_none(parent: ProjectOrGroupContext) -> WatchMenu | None:
    """Return the menu for the home page of a project or group; None for visitors."""
    if parent.visit.viewer.user is None:
        return None
    return WatchMenu(_settings_url(parent), _settings(parent).level, LEVEL_TEXTS)


def _declare_pages(path: str, find_parent: Callable[[Visit], ProjectOrGroupContext]) -> None:
    """Declare the page of the notification settings of projects or of groups."""
    pages.get(path)(lambda visit: _page(find_parent(visit)))
    pages.put(path, notice="Notification settings saved.")(lambda visit: _save(find_parent(visit)))


def _save(parent: ProjectOrGroupContext) -> PageResponse:
    """Change the level, and the events of the custom level if the form offers them; other levels keep those."""
    form = parent.visit.request.form
    params: dict[str, Any] = {"level": text_field(form, "level")}
    if params["level"] == "custom" and "events_offered" in form:
        params |= {name: name in form for name in EVENT_FLAGS}
    endpoint = parent.either(
        notifications_api.update_project_notification_settings, notifications_api.update_group_notification_settings
    )
    try:
        if params["level"] not in LEVEL_TEXTS:
            raise Invalid(level=["is invalid"])
        parent.ask(endpoint, params)
    except REQUEST_ERRORS as error:
        return _page(parent, error_messages(error))
    return LocalRedirect(parent.url)


def _page(parent: ProjectOrGroupContext, errors: list[str] | None = None) -> TemplateResponse:
    settings = _settings(parent)
    context = {
        "url": _settings_url(parent),
        "kind": "project" if isinstance(parent, ProjectContext) else "group",
        "level": settings.level,
        "levels": LEVEL_TEXTS,
        "events": EVENT_TEXTS,
        "chosen": _chosen_events(settings),
        "errors": errors or [],
    }
    template = "groups/notification_settings.html"
    return settings_page(parent, template, "", context, 422 if errors else 200, tab="home")


def _chosen_events(settings: NotificationSettingsView) -> Collection[str]:
    """Return the events of the custom level; before it was chosen, those that it begins with."""
    if settings.events is UNSET:
        return ON_BY_DEFAULT
    return [name for name in EVENT_FLAGS if getattr(settings.events, name)]


def _settings(parent: ProjectOrGroupContext) -> NotificationSettingsView:
    return parent.ask(
        parent.either(
            notifications_api.get_project_notification_settings, notifications_api.get_group_notification_settings
        )
    )


def _settings_url(parent: ProjectOrGroupContext) -> str:
    return f"{parent.url}/-/notification_settings"


_declare_pages("/:path/-/notification_settings", project_context)
_declare_pages("/groups/:path/-/notification_settings", group_context)
