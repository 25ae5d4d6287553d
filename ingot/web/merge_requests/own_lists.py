"""Merge requests of the current user: those to review, assigned, with open threads, and created by the user."""

from typing import NamedTuple

from ingot.collaboration.merge_requests import api as merge_requests_api
from ingot.collaboration.merge_requests.list_views import listed_states
from ingot.collaboration.merge_requests.views import MergeRequestView
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing
from ingot.web.issues.saved_views import saved_view_menu
from ingot.web.merge_requests.lists import merge_request_list
from ingot.web.page_routes import PageResponse, PageRoutes, TemplateResponse, Visit

pages = PageRoutes()
_SCOPES = {
    "reviews_for_me": "Review requests",
    "assigned_to_me": "Assigned to you",
    "created_by_me": "Created by you",
}
_ROWS = 20


class _Section(NamedTuple):
    """Merge requests that wait for the user for one reason."""

    key: str
    name: str
    requests: list[MergeRequestView]
    total: int | None
    address: str = ""
    """URL of the whole list."""


@pages.get("/dashboard/merge_requests")
def list_own_merge_requests(visit: Visit, db: Connection) -> PageResponse:
    """Show all open merge requests of the user by reason, or the list of one of them."""
    scope = str(visit.request.query.get("scope", ""))
    if scope not in _SCOPES:
        return _overview(visit, db)
    context = merge_request_list(
        visit, db, lambda params: visit.ask(merge_requests_api.list_merge_requests, params | {"scope": scope})
    )
    return TemplateResponse("merge_requests/own_list.html", context | _tabs(visit, scope))


def _tabs(visit: Visit, scope: str) -> dict[str, object]:
    return {"scopes": _SCOPES, "scope": scope, "saved": saved_view_menu(visit, None, "merge_requests")}


def _overview(visit: Visit, db: Connection) -> TemplateResponse:
    """Show the sections of the overview; the number of statements does not depend on their rows."""
    params = {"state": "opened", "order_by": "updated_at", "with_labels_details": "true", "per_page": _ROWS}
    listings: dict[str, Listing[MergeRequestView]] = {
        scope: visit.ask(merge_requests_api.list_merge_requests, params | {"scope": scope}) for scope in _SCOPES
    }
    own = {view.id: view for scope in ("assigned_to_me", "created_by_me") for view in listings[scope].items}
    returned = [view for view in own.values() if not view.blocking_discussions_resolved]
    sections = [
        _Section(scope, name, listings[scope].items, listings[scope].total, f"?scope={scope}")
        for scope, name in _SCOPES.items()
    ]
    sections.insert(2, _Section("returned_to_me", "Returned to you", returned, len(returned)))
    rows = {view.id: view for section in sections for view in section.requests}
    context = {
        **_tabs(visit, ""),
        "sections": sections,
        "listed": listed_states(db, visit.viewer.actor, list(rows.values())),
    }
    return TemplateResponse("merge_requests/own_list.html", context)
