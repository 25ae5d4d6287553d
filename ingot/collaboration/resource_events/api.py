"""Endpoints for resource events, declared once for each kind of subject."""

from collections.abc import Callable
from typing import Any

from ingot.collaboration.resource_events import policy, queries
from ingot.collaboration.resource_events.views import (
    LabelEventView,
    MilestoneEventView,
    StateEventView,
    label_event_views,
    milestone_event_views,
    state_event_views,
)
from ingot.collaboration.subjects import SubjectAccess
from ingot.core.api.routes import Call, Finder, Routes
from ingot.core.db.paging import Listing, Page


def resource_event_routes(routes: Routes, path: str, finder: Finder) -> None:
    """Declare the endpoints for the resource events of the subjects that ``finder`` finds, below ``path``."""
    _routes_of_kind(routes, f"{path}/resource_label_events", finder, "label", LabelEventView, label_event_views)
    _routes_of_kind(
        routes, f"{path}/resource_milestone_events", finder, "milestone", MilestoneEventView, milestone_event_views
    )
    _routes_of_kind(routes, f"{path}/resource_state_events", finder, "state", StateEventView, state_event_views)


def _routes_of_kind(
    routes: Routes, path: str, finder: Finder, kind: str, view: Any, views: Callable[..., list[Any]]
) -> None:
    @routes.get(path, on=finder, may=policy.may_read_resource_events, returns=list[view])
    def list_events(call: Call, subject_access: SubjectAccess, page: Page) -> Listing[Any]:
        """List the resource events of a subject, oldest first."""
        listing = queries.list_resource_events(call.db, subject_access.subject, kind, page)
        return listing.of(views(call.db, listing.items, call.origin.base))

    @routes.get(f"{path}/:event_id", on=finder, may=policy.may_read_resource_events, returns=view)
    def get_event(call: Call, subject_access: SubjectAccess) -> Any:
        """Get a resource event of a subject."""
        event = queries.find_resource_event(call.db, subject_access.subject, kind, call.path["event_id"])
        return views(call.db, [event], call.origin.base)[0]

    # The handler names are the operation ids of the OpenAPI document, which must be unique.
    list_events.__name__, get_event.__name__ = f"list_{kind}_events", f"get_{kind}_event"
