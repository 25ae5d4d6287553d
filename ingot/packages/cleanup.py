"""Jobs that delete files of packages and images from the storage."""

from functools import partial
from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.jobs.queue import enqueue
from ingot.packages.containers.queries import existing_blob_keys
from ingot.packages.containers.service import delete_unused_images
from ingot.packages.files.store import PackageStore
from ingot.packages.records.queries import existing_file_keys

SWEEP_PACKAGES = "sweep_packages"
SWEEP_AFTER_SECONDS = 3600
"""Age from which a file without a row is deleted; the row of a younger one may be about to be written."""
UNUSED_AFTER_SECONDS = 86_400
"""Age from which images without a tag are deleted; a client pushes the parts of an image before the tag."""


def enqueue_package_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_PACKAGES, None, unique_key=SWEEP_PACKAGES)


class PackageJobs:
    """Idempotent handlers of jobs about files of packages and images."""

    def __init__(self, store: PackageStore) -> None:
        self._store = store

    def delete_files(self, _database: Database, keys: list[str]) -> None:
        """Delete files whose rows were deleted."""
        for key in keys:
            self._store.delete(key)

    def sweep(self, database: Database, _payload: Any) -> None:
        """Delete unused images, files of deleted projects and remains of crashes and interrupted uploads."""
        while database.write(_delete_unused_images):
            pass
        for keys in self._store.batches(SWEEP_AFTER_SECONDS):
            recorded = database.read(partial(_existing_keys, keys=keys))
            for key in keys:
                if key not in recorded:
                    self._store.delete(key)
        self._store.delete_partial_files(SWEEP_AFTER_SECONDS)


def _delete_unused_images(db: Connection) -> int:
    return delete_unused_images(db, add_duration(db.now, seconds=-UNUSED_AFTER_SECONDS))


def _existing_keys(db: Connection, keys: list[str]) -> set[str]:
    return existing_file_keys(db, keys) | existing_blob_keys(db, keys)
