"""Jobs that delete files of packages from the storage."""

from functools import partial
from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue
from ingot.packages.files.store import PackageStore
from ingot.packages.records.queries import existing_file_keys

SWEEP_PACKAGES = "sweep_packages"
SWEEP_AFTER_SECONDS = 3600
"""Age from which a file without a row is deleted; the row of a younger one may be about to be written."""


def enqueue_package_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_PACKAGES, None, unique_key=SWEEP_PACKAGES)


class PackageJobs:
    """Idempotent handlers of jobs about files of packages."""

    def __init__(self, store: PackageStore) -> None:
        self._store = store

    def delete_files(self, _database: Database, keys: list[str]) -> None:
        """Delete files whose rows were deleted."""
        for key in keys:
            self._store.delete(key)

    def sweep(self, database: Database, _payload: Any) -> None:
        """Delete files of deleted projects and remains of crashes and interrupted uploads."""
        for keys in self._store.batches(SWEEP_AFTER_SECONDS):
            recorded = database.read(partial(existing_file_keys, keys=keys))
            for key in keys:
                if key not in recorded:
                    self._store.delete(key)
        self._store.delete_partial_files(SWEEP_AFTER_SECONDS)
