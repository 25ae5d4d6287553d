"""Forwarding of merge request events as subject events, for todos, subscriptions and notifications."""

from typing import Any, cast

from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.queries import assignees_and_reviewers_of, merge_request_by_id
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.participants.events import Action, SubjectChanged
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions, emit

subscriptions = Subscriptions()


@subscriptions.on(MergeRequestChanged)
def emit_subject_changed(db: Connection, event: MergeRequestChanged) -> None:
    """Emit ``SubjectChanged`` for a change of a merge request."""
    if event.action == "deleted":
        return
    merge_request = merge_request_by_id(db, event.merge_request_id)
    opened = event.action == "opened"
    before, after = cast("tuple[Any, Any]", event.changes.get("assignees", ([], [])))
    reviewers_before, reviewers = cast("tuple[Any, Any]", event.changes.get("reviewers", ([], [])))
    labels_before, labels = cast("tuple[Any, Any]", event.changes.get("labels", ([], [])))
    if opened:
        after, reviewers = (
            users.get(merge_request.id, []) for users in assignees_and_reviewers_of(db, [merge_request.id])
        )
        labels = [label.id for label in labels_of(db, KIND, [merge_request.id]).get(merge_request.id, [])]
    requests_changes = event.action == "changes_requested"
    text_changed = opened or event.changes.keys() & {"title", "description"}
    emit(
        db,
        SubjectChanged(
            subject_of(merge_request),
            event.actor_id,
            _action(event),
            # The description comes first, because users mentioned at the start of a text are addressed directly.
            new_text=f"{merge_request.description or ''}\n\n{merge_request.title}" if text_changed else None,
            assigned=tuple(changed_id for changed_id in after if changed_id not in before),
            unassigned=tuple(changed_id for changed_id in before if changed_id not in after),
            review_requested=tuple(
                changed_id
                for changed_id in reviewers
                if changed_id not in reviewers_before and (changed_id != event.actor_id or not requests_changes)
            ),
            changes_requested=_people_to_change(merge_request, event) if requests_changes else (),
            labelled=tuple(changed_id for changed_id in labels if changed_id not in labels_before),
        ),
    )


def _people_to_change(merge_request: MergeRequest, event: MergeRequestChanged) -> tuple[int, ...]:
    """Return the author, who should change the merge request, unless the author requested it."""
    return (merge_request.author_id,) if merge_request.author_id != event.actor_id else ()


def _action(event: MergeRequestChanged) -> Action:
    return event.action if event.action in ("opened", "updated", "closed", "reopened", "merged") else "updated"
