"""Lists of issues: a project's, a group's and one's own."""

from typing import Any

from ingot.core.db.connection import Connection
from ingot.web.filters import ListFilters
from ingot.web.issues.group_context import GroupContext, group_context
from ingot.web.issues.list_filters import ISSUE_FILTERS
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_SCOPES = {"assigned_to_me": "Assigned to you", "created_by_me": "Written by you"}


@pages.get("/:path/-/issues", open=True)
def list_issues(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """The issues of a project."""
    place = project_context(visit)
    context = _issue_list(place, visit) | _choices(place)
    context["may_create"] = place.may("POST", "/issues")
    return place.page("issues/list.html", "issues", context)


@pages.get("/groups/:path/-/issues", open=True)
def list_group_issues(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """The issues of the projects in a group."""
    place = group_context(visit)
    return place.page("issues/group_list.html", "issues", _issue_list(place, visit) | _choices(place))


@pages.get("/dashboard/issues")
def list_own_issues(visit: Visit, db: Connection) -> PageResponse:  # noqa: ARG001 - Every page to read gets a connection.
    """What the visitor has to do, or wrote."""
    asked, scope = ISSUE_FILTERS.parse_query(visit.query), str(visit.query.get("scope", ""))
    scope = scope if scope in _SCOPES else next(iter(_SCOPES))
    sent = {"scope": scope, "with_labels_details": "true", "page": visit.page}
    context = {
        "issues": visit.get("/issues", asked.list | sent),
        "counts": visit.get("/issues_statistics", asked.filters | {"scope": scope}).statistics.counts,
        "scopes": _SCOPES,
        "scope": scope,
    }
    return TemplateResponse("issues/own_list.html", context | _list_params(asked))


def _issue_list(place: ProjectContext | GroupContext, visit: Visit) -> dict[str, Any]:
    asked = ISSUE_FILTERS.parse_query(visit.query)
    sent = {"with_labels_details": "true", "page": visit.page}
    return {
        "issues": place.get("/issues", asked.list | sent),
        "counts": place.get("/issues_statistics", asked.filters).statistics.counts,
    } | _list_params(asked)


def _list_params(filters: ListFilters) -> dict[str, Any]:
    return {"asked": filters, "sorts": ISSUE_FILTERS.sort_names}


def _choices(place: ProjectContext | GroupContext) -> dict[str, Any]:
    """What the list can be filtered by."""
    ancestors = "include_parent_milestones" if isinstance(place, ProjectContext) else "include_ancestors"
    return {
        "labels": place.get("/labels", {"per_page": 100, "with_counts": "false"}).items,
        "milestones": place.get("/milestones", {"per_page": 100, "state": "active", ancestors: "true"}).items,
    }
