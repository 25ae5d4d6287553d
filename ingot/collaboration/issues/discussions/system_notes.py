"""System notes and resource events of issues."""

from typing import cast

from ingot.collaboration.issues.discussions import system_note_texts
from ingot.collaboration.issues.events import IssueChanged
from ingot.collaboration.issues.queries import issue_by_id
from ingot.collaboration.issues.service import subject_of
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.timeline.service import record_severity
from ingot.collaboration.notes.service import MentionSource, add_system_note
from ingot.collaboration.planning.system_notes import (
    Change,
    note_assignees,
    note_description,
    note_estimate,
    note_labels,
    note_milestone,
    note_time_spent,
    note_title,
)
from ingot.collaboration.resource_events.service import record_label_events, record_milestone_events, record_state_event
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection
from ingot.projects.projects.queries import paths_of_projects


def record_opening(db: Connection, event: IssueChanged, issue: Issue) -> None:
    """Record the labels and the milestone of a new issue as resource events."""
    subject = subject_of(issue)
    record_label_events(db, event.actor_id, subject, event.labels, ())
    record_milestone_events(db, event.actor_id, subject, None, issue.milestone_id)


def record_changes(db: Connection, event: IssueChanged, issue: Issue) -> None:
    """Add a system note for each change, always in the same order."""
    subject = subject_of(issue)
    changes = cast("dict[str, Change]", event.changes)
    for name, record in _RECORDERS.items():
        if name in changes:
            record(db, event, subject, changes[name])


def record_move(db: Connection, actor_id: int, original: Issue, copy: Issue) -> None:
    """Add system notes to both issues of a move; only users who may see the other project can read them."""
    paths = paths_of_projects(db, [original.project_id, copy.project_id])
    for issue, other, direction in ((original, copy, "to"), (copy, original, "from")):
        text = f"moved {direction} {paths[other.project_id]}#{other.iid}"
        add_system_note(
            db, actor_id, subject_of(issue), text, "moved", MentionSource("issue", other.id, other.project_id)
        )


def _record_title_of_issue(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    note_title(db, event, subject, change, internal=event.was_confidential)


def _record_description(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    confidential = event.was_confidential or (event.issue is not None and event.issue.confidential)
    note_description(db, event, subject, change, internal=confidential)


def _record_confidentiality(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    action = "confidential" if change[1] else "visible"
    add_system_note(db, event.actor_id, subject, system_note_texts.confidentiality_changed(change[1]), action)


def _record_type(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    add_system_note(db, event.actor_id, subject, system_note_texts.type_changed(*change), "issue_type")


def _record_severity(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    severity = str(change[1])
    add_system_note(db, event.actor_id, subject, system_note_texts.severity_changed(severity), "severity")
    if event.issue is not None:
        record_severity(db, event.actor_id, event.issue)


def _record_parent(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    for parent_id, verb in zip(change, ("removed", "added"), strict=True):
        if isinstance(parent_id, int):
            parent = issue_by_id(db, parent_id)
            text = f"{verb} #{parent.iid} as parent issue"
            source = MentionSource("issue", parent.id, parent.project_id)
            add_system_note(db, event.actor_id, subject, text, "relate_to_parent", source)


def _record_due_date(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    add_system_note(db, event.actor_id, subject, system_note_texts.due_date_changed(change[1]), "due_date")


def _record_lock(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    action = "locked" if change[1] else "unlocked"
    add_system_note(db, event.actor_id, subject, system_note_texts.lock_changed(change[1]), action)


def _record_state(db: Connection, event: IssueChanged, subject: Subject, change: Change) -> None:
    text = "closed" if change[1] == "closed" else "reopened"
    record_state_event(db, event.actor_id, subject, text)
    # A move closes the original issue, and has a system note of its own.
    if event.action == "moved":
        return
    action, source = "closed" if text == "closed" else "opened", None
    if event.cause is not None:
        text = f"{text} via {event.cause.text}"
        source = MentionSource(event.cause.kind, event.cause.id, event.cause.project_id)
    add_system_note(db, event.actor_id, subject, text, action, source)


_RECORDERS = {
    "title": _record_title_of_issue,
    "description": _record_description,
    "confidential": _record_confidentiality,
    "labels": note_labels,
    "assignees": note_assignees,
    "milestone_id": note_milestone,
    "due_date": _record_due_date,
    "issue_type": _record_type,
    "severity": _record_severity,
    "parent_id": _record_parent,
    "time_estimate": note_estimate,
    "total_time_spent": note_time_spent,
    "discussion_locked": _record_lock,
    "state": _record_state,
}
