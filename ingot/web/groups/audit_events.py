"""Changes of the settings of the instance, projects and groups."""

from typing import Any

from ingot.accounts.audit_events import api as instance_events_api
from ingot.projects.audit_events import api as events_api
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.groups.settings_parent import find_group_settings, settings_page
from ingot.web.issues.group_context import ProjectOrGroupContext
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.settings import find_project_settings

pages = PageRoutes()


@pages.get("/admin/audit_events")
def show_all_events(visit: Visit) -> PageResponse:
    """List the changes of all settings."""
    require_admin(visit)
    listing = visit.ask(instance_events_api.list_instance_audit_events, _page(visit))
    return render_admin_page(visit, "audit_events", "audit_events", {"listing": listing, "names_entity": True})


@pages.get("/:path/-/audit_events")
def show_project_events(visit: Visit) -> PageResponse:
    """List the changes of a project's settings."""
    return _events_page(find_project_settings(visit))


@pages.get("/groups/:path/-/audit_events")
def show_group_events(visit: Visit) -> PageResponse:
    """List the changes of a group's settings."""
    return _events_page(find_group_settings(visit))


def _events_page(parent: ProjectOrGroupContext) -> PageResponse:
    listing = parent.ask(events_api.list_changes_of_settings, _page(parent.visit))
    context = {"listing": listing, "names_entity": False}
    return settings_page(parent, "groups/audit_events.html", "audit_events", context)


def _page(visit: Visit) -> dict[str, Any]:
    return {"page": visit.request.query.get("page", "1"), "per_page": 50}
