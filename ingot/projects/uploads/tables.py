"""What is stored of uploads; their content is a file."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

uploads = Table(
    "uploads",
    metadata,
    row_id(),
    reference("project_id", "projects.id", index=True),
    reference("user_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    text("secret", unique=True),
    text("name"),
    number("size"),
    text("created_at"),
    sqlite_autoincrement=True,
)


class StoredUpload(Record, frozen=True):
    """A file that somebody uploaded."""

    id: int
    project_id: int
    user_id: int | None
    secret: str
    """Part of its address, so that only those who were given it find the file."""
    name: str
    size: int
    created_at: Timestamp
