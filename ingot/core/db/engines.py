"""Engines for SQLite and PostgreSQL: connections, begin statements, error classification and notifications."""

import fcntl
import select
import sqlite3
import time
import zlib
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import urlsplit

from sqlalchemy import ColumnElement
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import NullType

LOCK_WAIT_SECONDS = 5.0
POLL_SECONDS = 0.05
RECONNECT_SECONDS = 1.0
_CHANNEL = "ingot_work"
_LOCK_NAMESPACE = 1_230_919_764  # Any number that other users of the server's advisory locks do not use.


class DatabaseErrorKind(Enum):
    """Classification of a driver's error."""

    BUSY = "another connection holds the lock; the caller may retry later"
    CLASH = "a constraint or a concurrent transaction; running the transaction again may succeed"
    LOST = "the connection is lost; a new one may work"
    FULL = "the disk of the database is full; nothing was stored"


class notify_watchers(ColumnElement[None]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Function that wakes processes that wait on a ``Watch`` after the commit; a no-op in SQLite, which is polled."""

    type = NullType()
    inherit_cache = True


@compiles(notify_watchers, "sqlite")
def _notify_watchers_sqlite(element: notify_watchers, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return "NULL"


@compiles(notify_watchers, "postgresql")
def _notify_watchers_postgresql(element: notify_watchers, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return f"pg_notify('{_CHANNEL}', '')"


class Watch(Protocol):
    """Waits for changes in the database, and announces a role while it is open."""

    def wait(self, seconds: float, others: Sequence[int]) -> None:
        """Return when something may have changed since the last call, ``others`` are readable, or the time is over."""

    def close(self) -> None:
        """Stop announcing the role."""


class Engine(Protocol):
    """Interface of an engine as ``Database`` uses it."""

    dialect: Dialect
    begin_statement: str
    version_statement: str
    """Query whose result changes whenever a commit of another connection becomes visible."""
    errors: type[Exception]
    """Base class of the driver's errors."""

    def connect(self, *, read_only: bool, typed: bool = True) -> Any:
        """Open a driver connection; callers that know the types of their columns do not need a typed one."""

    def classify_error(self, error: Exception) -> DatabaseErrorKind | None:
        """Classify an error, or return None if it is a bug of ours."""

    def announce_role(self, role: str) -> Any:
        """Announce that this process serves ``role`` until the result is closed or the process ends."""

    def is_served(self, role: str) -> bool:
        """Return whether a running process serves ``role``."""

    def watch(self, role: str) -> Watch:
        """Announce ``role`` and return a watch that waits for its work."""

    def close(self) -> None:
        """Close the connection that ``is_served`` uses."""


class SqliteEngine:
    """An embedded database file; writers queue for one lock, readers never wait."""

    begin_statement = "BEGIN IMMEDIATE"
    version_statement = "PRAGMA data_version"
    errors: type[Exception] = sqlite3.Error

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dialect: Dialect = SQLiteDialect_pysqlite(paramstyle="named")
        # SQLite has no booleans; a declared type and a C-level converter restore them.
        sqlite3.register_converter("BOOLEAN", b"1".__eq__)

    def connect(self, *, read_only: bool, typed: bool = True) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=LOCK_WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            # Costs 11 µs for the columns of a project, because the driver looks up every column's type at every
            # execution.
            detect_types=sqlite3.PARSE_DECLTYPES if typed else 0,
            cached_statements=1024,
        )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        # A list reads hundreds of rows across a table, more than the default cache of 2 MB holds.
        connection.execute("PRAGMA cache_size = -8000")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def classify_error(self, error: Exception) -> DatabaseErrorKind | None:
        if isinstance(error, sqlite3.IntegrityError):
            return DatabaseErrorKind.CLASH
        if isinstance(error, sqlite3.OperationalError):
            extended = getattr(error, "sqlite_errorcode", 0)
            code = extended & 0xFF
            # The second is how SQLite reports that the index of its log cannot grow.
            if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:
                return DatabaseErrorKind.FULL
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY):
                return DatabaseErrorKind.BUSY
            if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
                return DatabaseErrorKind.LOST
        return None

    def announce_role(self, role: str) -> IO[bytes]:
        file = self._beacon(role).open("ab")
        # The kernel releases these locks when the process ends.
        fcntl.flock(file, fcntl.LOCK_SH)
        return file

    def is_served(self, role: str) -> bool:
        try:
            # Checks are serialized, or two of them would take each other for a process that serves the role.
            with self._beacon("asking").open("ab") as turn, self._beacon(role).open("rb") as file:
                fcntl.flock(turn, fcntl.LOCK_EX)
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def watch(self, role: str) -> "SqliteWatch":
        return SqliteWatch(self, role)

    def close(self) -> None:
        pass

    def _beacon(self, role: str) -> Path:
        return self.path.with_name(f".{role}.serving")


class SqliteWatch:
    """Watch that polls a counter in shared memory, which every commit of another connection increments."""

    def __init__(self, engine: SqliteEngine, role: str) -> None:
        self._engine = engine
        self._beacon = engine.announce_role(role)
        self._connection: sqlite3.Connection | None = None
        self._seen: int | None = None

    def wait(self, seconds: float, others: Sequence[int]) -> None:
        deadline = time.monotonic() + seconds
        while not self._is_new():
            remaining = deadline - time.monotonic()
            if remaining <= 0 or select.select(others, [], [], min(remaining, POLL_SECONDS))[0]:
                return

    def _is_new(self) -> bool:
        try:
            if self._connection is None:
                self._connection = self._engine.connect(read_only=True)
            version: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error:
            # The caller queries the database when the time is over, and gets the same error.
            self._disconnect()
            return False
        # The first poll has nothing to compare with, so earlier commits count as new.
        is_new, self._seen = version != self._seen, version
        return is_new

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        # The counter is specific to a connection.
        self._connection, self._seen = None, None

    def close(self) -> None:
        self._disconnect()
        self._beacon.close()


class PostgresqlEngine:
    """A PostgreSQL server, shared by any number of processes and machines."""

    # Independent of the server's default: after waiting for a lock, a transaction must see what its last holder did.
    begin_statement = "BEGIN ISOLATION LEVEL READ COMMITTED"
    # The set of visible transactions: equal text means equal rows. Notifications would be too late, since they may
    # arrive after the response to the client that committed.
    version_statement = "SELECT pg_current_snapshot()::text"

    def __init__(self, url: str) -> None:
        # Imported here, so that instances with SQLite do not load the driver.
        import psycopg
        from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

        self._driver = psycopg
        self.errors: type[Exception] = psycopg.Error
        self.url = url.replace("postgres://", "postgresql://", 1)
        self.dialect: Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call] # Untyped in the library.
        self._watch: Any = None

    def connect(self, *, read_only: bool, typed: bool = True) -> Any:  # noqa: ARG002 - The server reports the types.
        connection = self._driver.connect(self.url, autocommit=True, application_name="ingot", connect_timeout=10)
        connection.execute(f"SET lock_timeout = '{int(LOCK_WAIT_SECONDS)}s'")
        if read_only:
            connection.execute("SET default_transaction_read_only = on")
        return connection

    def classify_error(self, error: Exception) -> DatabaseErrorKind | None:
        errors = self._driver.errors
        if isinstance(error, errors.LockNotAvailable):
            return DatabaseErrorKind.BUSY
        if isinstance(error, errors.DiskFull):
            return DatabaseErrorKind.FULL
        clashes = (errors.IntegrityError, errors.SerializationFailure, errors.DeadlockDetected)
        if isinstance(error, clashes):
            return DatabaseErrorKind.CLASH
        if isinstance(error, self._driver.OperationalError | errors.InterfaceError):
            return DatabaseErrorKind.LOST
        return None

    def announce_role(self, role: str) -> Any:
        connection = self.connect(read_only=False)
        connection.execute("SELECT pg_advisory_lock_shared(%s, %s)", (_LOCK_NAMESPACE, zlib.crc32(role.encode()) >> 1))
        return connection

    def watch(self, role: str) -> "PostgresqlWatch":
        return PostgresqlWatch(self, role)

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()

    def is_served(self, role: str) -> bool:
        # The view shows the locks of all databases, and another instance may use one of them.
        held = (
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        if self._watch is None or self._watch.closed:
            try:
                self._watch = self.connect(read_only=True)
            except self._driver.Error:  # Not served as far as this process can tell; readiness reports it.
                return False
        try:
            return self._watch.execute(held, (_LOCK_NAMESPACE, zlib.crc32(role.encode()) >> 1)).fetchone() is not None
        except self._driver.Error:  # Likewise.
            self._watch.close()
            return False


class PostgresqlWatch:
    """Watch that listens on the connection that announces the role, without polling."""

    def __init__(self, engine: PostgresqlEngine, role: str) -> None:
        self._engine = engine
        self._role = role
        self._connection: Any = None
        self._connect()

    def _connect(self) -> None:
        try:
            connection = self._engine.announce_role(self._role)
            connection.execute(f"LISTEN {_CHANNEL}")
            self._connection = connection
        except self._engine.errors:
            # The caller gets the same error, and the next call connects again.
            pass

    def wait(self, seconds: float, others: Sequence[int]) -> None:
        if self._connection is None:
            select.select(others, [], [], min(seconds, RECONNECT_SECONDS))
            # Notifications may have been missed meanwhile, so a new connection counts as a change.
            self._connect()
            return
        try:
            descriptor = self._connection.fileno()
            ready = select.select([descriptor, *others], [], [], seconds)[0]
            if descriptor in ready:
                self._connection.pgconn.consume_input()
                while self._connection.pgconn.notifies():
                    pass
            elif not ready:
                # A connection can be dead without notice; the role would then no longer be announced.
                self._connection.execute("SELECT 1")
        except self._engine.errors:  # The next call connects again.
            self._connection.close()
            self._connection = None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def engine_for(url: str) -> Engine:
    """Return the engine of a database URL; raise ``ValueError`` for an unknown scheme."""
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        return SqliteEngine(Path(url.removeprefix("sqlite:///")))
    if scheme in ("postgresql", "postgres"):
        return PostgresqlEngine(url)
    raise ValueError(f"The database URL must begin with sqlite:/// or postgresql://, not {scheme}://")
