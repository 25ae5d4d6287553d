"""The queue: rows written in the transaction that causes the work."""

from typing import Literal

from sqlalchemy import Index, Table

from ingot.core.db.schema import Record, index_where, metadata, number, row_id, text
from ingot.core.db.times import Timestamp

JobState = Literal["waiting", "running", "dead"]

jobs = Table(
    "jobs",
    metadata,
    row_id(),
    text("kind"),
    text("payload"),
    text("state"),
    text("run_at"),
    text("placed_at"),
    number("attempts"),
    text("unique_key", nullable=True),
    text("lease", nullable=True),
    text("leased_until", nullable=True),
    text("last_error", nullable=True),
    text("created_at"),
    sqlite_autoincrement=True,
)
Index("ix_jobs_state_run_at", jobs.c.state, jobs.c.run_at, jobs.c.id)
# A key is taken only while its job waits: what is enqueued while the job runs may come too late for that run.
Index(
    "uq_jobs_waiting_unique_key",
    jobs.c.unique_key,
    unique=True,
    **index_where("state = 'waiting'"),
)

recurring_jobs = Table(
    "recurring_jobs",
    metadata,
    row_id(),
    text("name", unique=True),
    text("next_run_at"),
    sqlite_autoincrement=True,
)

job_failures = Table(
    "job_failures",
    metadata,
    row_id(),
    text("kind", unique=True),
    number("count"),
    sqlite_autoincrement=True,
)


class Job(Record, frozen=True):
    """Work that leaves the house or takes long; at least once, so handlers are idempotent."""

    id: int
    kind: str
    payload: str
    state: JobState
    run_at: Timestamp
    placed_at: Timestamp
    """When ``run_at`` was decided; a clock that was set back since then shows here."""
    attempts: int
    unique_key: str | None
    lease: str | None
    """Proves to the queue that whoever ends the job is the one who holds it."""
    leased_until: Timestamp | None
    last_error: str | None
    created_at: Timestamp


class RecurringSlot(Record, frozen=True):
    """When recurring work comes next."""

    id: int
    name: str
    next_run_at: Timestamp
