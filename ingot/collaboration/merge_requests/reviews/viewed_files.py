"""Files of a merge request that a user has marked as viewed, each with a digest of its changes at that time."""

from sqlalchemy import bindparam, delete, select, text

from ingot.collaboration.merge_requests.tables import merge_request_viewed_files
from ingot.core.db.connection import Connection

_VIEWED = select(merge_request_viewed_files.c.path, merge_request_viewed_files.c.diff_digest).where(
    merge_request_viewed_files.c.merge_request_id == bindparam("merge_request"),
    merge_request_viewed_files.c.user_id == bindparam("user"),
)
_MARK_VIEWED = text(
    "INSERT INTO merge_request_viewed_files (merge_request_id, user_id, path, diff_digest) "
    "VALUES (:merge_request, :user, :path, :digest) "
    "ON CONFLICT (merge_request_id, user_id, path) DO UPDATE SET diff_digest = excluded.diff_digest"
)
_UNMARK_VIEWED = delete(merge_request_viewed_files).where(
    merge_request_viewed_files.c.merge_request_id == bindparam("merge_request"),
    merge_request_viewed_files.c.user_id == bindparam("user"),
    merge_request_viewed_files.c.path == bindparam("path"),
)


def viewed_digests(db: Connection, merge_request_id: int, user_id: int) -> dict[str, str]:
    """Return the digests of the files that a user has marked as viewed, by path."""
    return dict(db.rows(_VIEWED, merge_request=merge_request_id, user=user_id))


def mark_viewed(db: Connection, merge_request_id: int, user_id: int, path: str, digest: str | None) -> None:
    """Mark a file with this digest of its changes as viewed; None removes the mark."""
    key = {"merge_request": merge_request_id, "user": user_id, "path": path}
    if digest is None:
        db.run(_UNMARK_VIEWED, **key)
    else:
        db.run(_MARK_VIEWED, **key, digest=digest)
