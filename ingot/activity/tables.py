"""Table of activity events."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

MILESTONE = "milestone"
SNIPPET = "snippet"
"""Event targets that are not subjects."""

events = Table(
    "events",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("author_id", "users.id"),
    text("action"),
    # The created or changed object; null for events of the project itself.
    text("target_kind", nullable=True),
    number("target_id", nullable=True),
    # Decides who may see the event: the target itself, or the subject of a note.
    text("subject_kind", nullable=True),
    number("subject_id", nullable=True),
    # For a push: the ref and its commits, as JSON.
    text("push", nullable=True),
    text("created_at"),
    Index("ix_events_project_id", "project_id", "id"),
    Index("ix_events_author_id", "author_id", "id"),
    Index("ix_events_target_kind_target_id", "target_kind", "target_id"),
    sqlite_autoincrement=True,
)


class ActivityEvent(Record, frozen=True):
    """An action of a user."""

    id: int
    project_id: int
    author_id: int
    action: str
    target_kind: str | None
    target_id: int | None
    subject_kind: str | None
    subject_id: int | None
    push: str | None
    created_at: Timestamp
