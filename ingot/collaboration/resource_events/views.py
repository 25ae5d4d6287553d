"""Response structs of resource events."""

from collections.abc import Sequence
from typing import Any

from ingot.accounts.users.queries import users_by_ids
from ingot.accounts.users.views import UserBrief, user_brief
from ingot.collaboration.labels.views import LabelBrief, label_brief
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.milestones.views import MilestoneView, milestone_view
from ingot.collaboration.resource_events.queries import labels_by_ids
from ingot.collaboration.resource_events.tables import ResourceEvent
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp

_TYPES = {"issue": "Issue", "merge_request": "MergeRequest"}


class ResourceEventView(View):
    """The fields that all resource events share."""

    id: int
    user: UserBrief
    created_at: Timestamp
    resource_type: str
    resource_id: int


class StateEventView(ResourceEventView):
    """A change of the state."""

    state: str


class LabelEventView(ResourceEventView):
    """An added or removed label; ``label`` is null if it has been deleted since."""

    label: LabelBrief | None
    action: str


class MilestoneEventView(ResourceEventView):
    """An added or removed milestone; ``milestone`` is null if it has been deleted since."""

    milestone: MilestoneView | None
    action: str


def state_event_views(db: Connection, events: Sequence[ResourceEvent], base: str) -> list[StateEventView]:
    """Build the views of a page of state events."""
    common = _common_fields(db, events, base)
    return [StateEventView(**common[event.id], state=event.action) for event in events]


def label_event_views(db: Connection, events: Sequence[ResourceEvent], base: str) -> list[LabelEventView]:
    """Build the views of a page of label events, with one statement for all labels."""
    common = _common_fields(db, events, base)
    labels = labels_by_ids(db, sorted({event.label_id for event in events if event.label_id}))
    briefs = {label_id: label_brief(label) for label_id, label in labels.items()}
    return [
        LabelEventView(**common[event.id], label=briefs.get(event.label_id or 0), action=event.action)
        for event in events
    ]


def milestone_event_views(db: Connection, events: Sequence[ResourceEvent], base: str) -> list[MilestoneEventView]:
    """Build the views of a page of milestone events, with one statement for all milestones."""
    common = _common_fields(db, events, base)
    milestones = milestones_by_ids(db, sorted({event.milestone_id for event in events if event.milestone_id}))
    views = {milestone_id: milestone_view(milestone, db.today, base) for milestone_id, milestone in milestones.items()}
    return [
        MilestoneEventView(**common[event.id], milestone=views.get(event.milestone_id or 0), action=event.action)
        for event in events
    ]


def _common_fields(db: Connection, events: Sequence[ResourceEvent], base: str) -> dict[int, dict[str, Any]]:
    """Return the shared fields by event id, with one statement for all users."""
    users = users_by_ids(db, [event.user_id for event in events])
    briefs = {user_id: user_brief(user, base) for user_id, user in users.items()}
    return {
        event.id: {
            "id": event.id,
            "user": briefs[event.user_id],
            "created_at": event.created_at,
            "resource_type": _TYPES[event.subject_kind],
            "resource_id": event.subject_id,
        }
        for event in events
    }
