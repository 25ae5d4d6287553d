"""Table and record of the bot users of project and group access tokens."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, index_where, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# Exactly one of project and group is set.
token_bots = Table(
    "token_bots",
    metadata,
    row_id(),
    reference("user_id", "users.id", unique=True),
    reference("project_id", "projects.id", nullable=True, index=True),
    reference("group_id", "namespaces.id", nullable=True, index=True),
    reference("creator_id", "users.id", ondelete="SET NULL", nullable=True, index=True),
    number("access_level"),
    text("description"),
    text("created_at"),
    # When its last token was revoked or had expired; the user is deleted a month later.
    text("ended_at", nullable=True),
    sqlite_autoincrement=True,
)
Index("ix_token_bots_ended_at", token_bots.c.ended_at, **index_where("ended_at IS NOT NULL"))


class TokenBot(Record, frozen=True):
    """Bot user of an access token and of the tokens that replaced it."""

    id: int
    user_id: int
    project_id: int | None
    group_id: int | None
    creator_id: int | None
    access_level: int
    description: str
    created_at: Timestamp
    ended_at: Timestamp | None
