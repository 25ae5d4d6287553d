"""State changes of subscriptions."""

from sqlalchemy import bindparam, delete, text

from ingot.collaboration.subscriptions.tables import follows
from ingot.core.db.connection import Connection

_UPSERT = text(
    "INSERT INTO follows (user_id, subject_kind, subject_id, following, created_at) "
    "VALUES (:user, :kind, :subject, :following, :now) "
    "ON CONFLICT (user_id, subject_kind, subject_id) DO UPDATE SET following = excluded.following"
)
_COPY = text(
    "INSERT INTO follows (user_id, subject_kind, subject_id, following, created_at) "
    "SELECT user_id, subject_kind, :into, following, created_at FROM follows "
    "WHERE subject_kind = :kind AND subject_id = :subject "
    "ON CONFLICT (user_id, subject_kind, subject_id) DO NOTHING"
)
_DELETE = delete(follows).where(
    follows.c.subject_kind == bindparam("kind"), follows.c.subject_id == bindparam("subject")
)


def set_subscription(db: Connection, user_id: int, kind: str, subject_id: int, *, following: bool = True) -> None:
    """Record that a user subscribes to a subject, or unsubscribes from it."""
    db.run(_UPSERT, user=user_id, kind=kind, subject=subject_id, following=following, now=db.now)


def delete_subscriptions(db: Connection, kind: str, subject_id: int) -> None:
    """Delete all subscriptions to a subject."""
    db.run(_DELETE, kind=kind, subject=subject_id)


def transfer_subscriptions(db: Connection, kind: str, subject_id: int, into_id: int) -> None:
    """Move subscriptions to another subject; explicit choices already made for that subject win."""
    db.run(_COPY, kind=kind, subject=subject_id, into=into_id)
    delete_subscriptions(db, kind, subject_id)
