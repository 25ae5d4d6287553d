"""Queries of explicit subscriptions."""

from collections.abc import Sequence

from sqlalchemy import bindparam, select

from ingot.collaboration.subscriptions.tables import follows
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list

_EXPLICIT = select(follows.c.following).where(
    follows.c.user_id == bindparam("user"),
    follows.c.subject_kind == bindparam("kind"),
    follows.c.subject_id == bindparam("subject"),
)
_EXPLICIT_OF_MANY = select(follows.c.subject_id, follows.c.following).where(
    follows.c.user_id == bindparam("user"),
    follows.c.subject_kind == bindparam("kind"),
    in_list(follows.c.subject_id, "subjects"),
)
_ALL_OF_SUBJECT = select(follows.c.user_id, follows.c.following).where(
    follows.c.subject_kind == bindparam("kind"), follows.c.subject_id == bindparam("subject")
)


def explicit_subscription(db: Connection, user_id: int, kind: str, subject_id: int) -> bool | None:
    """Return whether a user subscribed or unsubscribed explicitly; None if neither."""
    following: bool | None = db.value(_EXPLICIT, user=user_id, kind=kind, subject=subject_id)
    return following


def explicit_subscriptions(db: Connection, user_id: int, kind: str, subject_ids: Sequence[int]) -> dict[int, bool]:
    """Map subject ids to the explicit choice of a user; subjects without a choice are missing."""
    rows = db.rows(_EXPLICIT_OF_MANY, user=user_id, kind=kind, subjects=list(subject_ids))
    return dict(rows)


def explicit_subscriptions_to(db: Connection, kind: str, subject_id: int) -> dict[int, bool]:
    """Map user ids to their explicit choice for a subject."""
    return dict(db.rows(_ALL_OF_SUBJECT, kind=kind, subject=subject_id))
