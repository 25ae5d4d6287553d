"""Reads and transactions with retries, on connections that threads share."""

import threading
from asyncio import get_running_loop
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from typing import Any, TypeVar

from ingot.core.db.announcements import NOTIFY_LISTENERS, encode_topics
from ingot.core.db.clocks import wall_clock
from ingot.core.db.compiled_statements import StatementCache
from ingot.core.db.connection import Connection, Subscribers
from ingot.core.db.connection_pool import ConnectionPool, PooledConnection, close_connection
from ingot.core.db.engines import DatabaseErrorKind, Engine, SqliteEngine
from ingot.core.db.log_positions import log_position
from ingot.core.db.ports import Ports
from ingot.core.db.replicas import ReadReplicas
from ingot.core.db.times import Timestamp
from ingot.core.db.vault import Vault
from ingot.core.errors import CommitUncertain, Conflict, StorageFull, Unavailable
from ingot.core.log import log_failure
from ingot.core.offload import TransactionInterrupted, WouldBlock, forbid_blocking, forbid_long_work, forget_results

T = TypeVar("T")
_MAX_ATTEMPTS = 3
_MAX_INTERRUPTIONS = 100


class _ThreadState(threading.local):
    """Read that runs in a thread."""

    reading: Connection | None = None
    """Connection of the current read; a nested read uses the same one."""


class Database:
    """Connections to the database, and the reads and transactions that run on them."""

    def __init__(
        self,
        engine: Engine,
        vault: Vault,
        subscribers: Subscribers,
        ports: Ports,
        clock: Callable[[], Timestamp] = wall_clock,
        replicas: ReadReplicas | None = None,
    ) -> None:
        self.engine = engine
        self.vault = vault
        self.subscribers = subscribers
        self.ports = ports
        self.replicas = replicas
        """Standbys that serve reads."""
        self.clock = engine.clock if clock is wall_clock else clock
        self._embedded = isinstance(engine, SqliteEngine)
        self.statements = StatementCache(engine.dialect, embedded=self._embedded)
        self._local = _ThreadState()
        self._readers = ConnectionPool(engine, read_only=True)
        self._writers = ConnectionPool(engine, read_only=False)

    @property
    def embedded(self) -> bool:
        """Return whether the database is a file, which one machine uses."""
        return self._embedded

    @property
    def is_remote(self) -> bool:
        """Return whether a round trip takes so long that no event loop should wait for it."""
        return self.engine.is_remote or (self.replicas is not None and self.replicas.is_remote)

    async def read_async(self, work: Callable[[Connection], T], executor: Executor) -> T:
        """Run ``work`` as ``read`` does: on the event loop, or in a thread if the server is far away or slow."""
        if not self.is_remote:
            try:
                with forbid_blocking():
                    return self.read(work)
            except WouldBlock:
                pass
        return await get_running_loop().run_in_executor(executor, self.read, work)

    def read(self, work: Callable[[Connection], T], *, ahead_of_change: bool = False) -> T:
        """Run ``work`` on a read-only connection; a lost connection is replaced once."""
        outer = self._local.reading
        if outer is not None and not ahead_of_change:
            return work(outer)

        def run(reader: PooledConnection) -> tuple[Connection, T]:
            db = self._connection(reader, for_change=ahead_of_change)
            return db, work(db) if ahead_of_change else self._read_nested(db, work)

        db, result = self._read_replica(run) or self._read_primary(run)
        if db.work_after_read:
            self._run_after_read(db)
        return result

    def _read_replica(self, work: Callable[[PooledConnection], T]) -> T | None:
        """Run ``work`` on a replica that has everything committed so far; return None if there is none."""
        replicas = self.replicas
        if replicas is None or not replicas.may_serve():
            return None
        try:
            position = self._read_primary(lambda reader: log_position(reader.raw))
        except self.engine.errors as error:  # Such as missing rights.
            replicas.leave_out_all(error)
            return None
        return replicas.read(position, work)

    def _read_primary(self, work: Callable[[PooledConnection], T]) -> T:
        for last in (False, True):
            reader = self._take(self._readers)
            try:
                self._limit_waiting(reader)
                return work(reader)
            except self.engine.errors as error:
                self._classify(error, reader, may_retry=not last)
            finally:
                self._readers.give_back(reader)
        raise AssertionError("unreachable")

    def _read_nested(self, db: Connection, work: Callable[[Connection], T]) -> T:
        self._local.reading = db
        try:
            return work(db)
        finally:
            self._local.reading = None

    def _run_after_read(self, db: Connection) -> None:
        for work in db.work_after_read:
            try:
                self.write(work)
            except (Unavailable, Conflict) as error:  # The result of the read is valid without being stored.
                log_failure("write after a read failed", error)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` in a transaction, and again if a concurrent transaction conflicts.

        A check that passed in two concurrent transactions breaks a constraint in the slower one; in the next attempt
        the same check finds the row and responds accordingly. Work whose commit may have succeeded is never repeated.
        Work that interrupts the transaction, such as an import, is done while none runs; then it begins again.
        """
        try:
            for _ in range(_MAX_INTERRUPTIONS):
                try:
                    return self._write(work)
                except TransactionInterrupted as interruption:
                    interruption.work()
            raise RuntimeError("A transaction was interrupted for the same work again and again")
        finally:
            forget_results()

    def _write(self, work: Callable[[Connection], T]) -> T:
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            writer = self._take(self._writers)
            try:
                db, result = self._transact(writer, work)
                succeeded = [self._run_after_commit(partial(_run_step, step, db)) for step in db.work_after_commit]
                if not all(succeeded):
                    self._discard_statements(writer)
            except self.engine.errors as error:
                self._discard_statements(writer)
                self._classify(error, writer, may_retry=attempt < _MAX_ATTEMPTS)
                continue
            finally:
                self._writers.give_back(writer)
            self._after_commit(db)
            return result
        raise AssertionError("unreachable")

    def announce(self, *topics: str) -> None:
        """Announce changes outside of a transaction, such as new output of a job; a failure is only logged."""
        message = encode_topics(topics)
        try:
            self.engine.send_message(message)
            if not self._embedded:
                self._read_primary(lambda reader: self._connection(reader).value(NOTIFY_LISTENERS, message=message))
        except Exception as error:  # noqa: BLE001 - What is announced has happened, so the request must not fail.
            log_failure("announcement failed", error)

    def _transact(self, writer: PooledConnection, work: Callable[[Connection], T]) -> tuple[Connection, T]:
        self._limit_waiting(writer)
        db = self._connection(writer)
        raw, self._local.reading = writer.raw, None  # Nested reads must not use the old snapshot.
        transaction = self.engine.begin(raw)
        db.begin_at(self.clock())
        try:
            try:
                with forbid_long_work():
                    result = work(db)
                    for last_step in db.work_before_commit.values():
                        last_step(db)
            except BaseException:
                self._roll_back(raw)
                raise
            return self._commit(writer, db, transaction), result
        finally:
            self.engine.end()

    def _roll_back(self, raw: Any) -> None:
        try:
            self.engine.roll_back(raw)
        except self.engine.errors as error:  # The first error is raised; a dead connection has rolled back.
            log_failure("rollback failed", error)

    def _commit(self, writer: PooledConnection, db: Connection, transaction: Any) -> Connection:
        """Commit; return the connection for the work after the commit, which is a new one if this one was lost."""
        try:
            self.engine.before_commit(writer.raw, transaction)
            writer.raw.execute("COMMIT")
        except self.engine.errors as error:
            if self.engine.classify_error(error) is not DatabaseErrorKind.LOST:
                # A full disk leaves it open, and so does an error of a statement that was sent with the commit.
                self._roll_back(writer.raw)
                raise
            close_connection(writer)
            committed = self.engine.was_committed(transaction)
            if committed is None:
                raise CommitUncertain from error
            if not committed:
                raise
            log_failure("connection lost after a commit", error)
            return self._replaced(writer, db)
        return db

    def _replaced(self, writer: PooledConnection, db: Connection) -> Connection:
        try:
            self._writers.open(writer)
            self._limit_waiting(writer)
            fresh = self._connection(writer)
        except Unavailable as error:  # The work after the commit fails, and is left to its job.
            log_failure("no connection after a commit", error)
            return db
        fresh.work_after_commit, fresh.work_after_transaction = db.work_after_commit, db.work_after_transaction
        fresh.announced = db.announced
        return fresh

    def _after_commit(self, db: Connection) -> None:
        """Run the work that follows a commit on connections of its own."""
        for work in db.work_after_transaction:
            self._run_after_commit(partial(work, self))
        # Last, because the work above is that of some jobs, which it withdraws.
        if db.wakes_watchers:
            self._run_after_commit(self.engine.wake_watchers)
        if db.announced:
            self._run_after_commit(partial(self.engine.send_message, encode_topics(db.announced)))

    def _run_after_commit(self, work: Callable[[], object]) -> bool:
        """Run a step after a commit; a failure is logged and left to its job, since the commit is final."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - The caller's change is committed, so the request must not fail.
            log_failure("work after a commit failed", error)
            return False
        return True

    def _discard_statements(self, writer: PooledConnection) -> None:
        """Close a connection to a server after an error.

        The driver believes that it has prepared statements that were sent together with the failed one, but the server
        has skipped them.
        """
        if not self._embedded:
            close_connection(writer)

    def _classify(self, error: Exception, connection: PooledConnection, *, may_retry: bool) -> None:
        """Return if the work may be retried; otherwise raise the error of the domain."""
        kind = self.engine.classify_error(error)
        if kind is None:
            raise error
        if kind is DatabaseErrorKind.FULL:
            raise StorageFull("The disk of the database is full") from error
        if kind is DatabaseErrorKind.LOST:
            alone = self.engine.was_interrupted(connection.raw)
            close_connection(connection)
            if not alone:
                self._readers.discard_idle()
                self._writers.discard_idle()
        if kind is DatabaseErrorKind.BUSY or not may_retry:
            if kind is DatabaseErrorKind.CLASH:
                raise Conflict("409 Conflict") from error
            raise Unavailable("The database is busy or does not answer") from error

    def _take(self, pool: ConnectionPool) -> PooledConnection:
        if not self._embedded:
            self.engine.require_responsive()
        return pool.take()

    def _limit_waiting(self, pooled: PooledConnection) -> None:
        if not self._embedded:
            self.engine.limit_waiting(pooled.raw)

    def _connection(self, pooled: PooledConnection, *, for_change: bool = True) -> Connection:
        return Connection(
            pooled.raw,
            self.statements,
            self.clock(),
            self.vault,
            self.subscribers,
            self.ports,
            for_change=for_change,
            cache=pooled.cache,
            refreshed=pooled.caught_up is not None,
        )

    def close(self) -> None:
        """Close all connections; none may be in use. Later work opens new ones."""
        self._readers.close()
        self._writers.close()
        if self.replicas is not None:
            self.replicas.close()
        self.engine.close()


def _run_step(step: Callable[[Connection], object], db: Connection) -> None:
    step(db)
    db.flush()
