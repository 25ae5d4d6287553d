"""File locks of the Git LFS API."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any, TypeVar

from ingot.core.api.params import INT64_MAX, number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.projects.projects.tables import Project
from ingot.repositories.lfs.params import LockParams, UnlockParams, VerifyLocksParams
from ingot.repositories.lfs.queries import find_lock, list_locks, lock_on_path_or_none
from ingot.repositories.lfs.service import lock_file, unlock_file
from ingot.repositories.lfs.tables import LfsLock
from ingot.repositories.lfs.views import lock_view
from ingot.transport.callers import Authenticate, recorded_author
from ingot.transport.policy import current_access

T = TypeVar("T")
MAX_PER_PAGE = 1_000
DEFAULT_PER_PAGE = 100


class LfsLocks:
    """Lists, creates and removes locks."""

    def __init__(self, database: Database, pool: Executor) -> None:
        self._database = database
        self._pool = pool

    async def list_locks(self, project: Project, query: dict[str, Any]) -> dict[str, Any]:
        """Return the locks of a project; only those of a path or with an id if the query names one."""
        path, lock_id = query.get("path"), query.get("id")
        if path or lock_id:
            matching = await self._read(partial(_matching, project=project, path=path, lock_id=lock_id))
            return {"locks": [lock_view(lock) for lock in matching]}
        limit = number_or_none(str(query.get("limit") or DEFAULT_PER_PAGE))
        locks, cursor = await self._page(project, query.get("cursor"), limit)
        return {"locks": [lock_view(lock) for lock in locks], **cursor}

    async def verify(self, authenticate: Authenticate, project: Project, params: VerifyLocksParams) -> dict[str, Any]:
        """Return the locks of a project, separated into those of the caller and of others."""
        locks, cursor = await self._page(project, params.cursor, params.limit)
        author = await self._read(lambda db: recorded_author(db, authenticate(db), project))
        ours = [lock_view(lock) for lock in locks if lock.user_id == author.user_id]
        theirs = [lock_view(lock) for lock in locks if lock.user_id != author.user_id]
        return {"ours": ours, "theirs": theirs, **cursor}

    async def lock(
        self, authenticate: Authenticate, project: Project, params: LockParams
    ) -> tuple[int, dict[str, Any]]:
        """Lock a file; return 201 and the new lock, or 409 and the existing one."""

        def work(db: Connection) -> tuple[LfsLock, bool]:
            caller, _, current = current_access(db, authenticate, project, "git-receive-pack")
            return lock_file(db, recorded_author(db, caller, current), current, params.path)

        lock, created = await self._write(work)
        return (201 if created else 409), {"lock": lock_view(lock)}

    async def unlock(
        self, authenticate: Authenticate, project: Project, raw_id: str, params: UnlockParams
    ) -> dict[str, Any]:
        """Remove a lock and return it."""
        lock_id = number_or_none(raw_id)
        if lock_id is None:
            raise NotFound("Lock")

        def work(db: Connection) -> LfsLock:
            caller, access, current = current_access(db, authenticate, project, "git-receive-pack")
            author = recorded_author(db, caller, current)
            return unlock_file(db, author, access, current, lock_id, force=bool(params.force))

        return {"lock": lock_view(await self._write(work))}

    async def _page(self, project: Project, cursor: Any, limit: int | None) -> tuple[list[LfsLock], dict[str, str]]:
        """Return a page of locks, and the cursor of the next page if there is one."""
        size = min(max(limit or DEFAULT_PER_PAGE, 1), MAX_PER_PAGE)
        after = number_or_none(str(cursor or "0"))
        after = INT64_MAX if after is None else after
        locks = await self._read(partial(list_locks, project_id=project.id, after=after, most=size + 1))
        more = len(locks) > size
        return locks[:size], {"next_cursor": str(locks[size - 1].id)} if more else {}

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await self._database.read_async(work, self._pool)

    async def _write(self, work: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._database.write, work)


def _matching(db: Connection, project: Project, path: Any, lock_id: Any) -> list[LfsLock]:
    """Return the lock with a path and an id, if there is one."""
    if path:
        lock = lock_on_path_or_none(db, project.id, str(path))
    else:
        try:
            lock = find_lock(db, project.id, number_or_none(str(lock_id)) or 0)
        except NotFound:
            lock = None
    return [] if lock is None or (lock_id and str(lock.id) != str(lock_id)) else [lock]
