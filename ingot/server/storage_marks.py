"""Marks of the directories of repository storages."""

from functools import partial

from ingot.core.db.database import Database
from ingot.core.settings import Settings
from ingot.projects.projects.api import repository_store
from ingot.repositories.storage_moves.queries import projects_on_storage


def mark_storages(database: Database, settings: Settings) -> None:
    """Mark the directories of new repository storages; one that has repositories already must have its mark."""
    store = repository_store(settings)
    for storage in store.roots:
        if not database.read(partial(projects_on_storage, storage=storage)):
            store.mark(storage)
