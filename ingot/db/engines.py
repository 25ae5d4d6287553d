"""The two engines: how to connect, how a transaction begins, and what a driver's error means."""

import fcntl
import sqlite3
import zlib
from enum import Enum
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import urlsplit

from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect

LOCK_WAIT_SECONDS = 5.0
_BEACONS = 1_230_919_764  # Any number that other users of the server's advisory locks do not use.


class Trouble(Enum):
    """What a driver's error means to us."""

    BUSY = "somebody else holds the lock; the caller may try again later"
    CLASH = "a constraint or a concurrent transaction; running the unit of work again may settle it"
    LOST = "the connection is gone; a new one may work"


class Engine(Protocol):
    """What ``Database`` needs to know of an engine."""

    dialect: Dialect
    begin_statement: str
    errors: type[Exception]
    """What the driver raises."""

    def connect(self, *, read_only: bool) -> Any:
        """Open a driver's connection."""

    def trouble(self, error: Exception) -> Trouble | None:
        """What ``error`` means, or nothing where it is a fault of ours."""

    def announce(self, role: str) -> Any:
        """Let others see that this process serves ``role`` until the result is closed, or the process dies."""

    def is_served(self, role: str) -> bool:
        """Whether a living process serves ``role`` right now."""


class SqliteEngine:
    """An embedded database file; writers queue for one lock, readers never wait."""

    begin_statement = "BEGIN IMMEDIATE"
    errors: type[Exception] = sqlite3.Error

    def __init__(self, path: Path) -> None:
        self.path = path
        self.dialect: Dialect = SQLiteDialect_pysqlite(paramstyle="named")
        # SQLite has no booleans; a declared type and a C-level converter give them back.
        sqlite3.register_converter("BOOLEAN", b"1".__eq__)

    def connect(self, *, read_only: bool) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=LOCK_WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            detect_types=sqlite3.PARSE_DECLTYPES,
            cached_statements=1024,
        )
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def trouble(self, error: Exception) -> Trouble | None:
        if isinstance(error, sqlite3.IntegrityError):
            return Trouble.CLASH
        if isinstance(error, sqlite3.OperationalError):
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY):
                return Trouble.BUSY
            if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN):
                return Trouble.LOST
        return None

    def announce(self, role: str) -> IO[bytes]:
        file = self._beacon(role).open("ab")
        # Locks of the kernel end with their process, however it ends.
        fcntl.flock(file, fcntl.LOCK_SH)
        return file

    def is_served(self, role: str) -> bool:
        try:
            with self._beacon(role).open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def _beacon(self, role: str) -> Path:
        return self.path.with_name(f".{role}.serving")


class PostgresqlEngine:
    """A PostgreSQL server, shared by any number of processes and machines."""

    begin_statement = "BEGIN"

    def __init__(self, url: str) -> None:
        # Embedded instances never pay for the driver.
        import psycopg
        from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

        self._driver = psycopg
        self.errors: type[Exception] = psycopg.Error
        self.url = url.replace("postgres://", "postgresql://", 1)
        self.dialect: Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call] # Untyped in the library.
        self._watch: Any = None

    def connect(self, *, read_only: bool) -> Any:
        connection = self._driver.connect(self.url, autocommit=True, application_name="ingot", connect_timeout=10)
        connection.execute(f"SET lock_timeout = '{int(LOCK_WAIT_SECONDS)}s'")
        if read_only:
            connection.execute("SET default_transaction_read_only = on")
        return connection

    def trouble(self, error: Exception) -> Trouble | None:
        errors = self._driver.errors
        if isinstance(error, errors.LockNotAvailable):
            return Trouble.BUSY
        clashes = (errors.IntegrityError, errors.SerializationFailure, errors.DeadlockDetected)
        if isinstance(error, clashes):
            return Trouble.CLASH
        if isinstance(error, self._driver.OperationalError | errors.InterfaceError):
            return Trouble.LOST
        return None

    def announce(self, role: str) -> Any:
        connection = self.connect(read_only=False)
        connection.execute("SELECT pg_advisory_lock_shared(%s, %s)", (_BEACONS, zlib.crc32(role.encode()) >> 1))
        return connection

    def is_served(self, role: str) -> bool:
        # The view shows the locks of all databases, and another instance may live in one of them.
        held = (
            "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND objid = %s AND granted "
            "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        if self._watch is None or self._watch.closed:
            try:
                self._watch = self.connect(read_only=True)
            except self._driver.Error:
                return False
        try:
            return self._watch.execute(held, (_BEACONS, zlib.crc32(role.encode()) >> 1)).fetchone() is not None
        except self._driver.Error:
            self._watch.close()
            return False


def engine_for(url: str) -> Engine:
    """The engine that a database URL names."""
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        return SqliteEngine(Path(url.removeprefix("sqlite:///")))
    if scheme in ("postgresql", "postgres"):
        return PostgresqlEngine(url)
    raise ValueError(f"The database URL must begin with sqlite:/// or postgresql://, not {scheme}://")
