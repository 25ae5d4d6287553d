"""Table of timelogs."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, metadata, number, reference, row_id, text
from ingot.core.db.times import Timestamp

# Time whose entries an import did not get, or spent before this table existed, is part of the total without an entry.
timelogs = Table(
    "timelogs",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("subject_kind"),
    number("subject_id"),
    reference("user_id", "users.id"),
    # Seconds; negative where time was subtracted.
    number("time_spent"),
    text("summary", nullable=True),
    text("spent_at"),
    text("created_at"),
    Index("ix_timelogs_project_id", "project_id", "spent_at", "id"),
    Index("ix_timelogs_subject", "subject_kind", "subject_id", "id"),
    Index("ix_timelogs_user_id", "user_id", "spent_at", "id"),
    sqlite_autoincrement=True,
)


class Timelog(Record, frozen=True):
    """Time that a user spent on a subject."""

    id: int
    project_id: int
    subject_kind: str
    subject_id: int
    user_id: int
    time_spent: int
    summary: str | None
    spent_at: Timestamp
    created_at: Timestamp
