"""Queries of avatars."""

from sqlalchemy import bindparam, select

from ingot.accounts.avatars.tables import Avatar, avatars
from ingot.core.db.connection import Connection

_BY_ID = select(avatars).where(avatars.c.id == bindparam("avatar"))


def avatar_or_none(db: Connection, avatar_id: int) -> Avatar | None:
    """Return the avatar with this id."""
    return db.first(Avatar, _BY_ID, avatar=avatar_id)
