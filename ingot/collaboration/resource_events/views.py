"""How what became of things is shown."""

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
    """Who changed something, and when."""

    id: int
    user: UserBrief
    created_at: Timestamp
    resource_type: str
    resource_id: int


class StateEventView(ResourceEventView):
    """Something was closed, or opened again."""

    state: str


class LabelEventView(ResourceEventView):
    """Something was given a label, or lost one; it may be gone altogether since."""

    label: LabelBrief | None
    action: str


class MilestoneEventView(ResourceEventView):
    """Something came to belong to a milestone, or no longer does; it may be gone altogether since."""

    milestone: MilestoneView | None
    action: str


def state_event_views(db: Connection, found: Sequence[ResourceEvent], base: str) -> list[StateEventView]:
    """A page of states."""
    shared = _common_fields(db, found, base)
    return [StateEventView(**shared[event.id], state=event.action) for event in found]


def label_event_views(db: Connection, found: Sequence[ResourceEvent], base: str) -> list[LabelEventView]:
    """A page of labels that came and went, with one statement for all of them."""
    shared = _common_fields(db, found, base)
    given = labels_by_ids(db, sorted({event.label_id for event in found if event.label_id}))
    briefs = {number: label_brief(label) for number, label in given.items()}
    return [
        LabelEventView(**shared[event.id], label=briefs.get(event.label_id or 0), action=event.action)
        for event in found
    ]


def milestone_event_views(db: Connection, found: Sequence[ResourceEvent], base: str) -> list[MilestoneEventView]:
    """A page of milestones that came and went, with one statement for all of them."""
    shared = _common_fields(db, found, base)
    given = milestones_by_ids(db, sorted({event.milestone_id for event in found if event.milestone_id}))
    views = {number: milestone_view(milestone, db.now, base) for number, milestone in given.items()}
    return [
        MilestoneEventView(**shared[event.id], milestone=views.get(event.milestone_id or 0), action=event.action)
        for event in found
    ]


def _common_fields(db: Connection, found: Sequence[ResourceEvent], base: str) -> dict[int, dict[str, Any]]:
    """What all kinds show, by event; one statement for all people."""
    users = users_by_ids(db, [event.user_id for event in found])
    briefs = {number: user_brief(user, base) for number, user in users.items()}
    return {
        event.id: {
            "id": event.id,
            "user": briefs[event.user_id],
            "created_at": event.created_at,
            "resource_type": _TYPES[event.subject_kind],
            "resource_id": event.subject_id,
        }
        for event in found
    }
