"""System notes and resource events of merge requests."""

from collections.abc import Callable
from typing import Any, cast

from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.merge_requests.discussions import system_note_texts
from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.notes.service import add_system_note
from ingot.collaboration.planning.system_notes import (
    Change,
    changed_usernames,
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

ChangeRecorder = Callable[[Connection, Any, Subject, Change], None]
_APPROVAL_TEXTS = {
    "approved": "approved this merge request",
    "unapproved": "unapproved this merge request",
    "changes_requested": "requested changes",
}
_NOTE_ACTIONS = {"changes_requested": "requested_changes"}
"""Names of system notes by event, where they differ."""


def record_opening(db: Connection, event: MergeRequestChanged, merge_request: MergeRequest) -> None:
    """Record the labels and the milestone of a new merge request as resource events."""
    subject = subject_of(merge_request)
    labels = labels_of(db, KIND, [merge_request.id]).get(merge_request.id, [])
    record_label_events(db, event.actor_id, subject, [label.id for label in labels], ())
    record_milestone_events(db, event.actor_id, subject, None, merge_request.milestone_id)


def record_changes(db: Connection, event: MergeRequestChanged, merge_request: MergeRequest) -> None:
    """Add a system note for each change, always in the same order."""
    subject = subject_of(merge_request)
    changes = cast("dict[str, Change]", event.changes)
    for name, record in _RECORDERS.items():
        if name in changes:
            record(db, event, subject, changes[name])
    if event.action in _APPROVAL_TEXTS:
        add_system_note(
            db, event.actor_id, subject, _APPROVAL_TEXTS[event.action], _NOTE_ACTIONS.get(event.action, event.action)
        )


def _record_title(db: Connection, event: MergeRequestChanged, subject: Subject, change: Change) -> None:
    before, after = (is_draft(title) for title in change)
    if before != after:
        add_system_note(db, event.actor_id, subject, system_note_texts.draft_changed(after), "title")
    note_title(db, event, subject, change)


def _record_reviewers(db: Connection, event: MergeRequestChanged, subject: Subject, change: Change) -> None:
    text = system_note_texts.reviewers_changed(*changed_usernames(db, change))
    add_system_note(db, event.actor_id, subject, text, "reviewer")


def _record_target(db: Connection, event: MergeRequestChanged, subject: Subject, change: Change) -> None:
    add_system_note(db, event.actor_id, subject, system_note_texts.target_changed(*change), "branch")


def _record_lock(db: Connection, event: MergeRequestChanged, subject: Subject, change: Change) -> None:
    action = "locked" if change[1] else "unlocked"
    add_system_note(db, event.actor_id, subject, system_note_texts.lock_changed(change[1]), action)


def _record_state(db: Connection, event: MergeRequestChanged, subject: Subject, change: Change) -> None:
    text = "reopened" if change[1] == "opened" else change[1]
    record_state_event(db, event.actor_id, subject, text)
    add_system_note(db, event.actor_id, subject, text, "opened" if text == "reopened" else text)


_RECORDERS: dict[str, ChangeRecorder] = {
    "title": _record_title,
    "description": note_description,
    "labels": note_labels,
    "assignees": note_assignees,
    "milestone_id": note_milestone,
    "time_estimate": note_estimate,
    "total_time_spent": note_time_spent,
    "reviewers": _record_reviewers,
    "target_branch": _record_target,
    "discussion_locked": _record_lock,
    "state": _record_state,
}
