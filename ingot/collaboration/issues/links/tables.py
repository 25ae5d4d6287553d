"""Table and record of links between issues."""

from typing import Literal

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

StoredLinkType = Literal["relates_to", "blocks"]
LinkType = Literal["relates_to", "blocks", "is_blocked_by"]
"""Relation of an issue to another one, as seen from the first."""

# The source blocks the target; a link that only relates the two has no direction.
issue_links = Table(
    "issue_links",
    metadata,
    row_id(),
    reference("source_id", "issues.id"),
    reference("target_id", "issues.id", index=True),
    text("link_type"),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("source_id", "target_id"),
    sqlite_autoincrement=True,
)


class IssueLink(Record, frozen=True):
    """Row of ``issue_links``."""

    id: int
    source_id: int
    target_id: int
    link_type: StoredLinkType
    created_at: Timestamp
    updated_at: Timestamp
