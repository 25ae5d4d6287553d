"""Jobs that delete expired artifacts and files without a row."""

from functools import partial
from typing import Any

from ingot.ci.artifacts.queries import existing_keys, expired_artifacts
from ingot.ci.artifacts.service import delete_artifacts
from ingot.ci.artifacts.store import ArtifactStore
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue

EXPIRE_ARTIFACTS = "expire_artifacts"
SWEEP_ARTIFACTS = "sweep_artifacts"
SWEEP_AFTER_SECONDS = 3600
"""Age from which a file without a row is deleted; the row of a younger one may be about to be written."""


def enqueue_artifact_expiry(db: Connection) -> None:
    """Enqueue the deletion of expired artifacts."""
    enqueue(db, EXPIRE_ARTIFACTS, None, unique_key=EXPIRE_ARTIFACTS)


def enqueue_artifact_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_ARTIFACTS, None, unique_key=SWEEP_ARTIFACTS)


class ArtifactJobs:
    """Idempotent handlers of jobs about artifacts."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store

    def delete_files(self, _database: Database, keys: list[str]) -> None:
        """Delete files whose rows were deleted."""
        for key in keys:
            self._store.delete(key)

    def expire(self, database: Database, _payload: Any) -> None:
        """Delete the artifacts that have expired, except those of the latest pipeline of a ref."""
        last = 0
        while (last := database.write(partial(_expire_batch, after=last))) > 0:
            pass

    def sweep(self, database: Database, _payload: Any) -> None:
        """Delete files of deleted projects and remains of crashes and interrupted uploads."""
        for keys in self._store.batches(SWEEP_AFTER_SECONDS):
            recorded = database.read(partial(existing_keys, keys=keys))
            for key in keys:
                if key not in recorded:
                    self._store.delete(key)
        self._store.delete_partial_files(SWEEP_AFTER_SECONDS)


def _expire_batch(db: Connection, after: int) -> int:
    """Delete a batch of expired artifacts; return the last id, or 0 if there are no more."""
    artifacts = expired_artifacts(db, after)
    delete_artifacts(db, artifacts)
    return artifacts[-1].id if artifacts else 0
