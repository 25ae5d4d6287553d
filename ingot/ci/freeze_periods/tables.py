"""Table of freeze periods."""

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, metadata, reference, row_id, text
from ingot.core.db.times import Timestamp

freeze_periods = Table(
    "freeze_periods",
    metadata,
    row_id(),
    reference("project_id", "projects.id"),
    text("freeze_start"),
    text("freeze_end"),
    text("cron_timezone"),
    text("created_at"),
    text("updated_at"),
    Index("ix_freeze_periods_project_id", "project_id", "id"),
    sqlite_autoincrement=True,
)


class FreezePeriod(Record, frozen=True):
    """Times, from each moment of one cron expression to the following one of another, in which nothing is deployed."""

    id: int
    project_id: int
    freeze_start: str
    freeze_end: str
    cron_timezone: str
    created_at: Timestamp
    updated_at: Timestamp
