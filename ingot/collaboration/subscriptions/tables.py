"""Table of explicit subscriptions."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import flag, metadata, number, reference, row_id, text

follows = Table(
    "follows",
    metadata,
    row_id(),
    reference("user_id", "users.id"),
    text("subject_kind"),
    number("subject_id"),
    # False is stored too: it keeps participants who unsubscribed from being notified.
    flag("following"),
    text("created_at"),
    UniqueConstraint("user_id", "subject_kind", "subject_id"),
    Index("ix_follows_subject_kind_subject_id", "subject_kind", "subject_id"),
    sqlite_autoincrement=True,
)
