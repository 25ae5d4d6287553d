"""Tables of second factors and recovery codes."""

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
    # Last time step whose code was used: a code is accepted only once.
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
    """A secret shared with an authenticator app; not enabled until its first code has been verified."""

    id: int
    user_id: int
    sealed: bytes
    enabled: bool
    last_step: int
    created_at: Timestamp
