"""Keeping a picture: its type is told from its bytes, and no decoder ever sees it."""

import re

from sqlalchemy import Table

from ingot.accounts.avatars.queries import avatar_or_none
from ingot.accounts.avatars.tables import avatars
from ingot.core.api.params import Upload
from ingot.core.db.connection import Connection
from ingot.errors import Invalid

MAX_BYTES = 200 * 1024
# SVG is left out: it can carry scripts.
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png", "png"),
    (b"\xff\xd8\xff", "image/jpeg", "jpg"),
    (b"GIF87a", "image/gif", "gif"),
    (b"GIF89a", "image/gif", "gif"),
    (b"BM", "image/bmp", "bmp"),
    (b"\0\0\1\0", "image/x-icon", "ico"),
)


def add_avatar(db: Connection, file_name: str, content: bytes) -> int:
    """Store a picture under a tidied name; gives the id to keep in the owner's row."""
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
    """Forget a picture that no row holds any more."""
    if avatar_id is not None:
        db.delete(avatars, avatar_id)


def replace_avatar(db: Connection, owners: Table, owner_id: int, held: int | None, upload: Upload | None) -> None:
    """Give the row of an owner another picture, or none; the one that it held is forgotten."""
    avatar_id, file_name = None, None
    if upload is not None:
        avatar_id = add_avatar(db, upload.filename, upload.read())
        stored = avatar_or_none(db, avatar_id)
        file_name = stored.file_name if stored else None
    db.update(owners, owner_id, avatar_id=avatar_id, avatar_file=file_name)
    delete_avatar(db, held)
