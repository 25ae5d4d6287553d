"""Deletion of encrypted files whose rows were deleted."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

from ingot.ci.encrypted_files.store import EncryptedStore
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database

SWEEP_AFTER_SECONDS = 3600
"""Age from which a file without a row is deleted; the row of a younger one may be about to be written."""
ExistingKeys = Callable[[Connection, Collection[str]], set[str]]
"""Function that returns those of some storage keys that have a row."""


class EncryptedFileJobs:
    """Idempotent handlers of jobs about one kind of files."""

    existing_keys: ExistingKeys

    def __init__(self, store: EncryptedStore) -> None:
        self._store = store

    def delete(self, _database: Database, keys: list[str]) -> None:
        """Delete files whose rows were deleted."""
        for key in keys:
            self._store.delete(key)

    def sweep(self, database: Database, _payload: Any) -> None:
        """Delete files of deleted projects, and remains of crashes and refused uploads."""
        for keys in self._store.batches(SWEEP_AFTER_SECONDS):
            recorded = database.read(partial(_recorded, type(self).existing_keys, keys))
            for key in keys:
                if key not in recorded:
                    self._store.delete(key)
        self._store.storage.delete_partial_files(SWEEP_AFTER_SECONDS)


def _recorded(existing_keys: ExistingKeys, keys: Collection[str], db: Connection) -> set[str]:
    return existing_keys(db, keys)
