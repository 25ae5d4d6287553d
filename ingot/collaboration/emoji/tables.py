"""Table of award emoji."""

from sqlalchemy import Index, Table, UniqueConstraint

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

award_emoji = Table(
    "award_emoji",
    metadata,
    row_id(),
    reference("project_id", "projects.id", nullable=True, index=True),
    text("subject_kind"),
    number("subject_id"),
    reference("user_id", "users.id"),
    # The deleted user whose award was transferred to the placeholder, else 0. Part of the unique constraint because
    # the placeholder may hold the same award of several deleted users.
    number("former_user_id"),
    text("name"),
    text("created_at"),
    text("updated_at"),
    UniqueConstraint("subject_kind", "subject_id", "user_id", "name", "former_user_id", name="uq_award_emoji_once"),
    Index("ix_award_emoji_user_id", "user_id", "subject_kind", "name", "subject_id"),
    sqlite_autoincrement=True,
)


class Award(Record, frozen=True):
    """An award emoji given by a user to a subject."""

    id: int
    project_id: int | None
    subject_kind: str
    subject_id: int
    user_id: int
    former_user_id: int
    name: str
    created_at: Timestamp
    updated_at: Timestamp
