"""What is stored of what people did."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

MILESTONE = "milestone"
SNIPPET = "snippet"
"""What is no subject and yet a target."""

events = Table(
    "events",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("author_id", "users.id"),
    text("action"),
    # What was made or changed; nothing for what happened to the project itself.
    text("target_kind", nullable=True),
    number("target_id", nullable=True),
    # Who may see this may see the event: the target itself, or what a note is about.
    text("subject_kind", nullable=True),
    number("subject_id", nullable=True),
    # Of a push: the reference, and what came by it, as JSON.
    text("push", nullable=True),
    text("created_at"),
    Index("ix_events_project_id", "project_id", "id"),
    Index("ix_events_author_id", "author_id", "id"),
    Index("ix_events_target_kind_target_id", "target_kind", "target_id"),
    sqlite_autoincrement=True,
)


class ActivityEvent(Record, frozen=True):
    """Something that somebody did."""

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
