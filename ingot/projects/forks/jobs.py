"""What the job of a fork does: the copy is made aside and takes the place of the empty repository in one step."""

from functools import partial
from typing import Any

from ingot.core.db.database import Database
from ingot.core.jobs.handlers import RetryLater
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.maintenance.store import RepositoryStore, new_key
from ingot.projects.forks.queries import JOB_KEY, copy_or_none
from ingot.projects.forks.service import fail_copy, finish_copy, start_copy
from ingot.projects.imports.jobs import import_result_of
from ingot.projects.imports.queries import job_attempts

MAX_ATTEMPTS = 3
RETRY_DELAY_SECONDS = 10.0
_GONE = "The original is gone"
_NOT_STORED = "The repository could not be stored"


class ForkJobs:
    """The handler of forks that are made by a job; it may run twice."""

    def __init__(self, store: RepositoryStore) -> None:
        self._store = store

    def run(self, database: Database, payload: Any) -> None:
        """Copy the repository, and say how it went; a copy that a crash leaves behind is swept up later."""
        project_id: int = payload["project_id"]
        wanted = database.read(partial(copy_or_none, project_id=project_id))
        if wanted is None:
            return
        database.write(partial(start_copy, project_id=project_id))
        key = new_key()
        try:
            if wanted.source_key is None:
                raise MissingRepository
            self._store.fork(wanted.source_key, key)
            brought = import_result_of(self._store.open(key))
        except MissingRepository:  # Shown as the reason of the failed copy.
            database.write(partial(fail_copy, project_id=project_id, reason=_GONE))
            return
        except (OSError, GitError) as error:
            self._store.remove(key)
            if database.read(lambda db: job_attempts(db, f"{JOB_KEY}{project_id}")) < MAX_ATTEMPTS:
                raise RetryLater(RETRY_DELAY_SECONDS, _NOT_STORED) from error
            database.write(partial(fail_copy, project_id=project_id, reason=_NOT_STORED))
            return
        if not database.write(partial(finish_copy, project_id=project_id, key=key, brought=brought)):
            self._store.remove(key)
        # Somebody may just be reading the empty one that stood there; no row names it any more, so it is swept up.
