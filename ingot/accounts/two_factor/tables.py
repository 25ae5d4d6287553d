"""Tables of second factors, passkeys and recovery codes."""

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

passkeys = Table(
    "passkeys",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    text("name"),
    binary("credential_id", unique=True),
    # The attested credential data of WebAuthn: identifier and public key.
    binary("credential"),
    # Number of signatures that the authenticator has reported; 0 if it does not count.
    number("sign_count"),
    text("created_at"),
    text("last_used_at", nullable=True),
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


class Passkey(Record, frozen=True):
    """A WebAuthn credential: a second factor, or both factors if the authenticator verified its user."""

    id: int
    user_id: int
    name: str
    credential_id: bytes
    credential: bytes
    sign_count: int
    created_at: Timestamp
    last_used_at: Timestamp | None
