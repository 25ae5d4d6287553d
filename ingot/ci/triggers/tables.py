"""Table of pipeline triggers."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, binary, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

triggers = Table(
    "triggers",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    reference("owner_id", "users.id", ondelete="SET NULL", nullable=True),
    text("description"),
    # The owner can read the token; requests with a token are looked up by its digest.
    binary("sealed_token"),
    binary("digest", unique=True),
    text("created_at"),
    text("updated_at"),
    text("last_used", nullable=True),
    Index("ix_triggers_project_id", "project_id", "id"),
    sqlite_autoincrement=True,
)


class Trigger(Record, frozen=True):
    """A trigger with the fields of its owner that responses show."""

    id: int
    project_id: int
    owner_id: int | None
    description: str
    sealed_token: bytes
    digest: bytes
    created_at: Timestamp
    updated_at: Timestamp
    last_used: Timestamp | None
    username: str | None
    name: str | None
    state: str | None
    avatar_id: int | None
    avatar_file: str | None
    bot: bool | None
