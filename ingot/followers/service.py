"""Following, and not following."""

from sqlalchemy import bindparam, delete, text

from ingot.db.connection import Connection
from ingot.followers.tables import follows

_SAY = text(
    "INSERT INTO follows (user_id, subject_kind, subject_id, following, created_at) "
    "VALUES (:user, :kind, :subject, :following, :now) "
    "ON CONFLICT (user_id, subject_kind, subject_id) DO UPDATE SET following = excluded.following"
)
_HAND_ON = text(
    "INSERT INTO follows (user_id, subject_kind, subject_id, following, created_at) "
    "SELECT user_id, subject_kind, :into, following, created_at FROM follows "
    "WHERE subject_kind = :kind AND subject_id = :subject "
    "ON CONFLICT (user_id, subject_kind, subject_id) DO NOTHING"
)
_DROP = delete(follows).where(follows.c.subject_kind == bindparam("kind"), follows.c.subject_id == bindparam("subject"))


def follow(db: Connection, user_id: int, kind: str, subject_id: int, *, following: bool = True) -> None:
    """Note that somebody wants to follow, or wants not to."""
    db.run(_SAY, user=user_id, kind=kind, subject=subject_id, following=following, now=db.now)


def drop_follows(db: Connection, kind: str, subject_id: int) -> None:
    """What is gone is followed by nobody."""
    db.run(_DROP, kind=kind, subject=subject_id)


def hand_on_follows(db: Connection, kind: str, subject_id: int, into_id: int) -> None:
    """Who follows what is gone follows what stands for it now, unless they said something about that themselves."""
    db.run(_HAND_ON, kind=kind, subject=subject_id, into=into_id)
    drop_follows(db, kind, subject_id)
