"""What is stored of second factors."""

from sqlalchemy import Table

from ingot.core.db.schema import Record, binary, flag, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

second_factors = Table(
    "second_factors",
    metadata,
    row_id(),
    reference("user_id", "users.id", unique=True),
    binary("sealed"),
    flag("enabled"),
    # A code counts for one step of time, and only once.
    number("last_step"),
    text("created_at"),
    sqlite_autoincrement=True,
)

recovery_codes = Table(
    "recovery_codes",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    binary("digest", unique=True),
    sqlite_autoincrement=True,
)


class SecondFactor(Record, frozen=True):
    """The secret that an app and we share; until a first code of it was right it does not count."""

    id: int
    user_id: int
    sealed: bytes
    enabled: bool
    last_step: int
    created_at: Timestamp
