"""All projects and groups, whoever they belong to."""

from typing import Any

from ingot.db.connection import Connection
from ingot.web.admin.frame import admin_page, require_admin
from ingot.web.pages import Pages, Reply, Visit

pages = Pages()


@pages.get("/admin/projects")
def list_projects(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Projects with how much room they take."""
    wanted = _wanted(visit) | {"statistics": "true", "order_by": "id"}
    return admin_page(visit, "projects", "projects", {"found": visit.get("/projects", wanted), **_search(visit)})


@pages.get("/admin/groups")
def list_groups(visit: Visit, db: Connection) -> Reply:  # noqa: ARG001 - Every page to read gets a connection.
    """Groups, nested ones too."""
    wanted = _wanted(visit) | {"all_available": "true"}
    return admin_page(visit, "groups", "groups", {"found": visit.get("/groups", wanted), **_search(visit)})


def _search(visit: Visit) -> dict[str, str]:
    search = visit.query.get("search", "")
    return {"search": search if isinstance(search, str) else ""}


def _wanted(visit: Visit) -> dict[str, Any]:
    require_admin(visit)
    return {"page": visit.query.get("page", "1"), **_search(visit)}
