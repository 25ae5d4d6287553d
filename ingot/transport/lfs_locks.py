"""Locks on large files: whoever works on one alone says so, and clients hold others back."""

import asyncio
from concurrent.futures import Executor
from functools import partial
from typing import Any

from ingot.core.api.params import INT64_MAX, number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.errors import NotFound
from ingot.projects.projects.tables import Project
from ingot.repositories.lfs.params import LockParams, UnlockParams, VerifyLocksParams
from ingot.repositories.lfs.queries import find_lock, list_locks, lock_on_path_or_none
from ingot.repositories.lfs.service import lock_file, unlock_file
from ingot.repositories.lfs.tables import LfsLock
from ingot.repositories.lfs.views import lock_view
from ingot.transport.callers import Authenticate, recorded_author
from ingot.transport.policy import require_service

MAX_PAGE_SIZE = 1_000
DEFAULT_PAGE_SIZE = 100


class LfsLockService:
    """Takes and gives back locks."""

    def __init__(self, database: Database, pool: Executor) -> None:
        self._database = database
        self._pool = pool

    def listed(self, project: Project, asked: dict[str, Any]) -> dict[str, Any]:
        """The locks of a project; of one file, or with one number, where that is asked for."""
        path, number = asked.get("path"), asked.get("id")
        if path or number:
            found = self._database.read(partial(_matching, project=project, path=path, number=number))
            return {"locks": [lock_view(lock) for lock in found]}
        limit = number_or_none(str(asked.get("limit") or DEFAULT_PAGE_SIZE))
        locks, cursor = self._lock_page(project, asked.get("cursor"), limit)
        return {"locks": [lock_view(lock) for lock in locks], **cursor}

    def verify_locks(self, authenticate: Authenticate, project: Project, params: VerifyLocksParams) -> dict[str, Any]:
        """The same, told apart by whether they are the caller's."""
        locks, cursor = self._lock_page(project, params.cursor, params.limit)
        me = self._database.read(lambda db: recorded_author(db, authenticate(db), project)).user_id
        ours = [lock_view(lock) for lock in locks if lock.user_id == me]
        return {"ours": ours, "theirs": [lock_view(lock) for lock in locks if lock.user_id != me], **cursor}

    async def lock(
        self, authenticate: Authenticate, project: Project, params: LockParams
    ) -> tuple[int, dict[str, Any]]:
        """Lock a file; gives the status, and the lock that is on it now."""

        def work(db: Connection) -> tuple[LfsLock, bool]:
            caller, _, found = require_service(db, authenticate, project, "git-receive-pack")
            return lock_file(db, recorded_author(db, caller, found), found, params.path)

        lock, fresh = await self._write(work)
        return (201 if fresh else 409), {"lock": lock_view(lock)}

    async def unlock(
        self, authenticate: Authenticate, project: Project, number: str, params: UnlockParams
    ) -> dict[str, Any]:
        """Remove a lock; gives what it was."""
        lock_id = number_or_none(number)
        if lock_id is None:
            raise NotFound("Lock")

        def work(db: Connection) -> LfsLock:
            caller, access, found = require_service(db, authenticate, project, "git-receive-pack")
            author = recorded_author(db, caller, found)
            return unlock_file(db, author, access, found, lock_id, force=bool(params.force))

        return {"lock": lock_view(await self._write(work))}

    def _lock_page(self, project: Project, cursor: Any, limit: int | None) -> tuple[list[LfsLock], dict[str, str]]:
        """A part of the locks, and from where the next begins."""
        most = min(max(limit or DEFAULT_PAGE_SIZE, 1), MAX_PAGE_SIZE)
        after = number_or_none(str(cursor or "0"))
        after = INT64_MAX if after is None else after
        locks = self._database.read(partial(list_locks, project_id=project.id, after=after, most=most + 1))
        more = len(locks) > most
        return locks[:most], {"next_cursor": str(locks[most - 1].id)} if more else {}

    async def _write(self, work: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._database.write, work)


def _matching(db: Connection, project: Project, path: Any, number: Any) -> list[LfsLock]:
    """The one lock that a path and a number name, if there is one."""
    if path:
        lock = lock_on_path_or_none(db, project.id, str(path))
    else:
        try:
            lock = find_lock(db, project.id, number_or_none(str(number)) or 0)
        except NotFound:
            lock = None
    return [] if lock is None or (number and str(lock.id) != str(number)) else [lock]
