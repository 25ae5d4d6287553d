"""State changes of the timelines of incidents."""

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, delete, func, select

from ingot.accounts.users.queries import find_user
from ingot.collaboration.issues.tables import Issue
from ingot.collaboration.issues.timeline.policy import INCIDENT, SEVERITIES
from ingot.collaboration.issues.timeline.queries import find_event, tags_of_project
from ingot.collaboration.issues.timeline.tables import (
    TimelineEvent,
    TimelineEventTag,
    timeline_event_tags,
    timeline_events,
)
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Invalid

MAX_NOTE_LENGTH = 280
MAX_PROMOTED_LENGTH = 10_000
MAX_TAG_LENGTH = 255
MAX_TAGS = 100
MAX_EVENTS = 1_000
PREDEFINED_TAGS = (
    "Start time",
    "End time",
    "Impact detected",
    "Response initiated",
    "Impact mitigated",
    "Cause identified",
)
"""Tags that every project has as soon as an event uses them."""
_DELETE = delete(timeline_events).where(timeline_events.c.id == bindparam("event"))
_COUNT = select(func.count()).select_from(timeline_events).where(timeline_events.c.issue_id == bindparam("issue"))


def add_event(
    db: Connection,
    actor: Actor,
    incident: Issue,
    note: str,
    occurred_at: Timestamp,
    tags: Sequence[str] = (),
    promoted_from_note_id: int | None = None,
) -> TimelineEvent:
    """Add an event to the timeline of an incident; a promoted comment may be longer than a text of a user."""
    if incident.issue_type != INCIDENT:
        raise Invalid("Timeline events can only be added to incidents")
    if has_full_timeline(db, incident):
        raise Invalid(f"The timeline has {MAX_EVENTS} events already")
    _validate_note(note, MAX_NOTE_LENGTH if promoted_from_note_id is None else MAX_PROMOTED_LENGTH)
    event_id = db.insert(
        timeline_events,
        issue_id=incident.id,
        author_id=actor.user_id,
        promoted_from_note_id=promoted_from_note_id,
        note=note,
        tags=_ensure_tags(db, incident.project_id, tags),
        occurred_at=occurred_at,
        created_at=db.now,
        updated_at=db.now,
        action="comment",
    )
    return find_event(db, event_id)


def has_full_timeline(db: Connection, incident: Issue) -> bool:
    """Return whether no more events can be added."""
    return bool(db.value(_COUNT, issue=incident.id) >= MAX_EVENTS)


def record_severity(db: Connection, actor_id: int, incident: Issue) -> None:
    """Add an event that tells who has changed the severity, unless the timeline is full."""
    if has_full_timeline(db, incident):
        return
    user = find_user(db, actor_id)
    db.insert_row(
        timeline_events,
        issue_id=incident.id,
        author_id=actor_id,
        note=f"@{user.username} changed the incident severity to **{SEVERITIES[incident.severity]}**",
        tags="[]",
        occurred_at=db.now,
        created_at=db.now,
        updated_at=db.now,
        action="severity",
    )


def edit_event(
    db: Connection,
    actor: Actor,
    incident: Issue,
    event_id: int,
    *,
    note: str | None = None,
    occurred_at: Timestamp | None = None,
    tags: Sequence[str] | None = None,
) -> TimelineEvent:
    """Change the text, the time or the tags of an event; None leaves them."""
    event = find_event(db, event_id, incident.id)
    columns: dict[str, Any] = {} if occurred_at is None else {"occurred_at": occurred_at}
    if note is not None and note != event.note:
        _validate_note(note, MAX_NOTE_LENGTH)
        columns["note"] = note
    if tags is not None:
        columns["tags"] = _ensure_tags(db, incident.project_id, tags)
    db.update(timeline_events, event.id, **columns, updated_by_id=actor.user_id, updated_at=db.now)
    return find_event(db, event.id)


def delete_event(db: Connection, incident: Issue, event_id: int) -> TimelineEvent:
    """Delete an event and return it."""
    event = find_event(db, event_id, incident.id)
    db.run(_DELETE, event=event.id)
    return event


def add_tag(db: Connection, project_id: int, name: str) -> TimelineEventTag:
    """Add a tag to a project."""
    name = name.strip()
    if not name or len(name) > MAX_TAG_LENGTH:
        raise Invalid(name=[f"must have 1 to {MAX_TAG_LENGTH} characters"])
    tags = tags_of_project(db, project_id)
    if name.casefold() in {each.name.casefold() for each in tags}:
        raise Invalid(name=["has already been taken"])
    if len(tags) >= MAX_TAGS:
        raise Invalid(f"The project has {MAX_TAGS} tags already")
    return TimelineEventTag(db.insert(timeline_event_tags, project_id=project_id, name=name), project_id, name)


def _validate_note(note: str, max_length: int) -> None:
    if not note.strip():
        raise Invalid(timeline_text=["can't be blank"])
    if len(note) > max_length:
        raise Invalid(timeline_text=[f"is too long (maximum is {max_length} characters)"])


def _ensure_tags(db: Connection, project_id: int, names: Sequence[str]) -> str:
    """Return the stored form of tags, whose case does not matter; predefined ones are added to the project."""
    if not names:
        return "[]"
    existing = {tag.name.casefold(): tag.name for tag in tags_of_project(db, project_id)}
    predefined = {name.casefold(): name for name in PREDEFINED_TAGS}
    keys = list(dict.fromkeys(name.casefold() for name in names))
    unknown = [name for name in names if name.casefold() not in existing and name.casefold() not in predefined]
    if unknown:
        raise Invalid(f"Following tags don't exist: {json.dumps(unknown[:20])}")
    for key in keys:
        if key not in existing:
            existing[key] = predefined[key]
            db.insert_row(timeline_event_tags, project_id=project_id, name=predefined[key])
    return json.dumps([existing[key] for key in keys])
