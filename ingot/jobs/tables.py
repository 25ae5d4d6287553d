"""The queue: rows written in the transaction that causes the work."""

from sqlalchemy import Index, Table

from ingot.db.schema import Record, metadata, number, row_id, text
from ingot.db.times import Timestamp

jobs = Table(
    "jobs",
    metadata,
    row_id(),
    text("kind"),
    text("payload"),
    text("run_at"),
    number("attempts"),
    text("last_error", nullable=True),
    text("created_at"),
    sqlite_autoincrement=True,
)
Index("ix_jobs_run_at", jobs.c.run_at, jobs.c.id)


class Job(Record, frozen=True):
    """Work that leaves the house or takes long; at least once, so handlers are idempotent."""

    id: int
    kind: str
    payload: str
    run_at: Timestamp
    attempts: int
    last_error: str | None
    created_at: Timestamp
