"""Telling of issues as of any subject: to whoever lets people look at them, follow them and read of them."""

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
    """Whatever happens to an issue happens to a subject."""
    if event.action == "deleted":
        return
    issue = event.issue or issue_by_id(db, event.issue_id)
    opened = event.action == "opened"
    before, after = cast("tuple[Any, Any]", event.changes.get("assignees", ([], [])))
    marked_before, marked = cast("tuple[Any, Any]", event.changes.get("labels", ([], [])))
    shows = "confidential" in event.changes and not issue.confidential
    if opened:
        after, marked = event.assignees, event.labels
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
            assigned=tuple(number for number in after if number not in before),
            unassigned=tuple(number for number in before if number not in after),
            labelled=tuple(number for number in marked if number not in marked_before),
        ),
    )


def _action(event: IssueChanged) -> Action:
    """Who moves an issue closes it by that, where it was open."""
    if event.action in ("opened", "updated", "closed", "reopened"):
        return event.action
    return "closed" if "state" in event.changes else "updated"


def _mentionable_text(issue: Issue) -> str:
    """The description first: whom it begins with is spoken to."""
    return f"{issue.description or ''}\n\n{issue.title}"
