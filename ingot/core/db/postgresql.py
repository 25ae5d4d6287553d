"""Engine for PostgreSQL: bounded connections, directly or through a connection pooler, and outcomes of commits."""

import logging
import time
import zlib
from collections.abc import Iterable
from contextlib import closing
from math import inf
from typing import Any

from sqlalchemy.engine import Dialect

from ingot.core.db import engines
from ingot.core.db.cache import ANY_COMMIT
from ingot.core.db.clocks import ServerClock
from ingot.core.db.connection_attempts import connect_within
from ingot.core.db.engines import DatabaseErrorKind
from ingot.core.db.postgresql_notifications import PostgresqlAnnouncement, PostgresqlListener, PostgresqlWatch
from ingot.core.db.stalls import MonitoredConnection, StallMonitor, on_event_loop
from ingot.core.db.times import Timestamp
from ingot.core.errors import Unavailable
from ingot.core.log import log_failure
from ingot.core.offload import require_blocking_allowed

CONNECT_SECONDS = 3
"""Limit in a thread. A request may wait for a statement on the event loop first, and must be answered within 5 s."""
INLINE_CONNECT_SECONDS = 1.0
"""Limit on an event loop."""
PROBE_CONNECT_SECONDS = 2.0
LATE_PROBE_CONNECT_SECONDS = 10.0
"""Limits of a probe, and of one in a long stall, when the server must answer each of them before anything else."""
REMOTE_SECONDS = 0.001
"""Round trip above which reads leave the event loop: they would delay all other requests several times."""
OUTCOME_SECONDS = 5.0
"""Time to find out whether a commit whose response was lost has succeeded."""
_OUTCOME_PAUSE_SECONDS = 0.05
_MAX_SAMPLE_SECONDS = 0.5
"""Time of a response after which it no longer tells the time of the server: a statement may have waited for a lock."""
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
    "SET default_transaction_read_only = "
)
# The transaction id is assigned here instead of by the first change, which costs no further round trip. By this id
# another connection can find out whether the transaction has committed.
_IDENTITY = "SELECT pg_current_xact_id()::text, pg_backend_pid(), extract(epoch FROM clock_timestamp())::float8"
_CLOCK = "SELECT extract(epoch FROM clock_timestamp())::float8"
# A pooler in transaction mode gives the next transaction another connection, so limits apply to this one only.
_LIMITS = ("SET LOCAL lock_timeout = '{lock_ms}ms'", "SET LOCAL statement_timeout = '{statement_ms}ms'")
# Both parts see the same snapshot. The order makes the server use the index, whatever it knows of the table.
_CHANGES = (
    "SELECT pg_current_snapshot()::text, ARRAY(SELECT subject FROM row_changes "
    "WHERE transaction_id >= pg_snapshot_xmin(%(seen)s::pg_snapshot) "
    "AND NOT pg_visible_in_snapshot(transaction_id, %(seen)s::pg_snapshot) "
    "ORDER BY transaction_id DESC LIMIT %(limit)s)"
)
_GREETING = "SELECT pg_backend_pid(), extract(epoch FROM clock_timestamp())::float8"
_GREETINGS = 3
"""Number of round trips whose shortest counts; the first of a connection takes longer."""
_OUTCOME = "SELECT pg_xact_status(%s::xid8)"
_END_BACKEND = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND backend_xid = %s::xid8::xid"
_HELD_LOCK = (
    # The view shows the locks of all databases, and another instance may use one of them.
    "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)


class PostgresqlTransaction:
    """Identity of a transaction on the server, known after its first statement."""

    xid = ""
    backend_pid = 0


class PostgresqlEngine:
    """A PostgreSQL server, shared by any number of processes and machines."""

    # Independent of the server's default: after waiting for a lock, a transaction must see what its last holder did.
    begin_statement = "BEGIN ISOLATION LEVEL READ COMMITTED"
    # The set of visible transactions: equal text means equal rows. Notifications would be too late, since they may
    # arrive after the response to the client that committed.
    version_statement = "SELECT pg_current_snapshot()::text"

    session_options = ""
    """Further settings of a session."""
    max_statement_seconds = inf
    """Limit of a statement in a thread on this side, besides that of the server."""
    server_kind = "database"
    """Name of the server in the log."""

    def __init__(self, url: str, statement_seconds: float | None = None, direct_url: str = "", node: str = "") -> None:
        # Imported here, so that instances with SQLite do not load the driver.
        import psycopg
        from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

        self._driver = psycopg
        # It warns of every statement that was sent together with a failed one; the failure itself is raised.
        logging.getLogger("psycopg").setLevel(logging.ERROR)
        self.errors: type[Exception] = psycopg.Error
        self.url = url.replace("postgres://", "postgresql://", 1)
        self._direct_url = direct_url or None
        self._node = node
        self._pooled: bool | None = None
        """Whether a connection pooler is in between; None before the first connection."""
        self._round_trip = 0.0
        self._server_clock = ServerClock()
        self.dialect: Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call] # Untyped in the library.
        self._statement_seconds = statement_seconds
        self._monitor = StallMonitor(self._answers, self.server_kind)
        self._role_reader: Any = None

    def connect(self, *, read_only: bool, typed: bool = True) -> Any:  # noqa: ARG002 - The server reports the types.
        return self._connect(self.url, read_only=read_only, pooled=self._pooled)

    def connect_directly(self, *, read_only: bool) -> Any:
        """Open a connection for notifications and announced roles, not through a pooler if that is possible."""
        if self._direct_url is None:
            return self.connect(read_only=read_only)
        return self._connect(self._direct_url, read_only=read_only, pooled=False)

    @property
    def has_sessions(self) -> bool:
        """Return whether ``connect_directly`` returns connections that keep their state between transactions."""
        return self._direct_url is not None or not self._pooled

    @property
    def is_remote(self) -> bool:
        """Return whether a round trip to the server takes so long that no event loop should wait for it."""
        return self._round_trip > REMOTE_SECONDS

    def clock(self) -> Timestamp:
        """Return the time of the server."""
        return self._server_clock.now()

    def clock_offset(self) -> float:
        """Return the seconds by which the clock of this machine is ahead of the server's."""
        return self._server_clock.offset()

    def _connect(self, url: str, *, read_only: bool, pooled: bool | None) -> Any:
        inline = on_event_loop()
        if inline:
            require_blocking_allowed()
        raw = self._open(url, INLINE_CONNECT_SECONDS if inline else CONNECT_SECONDS)
        connection = MonitoredConnection(raw, self._monitor, self.max_statement_seconds)
        connection.mark_inline(inline)
        try:
            if pooled is None:
                pooled = self._pooled = self._greet(connection)
            if pooled:
                raw.prepare_threshold = None
            else:
                options = _SERVER_KEEPALIVES + ("on" if read_only else "off") + self.session_options
                connection.execute(options.format(**self._limits()), prepare=False)
        except BaseException:
            connection.close()
            raise
        connection.mark_inline(False)
        return connection

    def _greet(self, connection: Any) -> bool:
        """Measure the round trip; return whether a pooler answers, which does not tell the process of the server."""
        durations = []
        for _ in range(_GREETINGS):
            sent = time.monotonic()
            backend_pid, seconds = connection.execute(_GREETING, prepare=False).fetchone()
            durations.append(time.monotonic() - sent)
            self._server_clock.sample(seconds)
        self._round_trip = min(durations)
        return bool(backend_pid != connection.info.backend_pid)

    def _limits(self) -> dict[str, int]:
        return {
            "lock_ms": int(engines.LOCK_WAIT_SECONDS * 1000),
            "statement_ms": int((self._statement_seconds or 0) * 1000),
        }

    def _open(self, url: str, seconds: float) -> Any:
        try:
            return connect_within(
                self._driver, url, seconds, autocommit=True, application_name="ingot", **_DEAD_PEER_OPTIONS
            )
        except self._driver.errors.ConnectionTimeout:
            self._monitor.suspect()
            raise

    def _answers(self, *, late: bool = False) -> bool:
        """Return whether the server responds to a new connection, even if only to refuse it."""
        try:
            seconds = LATE_PROBE_CONNECT_SECONDS if late else PROBE_CONNECT_SECONDS
            connect_within(self._driver, self.url, seconds, **_DEAD_PEER_OPTIONS).close()
        except self._driver.errors.ConnectionTimeout:
            return False
        except self._driver.Error:  # Waiting statements get such an error by themselves.
            return True
        return True

    @property
    def is_responsive(self) -> bool:
        """Return whether nothing indicates that the server is stalled."""
        return self._monitor.responsive

    def require_responsive(self) -> None:
        self._monitor.require_responsive()

    def was_interrupted(self, raw: Any) -> bool:
        return raw is not None and bool(raw.interrupted)

    def limit_waiting(self, raw: Any) -> None:
        raw.mark_inline(on_event_loop())
        if self._server_clock.is_due:
            self._server_clock.sample(raw.execute(_CLOCK).fetchone()[0])

    def begin(self, raw: Any) -> PostgresqlTransaction:
        transaction = PostgresqlTransaction()

        def identify(result: Any, duration: float) -> None:
            transaction.xid, transaction.backend_pid, seconds = result.fetchone()
            if duration < _MAX_SAMPLE_SECONDS:
                self._server_clock.sample(seconds)

        raw.execute_later(self.begin_statement)
        for limit in _LIMITS if self._pooled else ():
            raw.execute_later(limit.format(**self._limits()))
        raw.execute_later(_IDENTITY, on_result=identify)
        return transaction

    def before_commit(self, raw: Any, transaction: PostgresqlTransaction) -> None:
        if not transaction.xid:
            raw.flush()

    def roll_back(self, raw: Any) -> None:
        raw.discard_waiting()
        if raw.info.transaction_status != self._driver.pq.TransactionStatus.IDLE:
            raw.execute("ROLLBACK")

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

    def changes_since(self, raw: Any, position: str | None) -> tuple[str, Iterable[str] | None]:
        if position is None:
            return raw.execute(self.version_statement).fetchone()[0], None
        values = {"seen": position, "limit": engines.MAX_CHANGES}
        snapshot, subjects = raw.execute(_CHANGES, values).fetchone()
        if snapshot == position:
            return position, ()
        return snapshot, None if len(subjects) == engines.MAX_CHANGES else [ANY_COMMIT, *subjects]

    def classify_error(self, error: Exception) -> DatabaseErrorKind | None:
        errors = self._driver.errors
        if isinstance(error, errors.LockNotAvailable | errors.QueryCanceled):
            return DatabaseErrorKind.BUSY
        if isinstance(error, errors.DiskFull):
            return DatabaseErrorKind.FULL
        clashes = (errors.IntegrityError, errors.SerializationFailure, errors.DeadlockDetected)
        if isinstance(error, clashes):
            return DatabaseErrorKind.CLASH
        # A server that became a standby refuses changes; the next connection finds the new primary.
        lost = (self._driver.OperationalError, errors.InterfaceError, errors.ReadOnlySqlTransaction)
        if isinstance(error, lost):
            return DatabaseErrorKind.LOST
        return None

    def announce_role(self, role: str) -> PostgresqlAnnouncement:
        return PostgresqlAnnouncement(self, role)

    def hold_role(self, role: str) -> Any:
        """Return a new connection that announces a role as long as it is open."""
        connection = self.connect_directly(read_only=False)
        lock = "SELECT pg_advisory_lock_shared(%s, %s)"
        if not self.has_sessions:
            connection.execute("BEGIN READ ONLY")
            lock = "SELECT pg_advisory_xact_lock_shared(%s, %s)"
        for name in (role, f"{role}@{self._node}"):
            connection.execute(lock, (_LOCK_NAMESPACE, _role_key(name)))
        return connection

    def watch(self, role: str) -> PostgresqlWatch:
        return PostgresqlWatch(self, role)

    def wake_watchers(self) -> None:
        """Do nothing: the notification is part of the transaction."""

    def listen(self) -> PostgresqlListener:
        return PostgresqlListener(self)

    def send_message(self, message: str) -> None:
        """Do nothing: the notification is part of the transaction."""

    def close(self) -> None:
        if self._role_reader is not None:
            self._role_reader.close()
        self._monitor.close()

    def is_served(self, role: str, *, here: bool = False) -> bool:
        if not self.is_responsive:
            return False
        if self._role_reader is None or self._role_reader.closed:
            try:
                self._role_reader = self.connect(read_only=True)
            except self._driver.Error:  # Not served as far as this process can tell; readiness reports it.
                return False
        self._role_reader.mark_inline(on_event_loop())
        try:
            name = f"{role}@{self._node}" if here else role
            found = self._role_reader.execute(_HELD_LOCK, (_LOCK_NAMESPACE, _role_key(name))).fetchone()
        except self._driver.Error:  # Likewise.
            self._role_reader.close()
            return False
        return found is not None


def _role_key(role: str) -> int:
    return zlib.crc32(role.encode()) >> 1
