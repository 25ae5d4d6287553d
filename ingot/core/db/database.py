"""Reads and transactions with retries, on connections per thread."""

import threading
from asyncio import get_running_loop
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any, TypeVar

from ingot.core.db.announcements import NOTIFY_LISTENERS, encode_topics
from ingot.core.db.cache import ReadCache
from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection, StatementCache, Subscribers
from ingot.core.db.engines import DatabaseErrorKind, Engine, SqliteEngine
from ingot.core.db.ports import Ports
from ingot.core.db.times import Timestamp
from ingot.core.db.vault import Vault
from ingot.errors import CommitUncertain, Conflict, StorageFull, Unavailable
from ingot.log import log_failure

T = TypeVar("T")
_MAX_ATTEMPTS = 3


class _ThreadConnections(threading.local):
    """Connections of one thread, and the read cache of its reader."""

    reader: Any = None
    writer: Any = None
    cache: ReadCache | None = None
    reading: Connection | None = None
    """Connection of the current read; a nested read uses the same one."""


class Database:
    """Connections per thread, and the reads and transactions that run on them."""

    def __init__(
        self,
        engine: Engine,
        vault: Vault,
        subscribers: Subscribers,
        ports: Ports,
        clock: Callable[[], Timestamp] = wall_clock,
    ) -> None:
        self.engine = engine
        self.vault = vault
        self.subscribers = subscribers
        self.ports = ports
        self.clock = engine.clock if clock is wall_clock else clock
        self._embedded = isinstance(engine, SqliteEngine)
        self.statements = StatementCache(engine.dialect, embedded=self._embedded)
        self._local = _ThreadConnections()
        self._opened: list[Any] = []
        self._caches: list[ReadCache] = []

    @property
    def embedded(self) -> bool:
        """Return whether the database is a file, which one machine uses."""
        return self._embedded

    async def read_async(self, work: Callable[[Connection], T], executor: Executor) -> T:
        """Run ``work`` as ``read`` does: on the event loop, or in a thread if the server is far away."""
        if self.engine.is_remote:
            return await get_running_loop().run_in_executor(executor, self.read, work)
        return self.read(work)

    def read(self, work: Callable[[Connection], T], *, ahead_of_change: bool = False) -> T:
        """Run ``work`` on a read-only connection; a lost connection is replaced once."""
        outer = self._local.reading
        if outer is not None and not ahead_of_change:
            return work(outer)
        for last in (False, True):
            try:
                db = self._connection("reader", read_only=True, follow_redirects=not ahead_of_change)
                result = work(db) if ahead_of_change else self._read_nested(db, work)
            except self.engine.errors as error:
                self._classify(error, "reader", may_retry=not last)
            else:
                if db.deferred_writes:
                    self._run_deferred_writes(db)
                return result
        raise AssertionError("unreachable")

    def _read_nested(self, db: Connection, work: Callable[[Connection], T]) -> T:
        self._local.reading = db
        try:
            return work(db)
        finally:
            self._local.reading = None

    def _run_deferred_writes(self, db: Connection) -> None:
        for deferred in db.deferred_writes:
            try:
                self.write(deferred)
            except (Unavailable, Conflict) as error:  # The result of the read is valid without being stored.
                log_failure("deferred write failed", error)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction, and again if a concurrent transaction conflicts.

        A check that passed in two concurrent transactions breaks a constraint in the slower one; in the next attempt
        the same check finds the row and responds accordingly. Work whose commit may have succeeded is never repeated.
        """
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                db, result = self._transact(work)
            except self.engine.errors as error:
                self._classify(error, "writer", may_retry=attempt < _MAX_ATTEMPTS)
            else:
                self._after_commit(db)
                return result
        raise AssertionError("unreachable")

    def announce(self, *topics: str) -> None:
        """Announce changes outside of a transaction, such as new output of a job; a failure is only logged."""
        message = encode_topics(topics)
        try:
            self.engine.send_message(message)
            if not self._embedded:
                self.read(lambda db: db.value(NOTIFY_LISTENERS, message=message))
        except Exception as error:  # noqa: BLE001 - What is announced has happened, so the request must not fail.
            log_failure("announcement failed", error)

    def _transact(self, work: Callable[[Connection], T]) -> tuple[Connection, T]:
        db = self._connection("writer", read_only=False)
        raw, self._local.reading = self._local.writer, None  # Nested reads must not use the old snapshot.
        transaction = self.engine.begin(raw)
        db.now = self.clock()
        try:
            try:
                result = work(db)
                for last_step in db.before_end.values():
                    last_step(db)
            except BaseException:
                self._roll_back(raw)
                raise
            return self._commit(db, transaction), result
        finally:
            self.engine.end()

    def _roll_back(self, raw: Any) -> None:
        try:
            # After some errors, such as a full disk, SQLite has rolled back already.
            if not self._embedded or raw.in_transaction:
                raw.execute("ROLLBACK")
        except self.engine.errors as error:  # The first error is raised; a dead connection has rolled back.
            log_failure("rollback failed", error)

    def _commit(self, db: Connection, transaction: Any) -> Connection:
        """Commit; return the connection for the work after the commit, which is a new one if this one was lost."""
        try:
            self._local.writer.execute("COMMIT")
        except self.engine.errors as error:
            if self.engine.classify_error(error) is not DatabaseErrorKind.LOST:
                if self._embedded and self._local.writer.in_transaction:  # A full disk leaves it open.
                    self._roll_back(self._local.writer)
                raise
            self._forget("writer")
            committed = self.engine.was_committed(transaction)
            if committed is None:
                raise CommitUncertain from error
            if not committed:
                raise
            log_failure("connection lost after a commit", error)
            return self._replaced(db)
        return db

    def _replaced(self, db: Connection) -> Connection:
        try:
            fresh = self._connection("writer", read_only=False)
        except Unavailable as error:  # The work after the commit fails, and is left to its job.
            log_failure("no connection after a commit", error)
            return db
        fresh.afterwards, fresh.follow_ups, fresh.announced = db.afterwards, db.follow_ups, db.announced
        return fresh

    def _after_commit(self, db: Connection) -> None:
        """Run the work that follows a commit; a failure is logged and left to its job, since the commit is final."""
        for work in db.afterwards:
            self._run_after_commit(partial(work, db))
        for work in db.follow_ups:
            self._run_after_commit(partial(work, self))
        # Last, because follow-ups do the work of some jobs and withdraw these.
        if db.wakes_watchers:
            self._run_after_commit(self.engine.wake_watchers)
        if db.announced:
            self._run_after_commit(partial(self.engine.send_message, encode_topics(db.announced)))

    def _run_after_commit(self, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - The caller's change is committed, so the request must not fail.
            log_failure("work after a commit failed", error)

    def _classify(self, error: Exception, role: str, *, may_retry: bool) -> None:
        """Return if the work may be retried; otherwise raise the error of the domain."""
        kind = self.engine.classify_error(error)
        if kind is None:
            raise error
        if kind is DatabaseErrorKind.FULL:
            raise StorageFull("The disk of the database is full") from error
        if kind is DatabaseErrorKind.LOST:
            self._forget(role)
        if kind is DatabaseErrorKind.BUSY or not may_retry:
            if kind is DatabaseErrorKind.CLASH:
                raise Conflict("409 Conflict") from error
            raise Unavailable("The database is busy or does not answer") from error

    def _connection(self, role: str, *, read_only: bool, follow_redirects: bool = False) -> Connection:
        if not self._embedded:
            self.engine.require_responsive()
        raw = getattr(self._local, role)
        if raw is None:
            try:
                raw = self.engine.connect(read_only=read_only, typed=False)
            except self.engine.errors as error:
                raise Unavailable("The database does not answer") from error
            setattr(self._local, role, raw)
            if read_only:
                self._local.cache = ReadCache(raw, self.engine.version_statement)
                self._caches.append(self._local.cache)
            self._opened.append(raw)
        if not self._embedded:
            self.engine.limit_waiting(raw)
        cache = self._local.cache if read_only else None
        return Connection(
            raw,
            self.statements,
            self.clock(),
            self.vault,
            self.subscribers,
            self.ports,
            follow_redirects=follow_redirects,
            cache=cache,
        )

    def _forget(self, role: str) -> None:
        raw = getattr(self._local, role)
        if raw is not None:
            setattr(self._local, role, None)
            self._opened.remove(raw)
            raw.close()
            if role == "reader" and self._local.cache is not None:
                self._caches.remove(self._local.cache)
                self._local.cache.clear()

    def close(self) -> None:
        """Close the connections of all threads; none may be in use. Later work opens new ones."""
        for raw in self._opened:
            raw.close()
        self._opened.clear()
        for cache in self._caches:
            cache.clear()
        self._caches.clear()
        self._local = _ThreadConnections()
        self.engine.close()
