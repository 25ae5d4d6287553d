"""Background job that copies the repository of a fork, then replaces the empty repository in one step."""

from functools import partial
from typing import Any

from ingot.core.db.database import Database
from ingot.core.disk_errors import is_storage_full
from ingot.core.jobs.handlers import RetryLater
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.maintenance.fetch import NO_SPACE
from ingot.git.maintenance.store import DEFAULT_STORAGE, RepositoryStore, new_key, storage_of
from ingot.projects.forks.queries import JOB_KEY, copy_or_none
from ingot.projects.forks.service import fail_copy, finish_copy, start_copy
from ingot.projects.imports.jobs import import_result_of
from ingot.projects.imports.queries import job_attempts

MAX_ATTEMPTS = 3
RETRY_DELAY_SECONDS = 10.0
_SOURCE_MISSING = "The source project no longer exists"
_NOT_STORED = "The repository could not be stored"


class ForkJobs:
    """Handler of the jobs that copy forks; idempotent."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    def run(self, database: Database, payload: Any) -> None:
        """Copy the repository and record the result; the daily sweep removes a copy that a crash leaves behind."""
        project_id: int = payload["project_id"]
        copy = database.read(partial(copy_or_none, project_id=project_id))
        if copy is None:
            return
        database.write(partial(start_copy, project_id=project_id))
        key = new_key(DEFAULT_STORAGE if copy.source_key is None else storage_of(copy.source_key))
        try:
            if copy.source_key is None:
                raise MissingRepository
            self._store.fork(copy.source_key, key)
            result = import_result_of(self._store.open(key))
        except MissingRepository:  # Shown as the reason of the failed copy.
            database.write(partial(fail_copy, project_id=project_id, reason=_SOURCE_MISSING))
            return
        except (OSError, GitError) as error:
            self._store.remove(key)
            reason = NO_SPACE if is_storage_full(error) else _NOT_STORED
            if database.read(lambda db: job_attempts(db, f"{JOB_KEY}{project_id}")) < MAX_ATTEMPTS:
                raise RetryLater(RETRY_DELAY_SECONDS, reason) from error
            database.write(partial(fail_copy, project_id=project_id, reason=reason))
            return
        if not database.write(partial(finish_copy, project_id=project_id, key=key, result=result)):
            self._store.remove(key)
        # The empty repository is left to the sweep, because a request may still be reading it.
