"""Sessions of browsers, and links that work once."""

from typing import Literal

from sqlalchemy import Index, Table

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
    sqlite_autoincrement=True,
)

one_time_links = Table(
    "one_time_links",
    metadata,
    row_id(),
    reference("user_id", "users.id", index=True),
    text("purpose"),
    # Which of the user's further addresses a link confirms; without one it is the first.
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

Purpose = Literal["password", "confirmation"]


class Session(Record, frozen=True):
    """A browser in which somebody signed in; the cookie's value itself is not kept."""

    id: int
    user_id: int
    digest: bytes
    ip: str
    user_agent: str
    created_at: Timestamp
    expires_at: Timestamp


class OneTimeLink(Record, frozen=True):
    """Something that a mail lets its reader do once."""

    id: int
    user_id: int
    purpose: Purpose
    email_id: int | None
    digest: bytes
    expires_at: Timestamp


class SignInAttempt(Record, frozen=True):
    """A try to sign in to somebody's account."""

    id: int
    user_id: int
    method: str
    succeeded: bool
    ip: str
    user_agent: str
    created_at: Timestamp
