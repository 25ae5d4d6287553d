"""Job that deletes unused LFS objects."""

from functools import partial
from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.queue import enqueue
from ingot.repositories.lfs.files import LfsFiles
from ingot.repositories.lfs.queries import existing_oids, unlinked_oids
from ingot.repositories.lfs.service import sweep_object

SWEEP_AFTER_SECONDS = 3600
SWEEP_LFS = "sweep_lfs"


def enqueue_lfs_sweep(db: Connection) -> None:
    """Enqueue the sweep; it walks the disk, so no transaction should wait for it."""
    enqueue(db, SWEEP_LFS, None, unique_key=SWEEP_LFS)


class LfsSweepJob:
    """Idempotent handler of the sweep job."""

    def __init__(self, files: LfsFiles) -> None:
        self._files = files

    def sweep(self, database: Database, _payload: Any) -> None:
        """Delete objects that no project uses and remains of crashes and interrupted uploads."""
        last = ""
        while unlinked := database.read(partial(unlinked_oids, after=last)):
            last = unlinked[-1]
            self._sweep(database, unlinked)
        for oids in self._files.batches():
            recorded = database.read(partial(existing_oids, oids=oids))
            self._sweep(database, [oid for oid in oids if oid not in recorded])
        self._files.delete_partial_files(SWEEP_AFTER_SECONDS)

    def _sweep(self, database: Database, oids: list[str]) -> None:
        for oid in oids:
            database.write(partial(sweep_object, files=self._files, oid=oid, older_than_seconds=SWEEP_AFTER_SECONDS))
