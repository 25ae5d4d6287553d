"""Response with an avatar."""

from ingot.accounts.avatars.queries import avatar_or_none
from ingot.core.api.routes import RawResponse
from ingot.core.db.connection import Connection
from ingot.errors import NotFound


def avatar_response(db: Connection, avatar_id: int | None) -> RawResponse:
    """Return the image. Its type was checked when it was stored, and no accepted type can contain scripts."""
    avatar = avatar_or_none(db, avatar_id) if avatar_id is not None else None
    if avatar is None:
        raise NotFound("Avatar")
    return RawResponse(avatar.content, avatar.content_type, ((b"cache-control", b"private, max-age=300"),))
