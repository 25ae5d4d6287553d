"""Response with an avatar."""

from typing import NamedTuple

from ingot.accounts.avatars.queries import avatar_or_none
from ingot.core.api.routes import RawResponse
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound


def avatar_response(db: Connection, avatar_id: int | None) -> RawResponse:
    """Return the image. Its type was checked when it was stored, and no accepted type can contain scripts."""
    avatar = avatar_or_none(db, avatar_id) if avatar_id is not None else None
    if avatar is None:
        raise NotFound("Avatar")
    return RawResponse(avatar.content, avatar.content_type, ((b"cache-control", b"private, max-age=300"),))


class AvatarFile(NamedTuple):
    """An avatar's bytes with their type."""

    content: bytes
    content_type: str


def avatar_file(db: Connection, avatar_id: int | None, file_name: str) -> AvatarFile:
    """Return an avatar under its own file name; raise NotFound under any other."""
    avatar = avatar_or_none(db, avatar_id) if avatar_id is not None else None
    if avatar is None or avatar.file_name != file_name:
        raise NotFound("Avatar")
    return AvatarFile(avatar.content, avatar.content_type)
