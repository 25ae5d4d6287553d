"""What forks do when others act."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.jobs.events import JobDropped
from ingot.projects.forks.queries import JOB_KEY
from ingot.projects.forks.service import COPY_PROJECT, fail_copy

subscriptions = Subscriptions()
_DROPPED = "The copy was stopped by an administrator"


@subscriptions.on(JobDropped)
def stop_with_job(db: Connection, event: JobDropped) -> None:
    """Nobody waits for a copy that nobody makes any more."""
    if event.kind == COPY_PROJECT and event.unique_key is not None:
        fail_copy(db, int(event.unique_key.removeprefix(JOB_KEY)), _DROPPED)
