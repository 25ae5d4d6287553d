"""Table and record of uploads; the content is stored in files."""

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
    """Uploaded file."""

    id: int
    project_id: int
    user_id: int | None
    secret: str
    """Part of the URL, so that the file cannot be found by guessing."""
    name: str
    size: int
    created_at: Timestamp
