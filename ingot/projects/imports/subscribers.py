"""What imports do when others act."""

from ingot.db.connection import Connection
from ingot.events.bus import Subscriptions
from ingot.jobs.events import JobDropped
from ingot.projects.imports.queries import JOB_KEY
from ingot.projects.imports.service import IMPORT_PROJECT, stop_import

subscriptions = Subscriptions()


@subscriptions.on(JobDropped)
def stop_with_job(db: Connection, event: JobDropped) -> None:
    """Nobody waits for an import that nobody does any more."""
    if event.kind == IMPORT_PROJECT and event.unique_key is not None:
        stop_import(db, int(event.unique_key.removeprefix(JOB_KEY)))
