"""Recording below a merge request what became of it."""

from collections.abc import Callable
from typing import Any, cast

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.issues.discussions.system_notes import SHARED_RECORDERS, Change
from ingot.collaboration.labels.queries import labels_of
from ingot.collaboration.merge_requests.discussions import system_note_texts
from ingot.collaboration.merge_requests.draft_titles import is_draft
from ingot.collaboration.merge_requests.events import MergeRequestChanged
from ingot.collaboration.merge_requests.filters import KIND
from ingot.collaboration.merge_requests.service import subject_of
from ingot.collaboration.merge_requests.tables import MergeRequest
from ingot.collaboration.notes.service import add_system_note
from ingot.collaboration.resource_events.service import record_label_events, record_milestone_events, record_state_event
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection

ChangeRecorder = Callable[[Connection, Any, Subject, Change], None]
_APPROVAL_TEXTS = {"approved": "approved this merge request", "unapproved": "unapproved this merge request"}


def record_opening(db: Connection, event: MergeRequestChanged, merge_request: MergeRequest) -> None:
    """What a merge request carried from its first moment on."""
    subject = subject_of(merge_request)
    carried = labels_of(db, KIND, [merge_request.id]).get(merge_request.id, [])
    record_label_events(db, event.actor_id, subject, [label.id for label in carried], ())
    record_milestone_events(db, event.actor_id, subject, None, merge_request.milestone_id)


def record_changes(db: Connection, event: MergeRequestChanged, merge_request: MergeRequest) -> None:
    """Write a sentence for each change, in the order in which people think of them."""
    subject = subject_of(merge_request)
    changes = cast("dict[str, Change]", event.changes)
    for name, record in _RECORDERS.items():
        if name in changes:
            record(db, event, subject, changes[name])
    if event.action in _APPROVAL_TEXTS:
        add_system_note(db, event.actor_id, subject, _APPROVAL_TEXTS[event.action], event.action)


def _record_title(db: Connection, event: MergeRequestChanged, subject: Subject, change: Change) -> None:
    before, after = (is_draft(title) for title in change)
    if before != after:
        add_system_note(db, event.actor_id, subject, system_note_texts.draft_changed(after), "title")
    SHARED_RECORDERS["title"](db, event, subject, change)


def _record_reviewers(db: Connection, event: MergeRequestChanged, subject: Subject, change: Change) -> None:
    before, after = change
    users = users_by_ids(db, [*before, *after])
    added = [users[number].username for number in after if number not in before]
    removed = [users[number].username for number in before if number not in after]
    add_system_note(db, event.actor_id, subject, system_note_texts.reviewers_changed(added, removed), "reviewer")


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
    **SHARED_RECORDERS,
    "title": _record_title,
    "reviewers": _record_reviewers,
    "target_branch": _record_target,
    "discussion_locked": _record_lock,
    "state": _record_state,
}
