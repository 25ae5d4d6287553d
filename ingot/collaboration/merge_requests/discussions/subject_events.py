"""Telling of merge requests as of any subject: to whoever lets people look at them, follow them and read of them."""

from typing import Any, cast

from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.queries import assignees_of, merge_request_by_id
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.participants.events import Action, SubjectChanged
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions, emit

subscriptions = Subscriptions()


@subscriptions.on(MergeRequestChanged)
def emit_subject_changed(db: Connection, event: MergeRequestChanged) -> None:
    """Whatever happens to a merge request happens to a subject."""
    if event.action == "deleted":
        return
    merge_request = merge_request_by_id(db, event.merge_request_id)
    opened = event.action == "opened"
    before, after = cast("tuple[Any, Any]", event.changes.get("assignees", ([], [])))
    marked_before, marked = cast("tuple[Any, Any]", event.changes.get("labels", ([], [])))
    if opened:
        after = assignees_of(db, [merge_request.id]).get(merge_request.id, [])
        marked = [label.id for label in labels_of(db, KIND, [merge_request.id]).get(merge_request.id, [])]
    said = opened or event.changes.keys() & {"title", "description"}
    emit(
        db,
        SubjectChanged(
            subject_of(merge_request),
            event.actor_id,
            _action(event),
            # The description first: whom it begins with is spoken to.
            new_text=f"{merge_request.description or ''}\n\n{merge_request.title}" if said else None,
            assigned=tuple(number for number in after if number not in before),
            unassigned=tuple(number for number in before if number not in after),
            labelled=tuple(number for number in marked if number not in marked_before),
        ),
    )


def _action(event: MergeRequestChanged) -> Action:
    return event.action if event.action in ("opened", "updated", "closed", "reopened", "merged") else "updated"
