"""Merge request lists of projects and groups."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.list_views import listed_states
from ingot.collaboration.merge_requests.merge import train_api
from ingot.core.db.connection import Connection
from ingot.web.filters import ListFilters
from ingot.web.formats import with_query
from ingot.web.issues.bulk_edit import (
    MERGE_REQUESTS,
    BulkOutcome,
    bulk_context,
    bulk_notice,
    bulk_params,
    update_selected,
)
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.issues.list_filters import filter_choices
from ingot.web.issues.saved_views import saved_view_menu
from ingot.web.merge_requests.list_filters import MERGE_REQUEST_FILTERS
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()


_BULK_NOTICE = bulk_notice("1 merge request changed.", "merge requests changed.")


@pages.get("/:path/-/merge_requests", open=True)
def list_merge_requests(visit: Visit, db: Connection) -> PageResponse:
    """List the merge requests of a project."""
    return _list_page(db, project_context(visit))


@pages.get("/groups/:path/-/merge_requests", open=True)
def list_group_merge_requests(visit: Visit, db: Connection) -> PageResponse:
    """List the merge requests of a group's projects."""
    return _list_page(db, group_context(visit))


@pages.post("/:path/-/merge_requests/bulk_update", notice=_BULK_NOTICE)
def update_merge_requests(visit: Visit) -> PageResponse:
    """Change the selected merge requests of a project."""
    return _update(project_context(visit))


@pages.post("/groups/:path/-/merge_requests/bulk_update", notice=_BULK_NOTICE)
def update_group_merge_requests(visit: Visit) -> PageResponse:
    """Change the selected merge requests of a group's projects."""
    return _update(group_context(visit))


def _list_page(db: Connection, parent: ProjectOrGroupContext, outcome: BulkOutcome | None = None) -> PageResponse:
    """Render the list, with what a bulk edit could not change."""
    visit = parent.visit
    list_endpoint = parent.either(
        merge_requests_api.list_project_merge_requests, merge_requests_api.list_group_merge_requests
    )
    context = merge_request_list(visit, db, lambda params: parent.ask(list_endpoint, params)) | filter_choices(parent)
    context |= bulk_context(parent, MERGE_REQUESTS, f"{parent.url}/-/merge_requests", outcome)
    context["saved"] = saved_view_menu(visit, parent, "merge_requests")
    template = "merge_requests/group_list.html"
    if isinstance(parent, ProjectContext):
        template = "merge_requests/list.html"
        context["may_create"] = visit.viewer.user is not None and not parent.project.archived
        context["shows_trains"] = parent.may(train_api.list_merge_trains)
    return parent.page(template, "merge_requests", context, 422 if outcome else 200)


def _update(parent: ProjectOrGroupContext) -> PageResponse:
    outcome = update_selected(parent, MERGE_REQUESTS)
    if outcome is not None:
        return parent.visit.database.read(lambda db: _list_page(db, parent, outcome))
    return LocalRedirect(f"{parent.url}/-/merge_requests{with_query(parent.visit.request.query, bulk=None)}")


def merge_request_list(visit: Visit, db: Connection, get: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return a page of merge requests with their states, and their number by state."""
    filters = MERGE_REQUEST_FILTERS.parse_query(visit.request.query)
    listing = get(
        filters.list_params | {"with_labels_details": "true", "page": visit.request.page} | bulk_params(visit)
    )
    return {
        "requests": listing,
        "listed": listed_states(db, visit.viewer.actor, listing.items),
        "states": [
            (state, name, _count_in_state(filters, state, listing, get))
            for state, name in MERGE_REQUEST_FILTERS.states.items()
        ],
        "filters": filters,
        "sorts": MERGE_REQUEST_FILTERS.sort_names,
    }


def _count_in_state(filters: ListFilters, state: str, listing: Any, get: Callable[[dict[str, Any]], Any]) -> int | None:
    if state == filters.state:
        total: int | None = listing.total
    else:
        total = get(filters.filter_params | {"state": state, "view": "simple", "per_page": 1}).total
    return total
