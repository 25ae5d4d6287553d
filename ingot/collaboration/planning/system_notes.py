"""System notes and resource events for the changes that issues and merge requests share."""

from typing import Any, Protocol

from ingot.accounts.users.queries import users_by_ids
from ingot.collaboration.milestones.queries import milestones_by_ids
from ingot.collaboration.notes.description_versions import DESCRIPTION, DESCRIPTION_CHANGED, record_version
from ingot.collaboration.notes.service import add_system_note
from ingot.collaboration.planning import note_texts
from ingot.collaboration.resource_events.service import record_label_events, record_milestone_events
from ingot.collaboration.subjects import Subject
from ingot.core.db.connection import Connection

Change = tuple[Any, Any]
"""The values before and after."""


class IssuableChange(Protocol):
    """An event that an issuable was changed."""

    @property
    def actor_id(self) -> int:
        """The user who changed it."""


def note_title(
    db: Connection, event: IssuableChange, subject: Subject, change: Change, *, internal: bool = False
) -> None:
    """Add a system note about a new title."""
    add_system_note(db, event.actor_id, subject, note_texts.title_changed(*change), "title", internal=internal)


def note_description(
    db: Connection, event: IssuableChange, subject: Subject, change: Change, *, internal: bool = False
) -> None:
    """Add a system note about a new description, with the version before."""
    note_id = add_system_note(db, event.actor_id, subject, DESCRIPTION_CHANGED, DESCRIPTION)
    record_version(db, note_id, change[0], internal=internal)


def note_labels(db: Connection, event: IssuableChange, subject: Subject, change: Change) -> None:
    """Add a system note and resource events about changed labels."""
    before, after = change
    added = [label_id for label_id in after if label_id not in before]
    removed = [label_id for label_id in before if label_id not in after]
    record_label_events(db, event.actor_id, subject, added, removed)
    add_system_note(db, event.actor_id, subject, note_texts.labels_changed(added, removed), "label")


def note_assignees(db: Connection, event: IssuableChange, subject: Subject, change: Change) -> None:
    """Add a system note about changed assignees."""
    text = note_texts.assignees_changed(*changed_usernames(db, change))
    add_system_note(db, event.actor_id, subject, text, "assignee")


def changed_usernames(db: Connection, change: Change) -> tuple[list[str], list[str]]:
    """Return the usernames of the added and of the removed users."""
    before, after = change
    users = users_by_ids(db, [*before, *after])
    added = [users[user_id].username for user_id in after if user_id not in before]
    removed = [users[user_id].username for user_id in before if user_id not in after]
    return added, removed


def note_milestone(db: Connection, event: IssuableChange, subject: Subject, change: Change) -> None:
    """Add a system note and a resource event about a new milestone."""
    before, after = change
    title = milestones_by_ids(db, [after])[after].title if after is not None else None
    record_milestone_events(db, event.actor_id, subject, before, after)
    add_system_note(db, event.actor_id, subject, note_texts.milestone_changed(title), "milestone")


def note_estimate(db: Connection, event: IssuableChange, subject: Subject, change: Change) -> None:
    """Add a system note about a new time estimate."""
    add_system_note(db, event.actor_id, subject, note_texts.estimate_changed(change[1]), "time_tracking")


def note_time_spent(db: Connection, event: IssuableChange, subject: Subject, change: Change) -> None:
    """Add a system note about a change of the time spent."""
    add_system_note(db, event.actor_id, subject, note_texts.time_spent_changed(*change), "time_tracking")
