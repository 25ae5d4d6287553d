"""Background job that removes unreferenced uploads."""

from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue
from ingot.projects.uploads.files import UploadFiles
from ingot.projects.uploads.queries import upload_secrets

SWEEP_AFTER_SECONDS = 3600
SWEEP_UPLOADS = "sweep_uploads"


def enqueue_upload_sweep(db: Connection) -> None:
    """Enqueue the sweep, which reads the disk and must not run inside a transaction."""
    enqueue(db, SWEEP_UPLOADS, None, unique_key=SWEEP_UPLOADS)


class UploadJobs:
    """Handler of upload jobs; idempotent."""

    def __init__(self, files: UploadFiles) -> None:
        self._files = files

    def sweep(self, database: Database, _payload: Any) -> None:
        """Remove files without a row."""

        def known_secrets(project_id: int) -> set[str]:
            return database.read(lambda db: upload_secrets(db, project_id))

        self._files.sweep(known_secrets, SWEEP_AFTER_SECONDS)
