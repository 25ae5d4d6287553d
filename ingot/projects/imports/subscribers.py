"""Subscribers that update imports when jobs are deleted."""

from ingot.core.db.connection import Connection
from ingot.core.events.bus import Subscriptions
from ingot.core.jobs.events import JobDeleted
from ingot.projects.imports.queries import JOB_KEY
from ingot.projects.imports.service import IMPORT_PROJECT, cancel_import

subscriptions = Subscriptions()


@subscriptions.on(JobDeleted)
def cancel_import_of_dropped_job(db: Connection, event: JobDeleted) -> None:
    """Cancel an import when its job is deleted."""
    if event.kind == IMPORT_PROJECT and event.unique_key is not None:
        cancel_import(db, int(event.unique_key.removeprefix(JOB_KEY)))
