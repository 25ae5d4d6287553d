"""Engine for PostgreSQL: bounded connections, outcomes of commits, announced roles and notifications."""

import os
import select
import threading
import time
import zlib
from collections.abc import Sequence
from contextlib import closing
from typing import Any, NamedTuple

from sqlalchemy.engine import Dialect

from ingot.core.db import engines
from ingot.core.db.announcements import CHANNEL, EVERYTHING, decode_topics
from ingot.core.db.engines import NOTIFY_CHANNEL, DatabaseErrorKind
from ingot.core.db.stalls import MonitoredConnection, StallMonitor, on_event_loop
from ingot.errors import Unavailable
from ingot.log import log_failure

CONNECT_SECONDS = 3
"""Limit in a thread. A request may wait for a statement on the event loop first, and must be answered within 5 s."""
INLINE_CONNECT_SECONDS = 2
"""Limit on an event loop, and for probes; the driver accepts no less."""
RECONNECT_SECONDS = 1.0
HEARTBEAT_SECONDS = 5.0
OUTCOME_SECONDS = 5.0
"""Time to find out whether a commit whose response was lost has succeeded."""
_OUTCOME_PAUSE_SECONDS = 0.05
_LOCK_NAMESPACE = 1_230_919_764  # Any number that other users of the server's advisory locks do not use.
# A peer that vanished without closing the connection is noticed after 7 seconds by us and after 30 by the server, which
# then releases its locks and announced roles.
_DEAD_PEER_OPTIONS: dict[str, Any] = {
    "keepalives": 1,
    "keepalives_idle": 3,
    "keepalives_interval": 2,
    "keepalives_count": 2,
    "tcp_user_timeout": 7000,
}
_SERVER_KEEPALIVES = (
    "SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; "
    "SET lock_timeout = '{lock_ms}ms'; SET statement_timeout = '{statement_ms}ms'; "
    "SET default_transaction_read_only = {read_only}"
)
# The transaction id is assigned here instead of by the first change, which costs no further round trip. By this id
# another connection can find out whether the transaction has committed.
_BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_current_xact_id()::text"
_OUTCOME = "SELECT pg_xact_status(%s::xid8)"
_END_BACKEND = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_xid = %s::xid8::xid"
_HELD_LOCK = (
    # The view shows the locks of all databases, and another instance may use one of them.
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class PostgresqlTransaction(NamedTuple):
    """Identity of a transaction on the server."""

    xid: str
    backend_pid: int


class PostgresqlEngine:
    """A PostgreSQL server, shared by any number of processes and machines."""

    # Independent of the server's default: after waiting for a lock, a transaction must see what its last holder did.
    begin_statement = "BEGIN ISOLATION LEVEL READ COMMITTED"
    # The set of visible transactions: equal text means equal rows. Notifications would be too late, since they may
    # arrive after the response to the client that committed.
    version_statement = "SELECT pg_current_snapshot()::text"

    def __init__(self, url: str, statement_seconds: float | None = None) -> None:
        # Imported here, so that instances with SQLite do not load the driver.
        import psycopg
        from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

        self._driver = psycopg
        self.errors: type[Exception] = psycopg.Error
        self.url = url.replace("postgres://", "postgresql://", 1)
        self.dialect: Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call] # Untyped in the library.
        self._statement_seconds = statement_seconds
        self._monitor = StallMonitor(self._answers)
        self._role_reader: Any = None

    def connect(self, *, read_only: bool, typed: bool = True) -> Any:  # noqa: ARG002 - The server reports the types.
        inline = on_event_loop()
        connection = MonitoredConnection(
            self._open(INLINE_CONNECT_SECONDS if inline else CONNECT_SECONDS), self._monitor
        )
        connection.mark_inline(inline)
        options = _SERVER_KEEPALIVES.format(
            lock_ms=int(engines.LOCK_WAIT_SECONDS * 1000),
            statement_ms=int((self._statement_seconds or 0) * 1000),
            read_only="on" if read_only else "off",
        )
        try:
            connection.execute(options, prepare=False)
        except BaseException:
            connection.close()
            raise
        connection.mark_inline(False)
        return connection

    def _open(self, seconds: int) -> Any:
        try:
            return self._driver.connect(
                self.url, autocommit=True, application_name="ingot", connect_timeout=seconds, **_DEAD_PEER_OPTIONS
            )
        except self._driver.errors.ConnectionTimeout:
            self._monitor.suspect()
            raise

    def _answers(self) -> bool:
        """Return whether the server responds to a new connection, even if only to refuse it."""
        try:
            self._driver.connect(self.url, connect_timeout=INLINE_CONNECT_SECONDS, **_DEAD_PEER_OPTIONS).close()
        except self._driver.errors.ConnectionTimeout:
            return False
        except self._driver.Error:  # Waiting statements get such an error by themselves.
            return True
        return True

    def require_responsive(self) -> None:
        self._monitor.require_responsive()

    def limit_waiting(self, raw: Any) -> None:
        raw.mark_inline(on_event_loop())

    def begin(self, raw: Any) -> PostgresqlTransaction:
        cursor = raw.execute(_BEGIN, prepare=False)
        cursor.nextset()
        return PostgresqlTransaction(cursor.fetchone()[0], raw.info.backend_pid)

    def end(self) -> None:
        pass

    def was_committed(self, transaction: PostgresqlTransaction) -> bool | None:
        if on_event_loop():  # Only writes that nothing depends on run there, and none of them is worth waiting for.
            return None
        deadline = time.monotonic() + OUTCOME_SECONDS
        while time.monotonic() < deadline:
            try:
                self.require_responsive()
                with closing(self.connect(read_only=True)) as connection:
                    return self._await_outcome(connection, transaction, deadline)
            except Unavailable as error:
                log_failure("outcome of a commit unknown", error)
                return None
            except self.errors as error:
                log_failure("outcome of a commit not found yet", error)
                time.sleep(_OUTCOME_PAUSE_SECONDS)
        return None

    def _await_outcome(self, connection: Any, transaction: PostgresqlTransaction, deadline: float) -> bool | None:
        while True:
            status = connection.execute(_OUTCOME, (transaction.xid,)).fetchone()[0]
            if status != "in progress":
                return None if status is None else bool(status == "committed")
            if time.monotonic() > deadline:
                return None
            # It waits for a client that is gone, or is about to commit; both end soon, with a definite outcome.
            connection.execute(_END_BACKEND, (transaction.backend_pid, transaction.xid))
            time.sleep(_OUTCOME_PAUSE_SECONDS)

    def classify_error(self, error: Exception) -> DatabaseErrorKind | None:
        errors = self._driver.errors
        if isinstance(error, errors.LockNotAvailable | errors.QueryCanceled):
            return DatabaseErrorKind.BUSY
        if isinstance(error, errors.DiskFull):
            return DatabaseErrorKind.FULL
        clashes = (errors.IntegrityError, errors.SerializationFailure, errors.DeadlockDetected)
        if isinstance(error, clashes):
            return DatabaseErrorKind.CLASH
        if isinstance(error, self._driver.OperationalError | errors.InterfaceError):
            return DatabaseErrorKind.LOST
        return None

    def announce_role(self, role: str) -> "PostgresqlAnnouncement":
        return PostgresqlAnnouncement(self, role)

    def hold_role(self, role: str) -> Any:
        """Return a new connection that announces a role as long as it is open."""
        connection = self.connect(read_only=False)
        connection.execute("SELECT pg_advisory_lock_shared(%s, %s)", (_LOCK_NAMESPACE, _role_key(role)))
        return connection

    def watch(self, role: str) -> "PostgresqlWatch":
        return PostgresqlWatch(self, role)

    def wake_watchers(self) -> None:
        """Do nothing: the notification is part of the transaction."""

    def listen(self) -> "PostgresqlListener":
        return PostgresqlListener(self)

    def send_message(self, message: str) -> None:
        """Do nothing: the notification is part of the transaction."""

    def close(self) -> None:
        if self._role_reader is not None:
            self._role_reader.close()
        self._monitor.close()

    def is_served(self, role: str) -> bool:
        if not self._monitor.responsive:
            return False
        if self._role_reader is None or self._role_reader.closed:
            try:
                self._role_reader = self.connect(read_only=True)
            except self._driver.Error:  # Not served as far as this process can tell; readiness reports it.
                return False
        self._role_reader.mark_inline(on_event_loop())
        try:
            found = self._role_reader.execute(_HELD_LOCK, (_LOCK_NAMESPACE, _role_key(role))).fetchone()
        except self._driver.Error:  # Likewise.
            self._role_reader.close()
            return False
        return found is not None


def _role_key(role: str) -> int:
    return zlib.crc32(role.encode()) >> 1


class PostgresqlAnnouncement:
    """Announcement of a role by a thread that connects again whenever the connection is lost."""

    def __init__(self, engine: PostgresqlEngine, role: str) -> None:
        self._stop, self._stopper = os.pipe()
        self._watch = PostgresqlWatch(engine, role, listens=False)
        self._thread = threading.Thread(target=self._run, name=f"announcement of {role}", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not select.select([self._stop], [], [], 0)[0]:
            self._watch.wait(HEARTBEAT_SECONDS, [self._stop])

    def close(self) -> None:
        """Stop announcing the role."""
        if self._stopper < 0:
            return
        os.close(self._stopper)
        self._stopper = -1
        self._thread.join()
        self._watch.close()
        os.close(self._stop)


class PostgresqlWatch:
    """Watch that listens on the connection that announces the role, without polling."""

    def __init__(self, engine: PostgresqlEngine, role: str, *, listens: bool = True) -> None:
        self._engine = engine
        self._role = role
        self._listens = listens
        self._connection: Any = None
        self._notified = False
        """Whether a notification arrived together with the result of a statement."""
        self._connect()

    def _note(self, _: object) -> None:
        self._notified = True

    def _connect(self) -> None:
        try:
            self._engine.require_responsive()
            connection = self._engine.hold_role(self._role)
            if self._listens:
                connection.add_notify_handler(self._note)
                connection.execute(f"LISTEN {NOTIFY_CHANNEL}")
            self._connection = connection
        except (self._engine.errors, Unavailable):
            # The caller gets the same error, and the next call connects again.
            pass

    def wait(self, seconds: float, others: Sequence[int]) -> None:
        """Return when something may have changed since the last call, ``others`` are readable, or the time is over."""
        if self._connection is None:
            select.select(others, [], [], min(seconds, RECONNECT_SECONDS))
            # Notifications may have been missed meanwhile, so a new connection counts as a change.
            self._connect()
            return
        try:
            self._wait(time.monotonic() + seconds, others)
        except self._engine.errors:  # The next call connects again.
            self._connection.close()
            self._connection = None

    def _wait(self, deadline: float, others: Sequence[int]) -> None:
        descriptor = self._connection.fileno()
        while True:
            remaining = max(0.0, deadline - time.monotonic())
            ready = select.select([descriptor, *others], [], [], min(remaining, HEARTBEAT_SECONDS))[0]
            if descriptor in ready:
                self._connection.pgconn.consume_input()
                while self._connection.pgconn.notifies():
                    pass
            elif not ready:
                # A connection can be dead without notice; the role would then no longer be announced.
                self._connection.execute("SELECT 1")
            if ready or self._notified or time.monotonic() >= deadline:
                self._notified = False
                return

    def close(self) -> None:
        """Stop announcing the role."""
        if self._connection is not None:
            self._connection.close()


class PostgresqlListener:
    """Listener on a connection of its own, which is replaced when it is lost."""

    def __init__(self, engine: PostgresqlEngine) -> None:
        self._engine = engine
        self._connection: Any = None
        self._received: list[str] = []

    def wait(self, seconds: float, others: Sequence[int]) -> list[str]:
        """Return the topics since the last call, as soon as there are some, ``others`` are readable or time is over."""
        try:
            if self._connection is None:
                self._connect()
                return [EVERYTHING]  # Notifications may have been missed meanwhile.
            self._receive(time.monotonic() + seconds, others)
        except (self._engine.errors, Unavailable):  # The next call connects again.
            self.close()
            select.select(others, [], [], min(seconds, RECONNECT_SECONDS))
        messages, self._received = "".join(self._received), []
        return decode_topics(messages)

    def _connect(self) -> None:
        self._engine.require_responsive()
        self._connection = self._engine.connect(read_only=True)
        self._connection.add_notify_handler(lambda notification: self._received.append(notification.payload))
        self._connection.execute(f"LISTEN {CHANNEL}")

    def _receive(self, deadline: float, others: Sequence[int]) -> None:
        while not self._received:
            remaining = min(max(0.0, deadline - time.monotonic()), HEARTBEAT_SECONDS)
            ready = select.select([self._connection.fileno(), *others], [], [], remaining)[0]
            if not ready and time.monotonic() >= deadline:
                return
            if any(descriptor in ready for descriptor in others):
                return
            # The driver passes notifications to the handler while it executes a statement, which also shows that the
            # connection is alive.
            self._connection.execute("SELECT 1")

    def close(self) -> None:
        """Stop listening."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
