"""Background job that imports a repository; idempotent, starts again after a crash."""

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from ingot.core.db.database import Database
from ingot.core.disk_errors import is_storage_full
from ingot.core.errors import Conflict, Unavailable
from ingot.core.jobs.handlers import RetryLater
from ingot.core.log import log_failure
from ingot.core.outgoing.errors import RequestFailed, RequestRefused
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.remotes import find_repository
from ingot.core.outgoing.urls import strip_credentials
from ingot.git.core.errors import GitError, MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.core.shared_disks import file_lock
from ingot.git.maintenance.fetch import NO_SPACE, empty_repository, fetch_into
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.imports.queries import JOB_KEY, import_or_none, job_attempts
from ingot.projects.imports.service import (
    ImportResult,
    fail_import,
    finish_import,
    is_import_pending,
    record_progress,
    schedule_retry,
    start_import,
    start_next_import,
)

TIMEOUT_SECONDS = 3600.0
RETRY_DELAYS_SECONDS = (5.0, 20.0)
"""Delays before the second and the third attempt; there is no fourth."""
RESERVED_BYTES = 256 * 2**20
"""Disk space that an import must leave free."""
LOCK_RETRY_SECONDS = 30.0
PROGRESS_SECONDS = 1.0
CANCEL_CHECK_SECONDS = 0.5
"""Interval of the checks whether the import was canceled."""
NOT_STORED = "The repository could not be stored"
TRANSIENT_REASONS = frozenset(
    {
        "The server cannot be reached",
        "The server took too long",
        "The server failed",
        "The server broke off the transfer",
        NOT_STORED,
        NO_SPACE,
    }
)
"""Reasons for which the job retries."""
_SERVER_FAILED = "The server answered with status 5"


class ImportFailure(NamedTuple):
    """Reason of a failed import, and whether a retry may succeed."""

    reason: str
    transient: bool


class _ImportCancelled(Exception):
    """Signal that the project or the job was deleted during the import."""


class ImportJobs:
    """Handler of import jobs."""

    def __init__(
        self,
        store: RepositoryStore,
        guard: SsrfGuard,
        *,
        pauses: Sequence[float] = RETRY_DELAYS_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
        max_bytes: int | None = None,
    ) -> None:
        self._store = store
        self._guard = guard
        self._pauses = tuple(pauses)
        self._timeout = timeout
        self._max_bytes = max_bytes

    def run(self, database: Database, payload: Any) -> None:
        """Fetch the repository and record the result; raise RetryLater for a transient failure."""
        project_id: int = payload["project_id"]
        job = f"{JOB_KEY}{project_id}"
        pending, attempts = database.read(lambda db: (import_or_none(db, project_id), job_attempts(db, job)))
        if pending is None:
            return
        key, branch = pending.repository_key, pending.default_branch
        with ExitStack() as locks:
            self._lock_repository(locks, key, branch)
            previous = database.write(lambda db: start_import(db, pending))
            if previous is None:
                return
            if previous.status == "started":
                # A worker crashed during this import. Its git process may still run and write to the old folder.
                self._store.remove(key)
                self._lock_repository(locks, key, branch)
            try:
                outcome = self._fetch_repository(
                    key, database.vault.unseal(previous.sealed_url), _ProgressMonitor(database, project_id)
                )
            except _ImportCancelled:
                database.write(lambda db: start_next_import(db, previous))
                return
            if isinstance(outcome, ImportResult):
                database.write(lambda db: finish_import(db, project_id, outcome))
            elif outcome.transient and attempts <= len(self._pauses):
                database.write(lambda db: schedule_retry(db, project_id, outcome.reason))
                raise RetryLater(self._pauses[attempts - 1], outcome.reason)
            else:
                database.write(lambda db: fail_import(db, project_id, outcome.reason))

    def _lock_repository(self, locks: ExitStack, key: str, branch: str) -> None:
        """Lock the repository; raise RetryLater if a worker whose lease has expired still holds the lock.

        The operating system releases the lock when its process ends, also after a crash.
        """
        if not self._store.exists(key):  # A crash between the removal and the creation of the repository.
            self._store.create(key, branch)
        if self._store.is_in_bucket(key):
            self._store.open(key)  # Creates the local copy.
        if not locks.enter_context(file_lock(self._store.path_of(key) / "ingot-import", wait=False)):
            raise RetryLater(LOCK_RETRY_SECONDS)

    def _fetch_repository(self, key: str, url: str, monitor: "_ProgressMonitor") -> ImportResult | ImportFailure:
        path = self._store.path_of(key)
        address, username, password = strip_credentials(url)
        try:
            monitor.check_pending()
            max_bytes = self._max_import_bytes(path)
            if not max_bytes:
                return ImportFailure(NO_SPACE, True)
            remote = find_repository(self._guard, _normalized_url(address), username, password)
            reason = fetch_into(
                path,
                _normalized_url(remote.url),
                remote.pinned,
                remote.username,
                remote.password,
                self._timeout,
                monitor.record,
                monitor.check_pending,
                max_bytes=max_bytes,
            )
            if reason is None and (reason := self._ref_limit_error(path)) is not None:
                empty_repository(path)
            repository = self._store.open(key)
            if reason is None and repository.ref_store is not None:
                repository.ref_store.publish()
            return ImportFailure(reason, reason in TRANSIENT_REASONS) if reason else import_result_of(repository)
        except (RequestRefused, RequestFailed) as error:
            passing = error.temporary or error.reason.startswith(_SERVER_FAILED)
            return ImportFailure(error.reason, passing)
        except (OSError, MissingRepository, GitError) as error:
            log_failure("import not stored", error)
            return ImportFailure(NO_SPACE if is_storage_full(error) else NOT_STORED, True)

    def _ref_limit_error(self, path: Path) -> str | None:
        return Repository(path, max_refs=self._store.max_refs).ref_limit_error()

    def _max_import_bytes(self, path: Path) -> int:
        free = max(0, shutil.disk_usage(path).free - RESERVED_BYTES)
        return free if self._max_bytes is None else min(free, self._max_bytes)


def import_result_of(repository: Repository) -> ImportResult:
    """Return the default branch, size and commit count of a repository."""
    return ImportResult(
        repository.head_branch(), repository.is_empty(), repository.commit_count(), repository.size_bytes()
    )


def _normalized_url(url: str) -> str:
    """Return the URL in the normalized form that is passed to git; redirects may use another form."""
    scheme, _, rest = url.partition("://")
    if "?" in rest or "#" in rest:
        raise RequestFailed("The server redirects to what is not a repository")
    return f"{scheme.lower()}://{rest.replace('@', '%40')}"  # There are no credentials in it at this point.


class _ProgressMonitor:
    """Callbacks of a running fetch: records progress at most once a second and stops canceled imports."""

    def __init__(self, database: Database, project_id: int) -> None:
        self._database = database
        self._project_id = project_id
        self._next_record = 0.0
        self._next_check = 0.0

    def check_pending(self) -> None:
        """Raise _ImportCancelled if the project or its job was deleted."""
        if monotonic() < self._next_check:
            return
        self._next_check = monotonic() + CANCEL_CHECK_SECONDS
        try:
            wanted = self._database.read(partial(is_import_pending, project_id=self._project_id))
        except Unavailable as error:  # The import goes on, and asks again.
            log_failure("import does not know whether it is wanted", error, project_id=self._project_id)
            return
        if not wanted:
            raise _ImportCancelled

    def record(self, text: str) -> None:
        """Store git's progress line; raise _ImportCancelled if the project or its job was deleted."""
        if monotonic() < self._next_record:
            return
        self._next_record = monotonic() + PROGRESS_SECONDS
        try:
            wanted = self._database.write(partial(record_progress, project_id=self._project_id, text=text))
        except (Unavailable, Conflict) as error:  # Progress is not worth losing an import for.
            log_failure("progress of an import not stored", error, project_id=self._project_id)
            return
        if not wanted:
            raise _ImportCancelled
