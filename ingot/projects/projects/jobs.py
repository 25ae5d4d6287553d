"""Background jobs of projects: removal, housekeeping, statistics, HEAD and sweep of repositories."""

from contextlib import suppress
from functools import partial
from typing import Any

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Unavailable
from ingot.core.jobs.queue import enqueue
from ingot.core.log import log_failure
from ingot.git.maintenance.housekeeping import remove_stale_locks, run_housekeeping
from ingot.git.maintenance.store import RepositoryStore, key_in
from ingot.projects.projects.clone_bundles import CloneBundles
from ingot.projects.projects.default_branch import reconcile_head, record_head
from ingot.projects.projects.language_days import record_languages
from ingot.projects.projects.tables import group_wikis, project_wikis, projects
from ingot.projects.uploads.files import UploadFiles

SWEEP_AFTER_SECONDS = 3600
SWEEP_PROJECTS = "sweep_repositories"
SWEEP_PACKS = "sweep_packs"
_BY_KEY = select(projects.c.id).where(projects.c.repository_key == bindparam("key"))
_WIKI_BY_KEY = select(project_wikis.c.id).where(project_wikis.c.repository_key == bindparam("key"))
_GROUP_WIKI_BY_KEY = select(group_wikis.c.id).where(group_wikis.c.repository_key == bindparam("key"))
_WIKI_KEY = select(project_wikis.c.repository_key).where(project_wikis.c.project_id == bindparam("project"))


def enqueue_repository_sweep(db: Connection) -> None:
    """Enqueue the sweep, which reads the disk and must not run inside a transaction."""
    enqueue(db, SWEEP_PROJECTS, None, unique_key=SWEEP_PROJECTS)


def is_repository_in_use(database: Database, key: str) -> bool:
    """Check whether a project or wiki has the repository with this key."""
    statements = (_BY_KEY, _WIKI_BY_KEY, _GROUP_WIKI_BY_KEY)
    return database.read(lambda db: any(db.value(statement, key=key) is not None for statement in statements))


def delete_unused_repository(database: Database, store: RepositoryStore, key: str) -> None:
    """Delete the repository of a project whose creation failed; on errors it is left to the sweep.

    Checks for a row first, because the first attempt of a retried request may have committed one.
    """
    try:
        if not is_repository_in_use(database, key):
            store.remove(key)
    except (Unavailable, OSError) as error:  # The daily sweep removes it.
        log_failure("repository of a refused project not removed", error)


def enqueue_pack_sweep(db: Connection) -> None:
    """Enqueue the deletion of packs in the bucket that nothing uses."""
    enqueue(db, SWEEP_PACKS, None, unique_key=SWEEP_PACKS)


class ProjectJobs:
    """Handlers of repository jobs; idempotent."""

    def __init__(self, store: RepositoryStore, uploads: UploadFiles, bundles: CloneBundles) -> None:
        self._store = store
        self._uploads = uploads
        self._bundles = bundles

    def remove(self, database: Database, payload: Any) -> None:
        """Remove the files of a deleted project, then its rows."""
        self._remove(payload["repository_key"])
        wiki = database.read(lambda db: db.value(_WIKI_KEY, project=payload["project_id"]))
        if wiki is not None:
            self._remove(wiki)
        self._uploads.remove_all(payload["project_id"])
        database.write(lambda db: db.delete(projects, payload["project_id"]))

    def remove_repository(self, _database: Database, payload: Any) -> None:
        """Remove the repository of the wiki of a deleted group, whose rows are gone."""
        self._remove(payload["repository_key"])

    def _remove(self, key: str) -> None:
        self._store.remove(key)
        self._bundles.delete(self._store.path_of(key))

    def housekeep(self, database: Database, payload: Any) -> None:
        """Run housekeeping on a repository, and update its statistics, its languages of today and its bundle."""
        key = payload["repository_key"]
        if not self._store.exists(key):
            return
        refs = self._store.open(key).ref_store
        if refs is not None:
            refs.tidy()
        else:
            run_housekeeping(self._store.path_of(key))
        self.update_statistics(database, payload)
        shares = self._store.open(key).languages()
        if shares:
            database.write(partial(record_languages, repository_key=key, shares=shares))
        self._bundles.update(self._store.open(key))

    def update_statistics(self, database: Database, payload: Any) -> None:
        """Store the commit count and size of a repository."""
        key = payload["repository_key"]
        if not self._store.exists(key):
            return
        repository = self._store.open(key)
        size, commits, empty = repository.size_bytes(), repository.commit_count(), repository.is_empty()

        def store(db: Connection) -> None:
            project_id = db.value(_BY_KEY, key=key)
            if project_id is not None:
                db.update(projects, project_id, repository_size=size, commit_count=commits, empty=empty)

        database.write(store)

    def reconcile_head(self, database: Database, payload: Any) -> None:
        """Point HEAD to the branch in the project's row, if a crash prevented this earlier."""
        project_id: int = payload["project_id"]
        differs = database.read(lambda db: reconcile_head(db, self._store, project_id))
        if differs is not None:
            database.write(lambda db: record_head(db, project_id, *differs))

    def sweep_packs(self, _database: Database, _payload: Any) -> None:
        """Delete packs in the bucket that no repository lists, and objects that no row has."""
        self._store.in_bucket.delete_unused_packs()

    def sweep(self, database: Database, _payload: Any) -> None:
        """Remove repositories and bundles without a row, and locks, left by a crash or a failed creation."""
        self._store.sweep(partial(is_repository_in_use, database), SWEEP_AFTER_SECONDS)
        for key in self._store.keys():  # noqa: SIM118 - It is no dictionary.
            with suppress(FileNotFoundError):  # It was deleted meanwhile.
                remove_stale_locks(self._store.path_of(key))

        def is_in_any_storage(digits: str) -> bool:
            return any(is_repository_in_use(database, key_in(storage, digits)) for storage in self._store.roots)

        self._bundles.sweep(is_in_any_storage, SWEEP_AFTER_SECONDS)
