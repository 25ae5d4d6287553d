"""Administration lists of all projects and groups."""

from typing import Any

from ingot.projects.groups import api as groups_api
from ingot.projects.projects import api as projects_api
from ingot.web.admin.layout import render_admin_page, require_admin
from ingot.web.page_routes import PageResponse, PageRoutes, Visit

pages = PageRoutes()


@pages.get("/admin/projects")
def list_projects(visit: Visit) -> PageResponse:
    """List all projects with their storage size."""
    params = _list_params(visit) | {"statistics": "true", "order_by": "id"}
    return render_admin_page(
        visit,
        "projects",
        "projects",
        {"projects": visit.ask(projects_api.list_projects, params), **_search_term(visit)},
    )


@pages.get("/admin/groups")
def list_groups(visit: Visit) -> PageResponse:
    """List all groups, including subgroups."""
    params = _list_params(visit) | {"all_available": "true"}
    return render_admin_page(
        visit, "groups", "groups", {"groups": visit.ask(groups_api.list_groups, params), **_search_term(visit)}
    )


def _search_term(visit: Visit) -> dict[str, str]:
    search = visit.request.query.get("search", "")
    return {"search": search if isinstance(search, str) else ""}


def _list_params(visit: Visit) -> dict[str, Any]:
    require_admin(visit)
    return {"page": visit.request.query.get("page", "1"), **_search_term(visit)}
