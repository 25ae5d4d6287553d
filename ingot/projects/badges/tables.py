"""Table and record of badges."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

# Exactly one of project and group is set.
badges = Table(
    "badges",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    text("name", nullable=True),
    text("link_url"),
    text("image_url"),
    text("created_at"),
    sqlite_autoincrement=True,
)


class Badge(Record, frozen=True):
    """Badge; the URLs may contain placeholders."""

    id: int
    project_id: int | None
    group_id: int | None
    name: str | None
    link_url: str
    image_url: str
    created_at: Timestamp
