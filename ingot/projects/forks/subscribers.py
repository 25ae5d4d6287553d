"""Subscribers that update forks when jobs are deleted."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.events import JobDeleted
from ingot.projects.forks.queries import JOB_KEY
from ingot.projects.forks.service import COPY_FORK, fail_copy

subscriptions = Subscriptions()
_DROPPED = "The copy was stopped by an administrator"


@subscriptions.on(JobDeleted)
def fail_copy_of_dropped_job(db: Connection, event: JobDeleted) -> None:
    """Mark the copy of a fork as failed when its job is deleted."""
    if event.kind == COPY_FORK and event.unique_key is not None:
        fail_copy(db, int(event.unique_key.removeprefix(JOB_KEY)), _DROPPED)
