"""Storing and deleting avatars; the type is detected from the first bytes, and no image decoder runs."""

import re

from sqlalchemy import Table

from ingot.accounts.avatars.queries import avatar_or_none
from ingot.accounts.avatars.tables import avatars
from ingot.core.api.params import Upload
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid

MAX_BYTES = 200 * 1024
# SVG is excluded: it can contain scripts.
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"GIF87a", "image/gif", "gif"),
    (b"GIF89a", "image/gif", "gif"),
    (b"BM", "image/bmp", "bmp"),
    (b"\0\0\1\0", "image/x-icon", "ico"),
)


def add_avatar(db: Connection, file_name: str, content: bytes) -> int:
    """Store an image under a sanitized file name; return its id."""
    if len(content) > MAX_BYTES:
        raise Invalid(avatar=["is too big (should be at most 200 KB)"])
    kinds = [(kind, ending) for start, kind, ending in _SIGNATURES if content.startswith(start)]
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        kinds = [("image/webp", "webp")]
    if not kinds:
        raise Invalid(avatar=["only images allowed"])
    content_type, ending = kinds[0]
    stem = re.sub(r"[^A-Za-z0-9_-]+", "_", file_name.rsplit("/")[-1].rsplit(".", 1)[0])[:64] or "avatar"
    return db.insert(
        avatars, file_name=f"{stem}.{ending}", content_type=content_type, content=content, created_at=db.now
    )


def delete_avatar(db: Connection, avatar_id: int | None) -> None:
    """Delete an avatar that no row references any more."""
    if avatar_id is not None:
        db.delete(avatars, avatar_id)


def replace_avatar(
    db: Connection, owners: Table, owner_id: int, previous_id: int | None, upload: Upload | None
) -> None:
    """Replace the avatar of an owner's row, or clear it for None; the previous image is deleted."""
    avatar_id, file_name = None, None
    if upload is not None:
        avatar_id = add_avatar(db, upload.filename, upload.read())
        stored = avatar_or_none(db, avatar_id)
        file_name = stored.file_name if stored else None
    db.update(owners, owner_id, avatar_id=avatar_id, avatar_file=file_name)
    delete_avatar(db, previous_id)
