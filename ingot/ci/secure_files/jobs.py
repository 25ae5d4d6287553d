"""Jobs that delete secure files from the storage."""

from ingot.ci.encrypted_files.jobs import EncryptedFileJobs
from ingot.ci.secure_files.queries import existing_keys
from ingot.core.db.connection import Connection
from ingot.core.jobs.queue import enqueue

SWEEP_SECURE_FILES = "sweep_secure_files"


def enqueue_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_SECURE_FILES, None, unique_key=SWEEP_SECURE_FILES)


class SecureFileJobs(EncryptedFileJobs):
    """Idempotent handlers of jobs about secure files."""

    existing_keys = staticmethod(existing_keys)
