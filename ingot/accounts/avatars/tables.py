"""Table of avatars, referenced by the rows of their owners."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, binary, metadata, row_id, text
from ingot.core.db.times import Timestamp

avatars = Table(
    "avatars",
    metadata,
    row_id(),
    text("file_name"),
    text("content_type"),
    binary("content"),
    text("created_at"),
    sqlite_autoincrement=True,
)


class Avatar(Record, frozen=True):
    """A stored image."""

    id: int
    file_name: str
    content_type: str
    content: bytes
    created_at: Timestamp
