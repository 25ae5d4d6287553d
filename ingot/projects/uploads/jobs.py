"""What jobs do for uploads: sweeping up."""

from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue
from ingot.projects.uploads.files import UploadFiles
from ingot.projects.uploads.queries import upload_secrets

SWEEP_AFTER_SECONDS = 3600
SWEEP_UPLOADS = "sweep uploads"


def enqueue_upload_sweep(db: Connection) -> None:
    """Let a job sweep up; it walks the disk, which no transaction should wait for."""
    enqueue(db, SWEEP_UPLOADS, None, unique_key=SWEEP_UPLOADS)


class UploadJobs:
    """The handler of jobs on uploads; it may run twice."""

    def __init__(self, files: UploadFiles) -> None:
        self._files = files

    def sweep(self, database: Database, _payload: Any) -> None:
        """Remove files that no row names."""

        def known(project_id: int) -> set[str]:
            return database.read(lambda db: upload_secrets(db, project_id))

        self._files.sweep(known, SWEEP_AFTER_SECONDS)
