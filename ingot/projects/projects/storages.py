"""Choice of the storage of a new repository."""

import random
from collections.abc import Sequence

from ingot.accounts.instance.settings import current_settings
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.git.maintenance.store import DEFAULT_STORAGE, RepositoryStore


def storage_for_new_repository(database: Database, store: RepositoryStore) -> str:
    """Choose a storage by weight among those that are available; the default one if there is no other."""
    if not store.has_several:
        return DEFAULT_STORAGE
    return database.read(lambda db: choose_storage(db, store, list(store.roots)))


def choose_storage(db: Connection, store: RepositoryStore, storages: Sequence[str]) -> str:
    """Choose one of these storages by the weights in the instance settings, if it is available."""
    weights = current_settings(db).repository_storages_weighted
    usable = [name for name in storages if store.is_available(name)] or list(storages)
    chosen = [weights.get(name, 0) for name in usable]
    if not any(chosen):
        return usable[0]
    return random.choices(usable, chosen)[0]  # noqa: S311 - Nothing depends on its secrecy.
