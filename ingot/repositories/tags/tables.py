"""Table of releases; tags themselves are stored in git."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

# A release belongs to the tag with this name and is deleted with it.
releases = Table(
    "releases",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("author_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("tag"),
    text("name", nullable=True),
    text("description", nullable=True),
    text("created_at"),
    text("released_at"),
    UniqueConstraint("project_id", "tag"),
    Index("ix_releases_released_at", "project_id", "released_at", "id"),
    sqlite_autoincrement=True,
)


class Release(Record, frozen=True):
    """Release of a tag."""

    id: int
    project_id: int
    author_id: int | None
    tag: str
    name: str | None
    description: str | None
    created_at: Timestamp
    released_at: Timestamp
