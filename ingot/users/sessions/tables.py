"""Sessions of browsers, and links that work once."""

from typing import Literal

from sqlalchemy import Table

from ingot.db.schema import Record, binary, metadata, reference, row_id, text
from ingot.db.times import Timestamp

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
