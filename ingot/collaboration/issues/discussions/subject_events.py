"""Forwarding of issue events as subject events, for todos, subscriptions and notifications."""

from typing import Any, cast

from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.participants.events import Action, SubjectChanged
from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions, emit

subscriptions = Subscriptions()


@subscriptions.on(IssueChanged)
def emit_subject_changed(db: Connection, event: IssueChanged) -> None:
    """Emit ``SubjectChanged`` for a change of an issue."""
    if event.action == "deleted":
        return
    issue = event.issue or issue_by_id(db, event.issue_id)
    opened = event.action == "opened"
    before, after = cast("tuple[Any, Any]", event.changes.get("assignees", ([], [])))
    labels_before, labels = cast("tuple[Any, Any]", event.changes.get("labels", ([], [])))
    shows = "confidential" in event.changes and not issue.confidential
    if opened:
        after, labels = event.assignees, event.labels
    emit(
        db,
        SubjectChanged(
            subject_of(issue),
            event.actor_id,
            _action(event),
            new_text=_mentionable_text(issue)
            if opened or shows or event.changes.keys() & {"title", "description"}
            else None,
            newly_visible=shows,
            assigned=tuple(changed_id for changed_id in after if changed_id not in before),
            unassigned=tuple(changed_id for changed_id in before if changed_id not in after),
            labelled=tuple(changed_id for changed_id in labels if changed_id not in labels_before),
        ),
    )


def _action(event: IssueChanged) -> Action:
    """Return the action; a move counts as closing if the issue was open."""
    if event.action in ("opened", "updated", "closed", "reopened"):
        return event.action
    return "closed" if "state" in event.changes else "updated"


def _mentionable_text(issue: Issue) -> str:
    """Return the description and the title.

    The description comes first, because users mentioned at the start of a text are addressed directly.
    """
    return f"{issue.description or ''}\n\n{issue.title}"
