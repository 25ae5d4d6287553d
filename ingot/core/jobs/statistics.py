"""Statistics of the job queue, for metrics and administrators."""

from typing import NamedTuple

from sqlalchemy import bindparam, func, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import to_datetime
from ingot.core.jobs.tables import job_failures, jobs

_BY_STATE = select(jobs.c.state, func.count()).group_by(jobs.c.state)
_OLDEST_DUE = (
    select(jobs.c.run_at)
    .where(jobs.c.state == "waiting", jobs.c.run_at <= bindparam("now"))
    .order_by(jobs.c.run_at, jobs.c.id)
    .limit(1)
)
_FAILURES = select(job_failures.c.kind, job_failures.c.count).order_by(job_failures.c.kind)


class QueueStats(NamedTuple):
    """The state of the queue at one moment."""

    waiting: int
    running: int
    dead: int
    oldest_seconds: float
    """Seconds that the oldest due job is overdue; jobs scheduled for later do not count."""
    failures: dict[str, int]
    """Failed attempts so far, by kind."""


def queue_stats(db: Connection) -> QueueStats:
    """Return the statistics of the queue."""
    by_state: dict[str, int] = dict(db.rows(_BY_STATE))
    oldest = db.value(_OLDEST_DUE, now=db.now)
    overdue = 0.0 if oldest is None else (to_datetime(db.now) - to_datetime(oldest)).total_seconds()
    return QueueStats(
        by_state.get("waiting", 0),
        by_state.get("running", 0),
        by_state.get("dead", 0),
        overdue,
        dict(db.rows(_FAILURES)),
    )
