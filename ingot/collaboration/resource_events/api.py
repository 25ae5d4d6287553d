"""Endpoints of resource events, declared for each kind of subject that has them."""

from collections.abc import Callable
from typing import Any, NamedTuple

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


class ResourceEventPaths(NamedTuple):
    """Paths of the resource events of one kind of subject."""

    label_events: str
    label_event: str
    milestone_events: str
    milestone_event: str
    state_events: str
    state_event: str


def resource_event_routes(routes: Routes, finder: Finder, paths: ResourceEventPaths) -> None:
    """Declare the label, milestone and state events of the subjects that ``finder`` finds."""
    labels = paths.label_events, paths.label_event
    milestones = paths.milestone_events, paths.milestone_event
    states = paths.state_events, paths.state_event
    _routes_of_kind(routes, finder, labels, "label", LabelEventView, label_event_views)
    _routes_of_kind(routes, finder, milestones, "milestone", MilestoneEventView, milestone_event_views)
    _routes_of_kind(routes, finder, states, "state", StateEventView, state_event_views)


def _routes_of_kind(
    routes: Routes, finder: Finder, paths: tuple[str, str], kind: str, view: Any, views: Callable[..., list[Any]]
) -> None:
    events_path, event_path = paths

    @routes.get(events_path, on=finder, may=policy.may_read_resource_events, returns=list[view])
    def list_events(call: Call, subject_access: SubjectAccess, page: Page) -> Listing[Any]:
        """List the resource events of a subject, oldest first."""
        listing = queries.list_resource_events(call.db, subject_access.subject, kind, page)
        return listing.of(views(call.db, listing.items, call.origin.base))

    @routes.get(event_path, on=finder, may=policy.may_read_resource_events, returns=view)
    def get_event(call: Call, subject_access: SubjectAccess) -> Any:
        """Get a resource event of a subject."""
        event = queries.find_resource_event(call.db, subject_access.subject, kind, call.path["event_id"])
        return views(call.db, [event], call.origin.base)[0]

    # The OpenAPI document needs a distinct operation name for each kind.
    list_events.__name__, get_event.__name__ = f"list_{kind}_events", f"get_{kind}_event"
