"""Table of moves of repositories between storages."""

from typing import Literal

from sqlalchemy import Table

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

MoveState = Literal["scheduled", "started", "finished", "failed"]

repository_storage_moves = Table(
    "repository_storage_moves",
    metadata,
    row_id(),
    reference("project_id", "projects.id", index=True),
    text("state"),
    text("source_storage_name"),
    text("destination_storage_name"),
    text("error_message", nullable=True),
    text("created_at"),
    sqlite_autoincrement=True,
)


class StorageMove(Record, frozen=True):
    """A move of a project's repository to another storage."""

    id: int
    project_id: int
    state: MoveState
    source_storage_name: str
    destination_storage_name: str
    error_message: str | None
    created_at: Timestamp
