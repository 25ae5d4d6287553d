"""Table of audit events."""

from typing import Literal

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, metadata, number, row_id, text
from ingot.core.db.times import Timestamp

EntityType = Literal["Gitlab::Audit::InstanceScope", "Group", "Project"]
"""Kinds of objects that have settings, with GitLab's names."""
INSTANCE: EntityType = "Gitlab::Audit::InstanceScope"

# Events remain when their author or object is deleted, so there are no foreign keys.
audit_events = Table(
    "audit_events",
    metadata,
    row_id(),
    number("author_id"),
    text("author_name"),
    text("entity_type"),
    number("entity_id"),
    text("entity_path"),
    text("attribute"),
    text("old_value", nullable=True),
    text("new_value", nullable=True),
    text("ip_address"),
    text("created_at"),
    sqlite_autoincrement=True,
)
Index("ix_audit_events_entity", audit_events.c.entity_type, audit_events.c.entity_id, audit_events.c.id)


class AuditEvent(Record, frozen=True):
    """Change of one setting; values that are not texts are JSON."""

    id: int
    author_id: int
    author_name: str
    entity_type: EntityType
    entity_id: int
    entity_path: str
    attribute: str
    old_value: str | None
    new_value: str | None
    ip_address: str
    created_at: Timestamp
