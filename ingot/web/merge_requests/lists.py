"""Merge request lists of projects and groups."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.labels import api as labels_api
from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.list_views import listed_states
from ingot.collaboration.merge_requests.merge import train_api
from ingot.collaboration.milestones import api as milestones_api
from ingot.core.db.connection import Connection
from ingot.web.filters import ListFilters
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.merge_requests.list_filters import MERGE_REQUEST_FILTERS
from ingot.web.page_routes import PageResponse, PageRoutes, Visit
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()


@pages.get("/:path/-/merge_requests", open=True)
def list_merge_requests(visit: Visit, db: Connection) -> PageResponse:
    """List the merge requests of a project."""
    parent = project_context(visit)
    context = merge_request_list(
        visit,
        db,
        lambda params: parent.ask(
            parent.either(merge_requests_api.list_project_merge_requests, merge_requests_api.list_group_merge_requests),
            params,
        ),
    ) | _choices(parent)
    context["may_create"] = visit.viewer.user is not None and not parent.project.archived
    context["shows_trains"] = parent.may(train_api.list_merge_trains)
    return parent.page("merge_requests/list.html", "merge_requests", context)


@pages.get("/groups/:path/-/merge_requests", open=True)
def list_group_merge_requests(visit: Visit, db: Connection) -> PageResponse:
    """List the merge requests of a group's projects."""
    parent = group_context(visit)
    context = merge_request_list(
        visit,
        db,
        lambda params: parent.ask(
            parent.either(merge_requests_api.list_project_merge_requests, merge_requests_api.list_group_merge_requests),
            params,
        ),
    ) | _choices(parent)
    return parent.page("merge_requests/group_list.html", "merge_requests", context)


def merge_request_list(visit: Visit, db: Connection, get: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Return a page of merge requests with their states, and their number by state."""
    filters = MERGE_REQUEST_FILTERS.parse_query(visit.request.query)
    listing = get(filters.list_params | {"with_labels_details": "true", "page": visit.request.page})
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


def _choices(parent: ProjectOrGroupContext) -> dict[str, Any]:
    """Return the choices of the filters."""
    ancestors = "include_parent_milestones" if isinstance(parent, ProjectContext) else "include_ancestors"
    return {
        "labels": parent.ask(
            parent.either(labels_api.list_project_labels, labels_api.list_group_labels),
            {"per_page": 100, "with_counts": "false"},
        ).items,
        "milestones": parent.ask(
            parent.either(milestones_api.list_project_milestones, milestones_api.list_group_milestones),
            {"per_page": 100, "state": "active", ancestors: "true"},
        ).items,
    }
