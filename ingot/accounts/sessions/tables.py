"""Tables of browser sessions, one-time links and sign-in attempts."""

from typing import Literal

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, binary, flag, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

sessions = Table(
    "sessions",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    binary("digest", unique=True),
    text("ip"),
    text("user_agent"),
    text("created_at"),
    text("expires_at", index=True),
    # Until when an administrator acts as such, where the instance asks for a sign-in for that.
    text("admin_until", nullable=True),
    sqlite_autoincrement=True,
)

one_time_links = Table(
    "one_time_links",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    text("purpose"),
    # The secondary email address that the link confirms; null for the primary one.
    reference("email_id", "emails.id", nullable=True),
    binary("digest", unique=True),
    text("expires_at", index=True),
    sqlite_autoincrement=True,
)

sign_ins = Table(
    "sign_ins",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    text("method"),
    flag("succeeded"),
    text("ip"),
    text("user_agent"),
    text("created_at", index=True),
    sqlite_autoincrement=True,
)
Index("ix_sign_ins_user_id_id", sign_ins.c.user_id, sign_ins.c.id)

user_addresses = Table(
    "user_addresses",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    text("network"),
    text("ends_at", index=True),
    UniqueConstraint("user_id", "network"),
    sqlite_autoincrement=True,
)

Purpose = Literal["password", "confirmation", "unlock"]


class Session(Record, frozen=True):
    """A browser session; only a digest of the cookie is stored."""

    id: int
    user_id: int
    digest: bytes
    ip: str
    user_agent: str
    created_at: Timestamp
    expires_at: Timestamp
    admin_until: Timestamp | None


class OneTimeLink(Record, frozen=True):
    """A link in an email that works once."""

    id: int
    user_id: int
    purpose: Purpose
    email_id: int | None
    digest: bytes
    expires_at: Timestamp


class SignInAttempt(Record, frozen=True):
    """A successful or failed attempt to sign in to an account."""

    id: int
    user_id: int
    method: str
    succeeded: bool
    ip: str
    user_agent: str
    created_at: Timestamp


class UserAddress(Record, frozen=True):
    """A network from which a user has used the server, and until when it counts for the limit of their number."""

    id: int
    user_id: int
    network: str
    ends_at: Timestamp
