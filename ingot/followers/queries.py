"""How followers are found."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.db.connection import Connection
from ingot.db.expressions import any_of
from ingot.followers.tables import follows

_SAID = select(follows.c.following).where(
    follows.c.user_id == bindparam("user"),
    follows.c.subject_kind == bindparam("kind"),
    follows.c.subject_id == bindparam("subject"),
)
_SAID_OF_MANY = select(follows.c.subject_id, follows.c.following).where(
    follows.c.user_id == bindparam("user"),
    follows.c.subject_kind == bindparam("kind"),
    any_of(follows.c.subject_id, "subjects"),
)
_ALL_OF_ONE = select(follows.c.user_id, follows.c.following).where(
    follows.c.subject_kind == bindparam("kind"), follows.c.subject_id == bindparam("subject")
)


def said(db: Connection, user_id: int, kind: str, subject_id: int) -> bool | None:
    """Whether somebody wants to follow, if they ever said."""
    found: bool | None = db.value(_SAID, user=user_id, kind=kind, subject=subject_id)
    return found


def said_of_many(db: Connection, user_id: int, kind: str, subject_ids: Sequence[int]) -> dict[int, bool]:
    """The same of many at once; those of which they said nothing are missing."""
    rows = db.rows(_SAID_OF_MANY, user=user_id, kind=kind, subjects=list(subject_ids))
    return dict(rows)


def what_all_said(db: Connection, kind: str, subject_id: int) -> dict[int, bool]:
    """Who said that they follow one, and who said that they do not."""
    return dict(db.rows(_ALL_OF_ONE, kind=kind, subject=subject_id))
