"""Recording below an issue what became of it."""

from typing import Any, Protocol, cast

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.issues.discussions import system_note_texts
from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.notes.service import MentionSource, add_system_note
from ingot.collaboration.resource_events.service import record_label_events, record_milestone_events, record_state_event
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.projects.projects.queries import paths_of_projects

Change = tuple[Any, Any]


class ChangeEvent(Protocol):
    """That something was changed by somebody: an issue, or what lies above."""

    @property
    def actor_id(self) -> int:
        """Who did it."""


def record_opening(db: Connection, event: IssueChanged, issue: Issue) -> None:
    """What an issue carried from its first moment on."""
    subject = subject_of(issue)
    record_label_events(db, event.actor_id, subject, event.labels, ())
    record_milestone_events(db, event.actor_id, subject, None, issue.milestone_id)


def record_changes(db: Connection, event: IssueChanged, issue: Issue) -> None:
    """Write a sentence for each change, in the order in which people think of them."""
    subject = subject_of(issue)
    changes = cast("dict[str, Change]", event.changes)
    for name, record in _RECORDERS.items():
        if name in changes:
            record(db, event, subject, changes[name])


def record_move(db: Connection, actor_id: int, original: Issue, copy: Issue) -> None:
    """Where an issue went, and where it came from; known to those who see that place too."""
    paths = paths_of_projects(db, [original.project_id, copy.project_id])
    for one, other, way in ((original, copy, "to"), (copy, original, "from")):
        text = f"moved {way} {paths[other.project_id]}#{other.iid}"
        add_system_note(
            db, actor_id, subject_of(one), text, "moved", MentionSource("issue", other.id, other.project_id)
        )


def _record_title(
    db: Connection, event: ChangeEvent, subject: Subject, change: Change, *, internal: bool = False
) -> None:
    add_system_note(db, event.actor_id, subject, system_note_texts.title_changed(*change), "title", internal=internal)


def _record_title_of_issue(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    _record_title(db, event, subject, change, internal=event.shows)


def _record_description(db: Connection, event: ChangeEvent, subject: Subject, change: Change) -> None:  # noqa: ARG001 - All records take the same.
    add_system_note(db, event.actor_id, subject, "changed the description", "description")


def _record_confidentiality(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    action = "confidential" if change[1] else "visible"
    add_system_note(db, event.actor_id, subject, system_note_texts.confidentiality_changed(change[1]), action)


def _record_labels(db: Connection, event: ChangeEvent, subject: Subject, change: Change) -> None:
    before, after = change
    added = [number for number in after if number not in before]
    removed = [number for number in before if number not in after]
    record_label_events(db, event.actor_id, subject, added, removed)
    add_system_note(db, event.actor_id, subject, system_note_texts.labels_changed(added, removed), "label")


def _record_assignees(db: Connection, event: ChangeEvent, subject: Subject, change: Change) -> None:
    before, after = change
    users = users_by_ids(db, [*before, *after])
    added = [users[number].username for number in after if number not in before]
    removed = [users[number].username for number in before if number not in after]
    add_system_note(db, event.actor_id, subject, system_note_texts.assignees_changed(added, removed), "assignee")


def _record_milestone(db: Connection, event: ChangeEvent, subject: Subject, change: Change) -> None:
    before, after = change
    title = milestones_by_ids(db, [after])[after].title if after is not None else None
    record_milestone_events(db, event.actor_id, subject, before, after)
    add_system_note(db, event.actor_id, subject, system_note_texts.milestone_changed(title), "milestone")


def _record_due_date(db: Connection, event: ChangeEvent, subject: Subject, change: Change) -> None:
    add_system_note(db, event.actor_id, subject, system_note_texts.due_date_changed(change[1]), "due_date")


def _record_estimate(db: Connection, event: ChangeEvent, subject: Subject, change: Change) -> None:
    add_system_note(db, event.actor_id, subject, system_note_texts.estimate_changed(change[1]), "time_tracking")


def _record_time_spent(db: Connection, event: ChangeEvent, subject: Subject, change: Change) -> None:
    add_system_note(db, event.actor_id, subject, system_note_texts.time_spent_changed(*change), "time_tracking")


def _record_lock(db: Connection, event: ChangeEvent, subject: Subject, change: Change) -> None:
    action = "locked" if change[1] else "unlocked"
    add_system_note(db, event.actor_id, subject, system_note_texts.lock_changed(change[1]), action)


def _record_state(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    text = "closed" if change[1] == "closed" else "reopened"
    record_state_event(db, event.actor_id, subject, text)
    # Who moves an issue closes it by that, and a note of its own says so.
    if event.action == "moved":
        return
    action, source = "closed" if text == "closed" else "opened", None
    if event.cause is not None:
        text = f"{text} via {event.cause.text}"
        source = MentionSource(event.cause.kind, event.cause.id, event.cause.project_id)
    add_system_note(db, event.actor_id, subject, text, action, source)


SHARED_RECORDERS = {
    "title": _record_title,
    "description": _record_description,
    "labels": _record_labels,
    "assignees": _record_assignees,
    "milestone_id": _record_milestone,
    "time_estimate": _record_estimate,
    "total_time_spent": _record_time_spent,
}
"""What is written alike below all that is planned."""
_RECORDERS = {
    "title": _record_title_of_issue,
    "description": _record_description,
    "confidential": _record_confidentiality,
    "labels": _record_labels,
    "assignees": _record_assignees,
    "milestone_id": _record_milestone,
    "due_date": _record_due_date,
    "time_estimate": _record_estimate,
    "total_time_spent": _record_time_spent,
    "discussion_locked": _record_lock,
    "state": _record_state,
}
