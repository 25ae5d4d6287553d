"""Reads that issues and merge requests share."""

from collections.abc import Collection

from ingot.collaboration.notes.queries import has_note_by
from ingot.collaboration.subscriptions.queries import explicit_subscription
from ingot.core.db.connection import Connection


def is_subscribed(db: Connection, user_id: int, kind: str, subject_id: int, participants: Collection[int]) -> bool:
    """Check whether a user receives notifications: by explicit subscription, else as a participant or commenter."""
    explicit = explicit_subscription(db, user_id, kind, subject_id)
    if explicit is not None:
        return explicit
    return user_id in participants or has_note_by(db, kind, subject_id, user_id)
