"""Tables of instance settings, broadcast messages and throttles."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, metadata, number, row_id, text
from ingot.core.db.times import Timestamp

instance_settings = Table(
    "instance_settings",
    metadata,
    row_id(),
    text("document"),
    text("created_at"),
    text("updated_at"),
)

broadcast_messages = Table(
    "broadcast_messages",
    metadata,
    row_id(),
    text("message"),
    text("starts_at"),
    text("ends_at"),
    text("color"),
    text("font"),
    sqlite_autoincrement=True,
)

throttles = Table(
    "throttles",
    metadata,
    row_id(),
    text("key", unique=True),
    text("ends_at", index=True),
    number("count"),
    sqlite_autoincrement=True,
)


class StoredSettings(Record, frozen=True):
    """The single row of settings; ``document`` holds those that differ from the defaults."""

    id: int
    document: str
    created_at: Timestamp
    updated_at: Timestamp


class BroadcastMessage(Record, frozen=True):
    """A message that every page shows for a period."""

    id: int
    message: str
    starts_at: Timestamp
    ends_at: Timestamp
    color: str
    font: str


class Throttle(Record, frozen=True):
    """Counter of attempts in a time window."""

    id: int
    key: str
    ends_at: Timestamp
    count: int
