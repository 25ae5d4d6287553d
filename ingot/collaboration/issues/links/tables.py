"""Table and record of links between issues."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

# A link has no direction; its source is the issue on which it was created.
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
    link_type: str
    created_at: Timestamp
    updated_at: Timestamp
