"""Issue lists of projects, groups and the current user."""

from typing import Any

from ingot.collaboration.issues import api as issues_api
from ingot.web.explore.feeds import feed_address
from ingot.web.filters import ListFilters
from ingot.web.formats import with_query
from ingot.web.issues.bulk_edit import (
    ISSUES,
    BulkOutcome,
    bulk_context,
    bulk_notice,
    bulk_params,
    update_selected,
)
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.issues.list_filters import ISSUE_FILTERS, filter_choices
from ingot.web.issues.saved_views import saved_view_menu
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
_SCOPES = {"assigned_to_me": "Assigned to you", "created_by_me": "Created by you"}


_BULK_NOTICE = bulk_notice("1 issue changed.", "issues changed.")


@pages.get("/:path/-/issues", open=True)
def list_issues(visit: Visit) -> PageResponse:
    """List the issues of a project."""
    return _list_page(project_context(visit))


@pages.get("/groups/:path/-/issues", open=True)
def list_group_issues(visit: Visit) -> PageResponse:
    """List the issues of a group's projects."""
    return _list_page(group_context(visit))


@pages.post("/:path/-/issues/bulk_update", notice=_BULK_NOTICE)
def update_issues(visit: Visit) -> PageResponse:
    """Change the selected issues of a project."""
    return _update(project_context(visit))


@pages.post("/groups/:path/-/issues/bulk_update", notice=_BULK_NOTICE)
def update_group_issues(visit: Visit) -> PageResponse:
    """Change the selected issues of a group's projects."""
    return _update(group_context(visit))


@pages.get("/dashboard/issues")
def list_own_issues(visit: Visit) -> PageResponse:
    """List the issues that the user is assigned to or created."""
    filters, scope = ISSUE_FILTERS.parse_query(visit.request.query), str(visit.request.query.get("scope", ""))
    scope = scope if scope in _SCOPES else next(iter(_SCOPES))
    params = {"scope": scope, "with_labels_details": "true", "page": visit.request.page}
    context = {
        "issues": visit.ask(issues_api.list_issues, filters.list_params | params),
        "counts": visit.ask(issues_api.get_statistics, filters.filter_params | {"scope": scope}).statistics.counts,
        "scopes": _SCOPES,
        "scope": scope,
        "saved": saved_view_menu(visit, None, "issues"),
    }
    return TemplateResponse("issues/own_list.html", context | _list_params(filters))


def _list_page(parent: ProjectOrGroupContext, outcome: BulkOutcome | None = None) -> PageResponse:
    """Render the list, with what a bulk edit could not change."""
    visit, url = parent.visit, f"{parent.url}/-/issues"
    context = _issue_list(parent, visit) | filter_choices(parent) | bulk_context(parent, ISSUES, url, outcome)
    context["saved"] = saved_view_menu(visit, parent, "issues")
    context["feed"] = feed_address(visit, f"{url}.atom")
    template = "issues/group_list.html"
    if isinstance(parent, ProjectContext):
        template, context["may_create"] = "issues/list.html", parent.may(issues_api.create_issue)
    return parent.page(template, "issues", context, 422 if outcome else 200)


def _update(parent: ProjectOrGroupContext) -> PageResponse:
    outcome = update_selected(parent, ISSUES)
    if outcome is not None:
        return _list_page(parent, outcome)
    return LocalRedirect(f"{parent.url}/-/issues{with_query(parent.visit.request.query, bulk=None)}")


def _issue_list(parent: ProjectOrGroupContext, visit: Visit) -> dict[str, Any]:
    filters = ISSUE_FILTERS.parse_query(visit.request.query)
    params = {"with_labels_details": "true", "page": visit.request.page} | bulk_params(visit)
    return {
        "issues": parent.ask(
            parent.either(issues_api.list_project_issues, issues_api.list_group_issues), filters.list_params | params
        ),
        "counts": parent.ask(
            parent.either(issues_api.get_project_statistics, issues_api.get_group_statistics), filters.filter_params
        ).statistics.counts,
    } | _list_params(filters)


def _list_params(filters: ListFilters) -> dict[str, Any]:
    return {"filters": filters, "sorts": ISSUE_FILTERS.sort_names}
