"""Jobs that delete versions of Terraform states from the storage."""

from ingot.ci.encrypted_files.jobs import EncryptedFileJobs
from ingot.ci.terraform.queries import existing_keys
from ingot.core.db.connection import Connection
from ingot.core.jobs.queue import enqueue

SWEEP_STATES = "sweep_terraform_states"


def enqueue_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_STATES, None, unique_key=SWEEP_STATES)


class StateFileJobs(EncryptedFileJobs):
    """Idempotent handlers of jobs about Terraform states."""

    existing_keys = staticmethod(existing_keys)
