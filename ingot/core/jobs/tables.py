"""Tables of the job queue; rows are written in the transaction that causes the work."""

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
# A key is unique only among waiting jobs: a running job may already be past the point where it would see new changes.
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
    """A unit of background work; it runs at least once, so handlers are idempotent."""

    id: int
    kind: str
    payload: str
    state: JobState
    run_at: Timestamp
    placed_at: Timestamp
    """The time at which ``run_at`` was set, which reveals that the clock was set back since."""
    attempts: int
    unique_key: str | None
    lease: str | None
    """A random token; only the worker that holds it may finish the job."""
    leased_until: Timestamp | None
    last_error: str | None
    created_at: Timestamp


class RecurringSlot(Record, frozen=True):
    """The next time that a recurring job is due."""

    id: int
    name: str
    next_run_at: Timestamp
