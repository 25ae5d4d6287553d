"""Tables of the timelines of incidents."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

timeline_events = Table(
    "timeline_events",
    metadata,
    row_id(),
    reference("issue_id", "issues.id"),
    reference("author_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    reference("updated_by_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    reference("promoted_from_note_id", "notes.id", ondelete="SET NULL", nullable=True, index=True),
    text("note"),
    # JSON list of names; the project has a tag of each name.
    text("tags"),
    text("occurred_at"),
    text("created_at"),
    text("updated_at"),
    # "comment" for events of users, "severity" for those of the server.
    text("action", server_default="comment"),
    Index("ix_timeline_events_issue_id", "issue_id", "occurred_at", "id"),
    sqlite_autoincrement=True,
)

timeline_event_tags = Table(
    "timeline_event_tags",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("name"),
    UniqueConstraint("project_id", "name"),
    sqlite_autoincrement=True,
)


class TimelineEvent(Record, frozen=True):
    """An event during an incident."""

    id: int
    issue_id: int
    author_id: int | None
    updated_by_id: int | None
    promoted_from_note_id: int | None
    note: str
    tags: str
    occurred_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp
    action: str


class TimelineEventTag(Record, frozen=True):
    """A tag that events of a project may have."""

    id: int
    project_id: int
    name: str
