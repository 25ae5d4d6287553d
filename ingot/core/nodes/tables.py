"""Table of the roles that nodes serve."""

from sqlalchemy import Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, row_id, text
from ingot.core.db.times import Timestamp

nodes = Table(
    "nodes",
    metadata,
    row_id(),
    text("name"),
    text("role"),
    text("address"),
    text("version"),
    number("clock_offset_ms"),
    text("started_at"),
    text("last_seen_at"),
    text("expires_at"),
    UniqueConstraint("name", "role"),
    sqlite_autoincrement=True,
)


class NodeRole(Record, frozen=True):
    """A role that a node serves."""

    id: int
    name: str
    role: str
    address: str
    version: str
    clock_offset_ms: int
    """Milliseconds by which the clock of the node is ahead of the database server's."""
    started_at: Timestamp
    last_seen_at: Timestamp
    expires_at: Timestamp
    """Time at which the node counts as offline unless it has reported again."""
