"""Interface of the database engines, and the engine for SQLite."""

import fcntl
import select
import sqlite3
import time
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import IO, Any, Protocol

from sqlalchemy import ColumnElement
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.engine import Dialect
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.types import NullType

from ingot.core.db.announcements import EVERYTHING, Listener, decode_topics
from ingot.core.db.cache import ANY_COMMIT
from ingot.core.db.clocks import wall_clock
from ingot.core.db.times import Timestamp
from ingot.core.db.wakeups import WakeupPipe, wake_all
from ingot.core.db.write_queue import WriteQueue
from ingot.core.errors import Unavailable

LOCK_WAIT_SECONDS = 5.0
POLL_SECONDS = 1.0
_PIPE_BYTES = 60_000
"""Fill level at which messages may have been lost; a pipe holds 64 KiB."""
MAX_CHANGES = 1_000
"""Most changes of rows that a cache reads at once; after more of them it is emptied."""
_LAST_CHANGE = "SELECT coalesce(max(id), 0) FROM row_changes"
_CHANGES = "SELECT id, subject FROM row_changes WHERE id > ? ORDER BY id LIMIT ?"
PREPARED_STATEMENTS = 256
"""Most statements that a connection to SQLite keeps prepared, about 10 KB each."""
NOTIFY_CHANNEL = "ingot_work"
"""Channel of the notifications of a PostgreSQL server."""


class DatabaseErrorKind(Enum):
    """Classification of a driver's error."""

    BUSY = "another connection holds the lock; the caller may retry later"
    CLASH = "a constraint or a concurrent transaction; running the transaction again may succeed"
    LOST = "the connection is lost; a new one may work"
    FULL = "the disk of the database is full; nothing was stored"


class notify_watchers(ColumnElement[None]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Function that wakes processes that wait on a ``Watch`` after the commit; a no-op in SQLite."""

    type = NullType()
    inherit_cache = True


@compiles(notify_watchers, "sqlite")
def _notify_watchers_sqlite(element: notify_watchers, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return "NULL"


@compiles(notify_watchers, "postgresql")
def _notify_watchers_postgresql(element: notify_watchers, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return f"pg_notify('{NOTIFY_CHANNEL}', '')"


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

    @property
    def is_remote(self) -> bool:
        """Return whether a round trip takes so long that no event loop should wait for it."""

    def clock(self) -> Timestamp:
        """Return the time that all nodes of the instance share."""

    def clock_offset(self) -> float:
        """Return the seconds by which the clock of this machine is ahead of that time."""

    def connect(self, *, read_only: bool, typed: bool = True) -> Any:
        """Open a driver connection; callers that know the types of their columns do not need a typed one."""

    def changes_since(self, raw: Any, position: Any) -> tuple[Any, Iterable[str] | None]:
        """Return the current position in the log of commits, and the subjects of those after ``position``."""

    def classify_error(self, error: Exception) -> DatabaseErrorKind | None:
        """Classify an error, or return None if it is a bug of ours."""

    def require_responsive(self) -> None:
        """Raise ``Unavailable``, or ``WouldBlock`` on an event loop, while the server does not answer."""

    def was_interrupted(self, raw: Any) -> bool:
        """Return whether this process lost a connection by ending a slow statement, and only this connection."""

    def limit_waiting(self, raw: Any) -> None:
        """Limit the time of the next statements of a connection if they delay an event loop."""

    def begin(self, raw: Any) -> Any:
        """Begin a transaction that writes, at the latest with its first statement; return its identity."""

    def before_commit(self, raw: Any, transaction: Any) -> None:
        """Find out the identity of a transaction, for ``was_committed``."""

    def roll_back(self, raw: Any) -> None:
        """Roll back the transaction, if one is open."""

    def end(self) -> None:
        """Let others begin, after a transaction was committed or rolled back, also if that failed."""

    def was_committed(self, transaction: Any) -> bool | None:
        """Return whether a transaction whose connection was lost during the commit has committed; None if unknown."""

    def announce_role(self, role: str) -> Any:
        """Announce that this process serves ``role`` until the result is closed or the process ends."""

    def is_served(self, role: str, *, here: bool = False) -> bool:
        """Return whether a running process serves ``role``, of any machine or of this one."""

    def watch(self, role: str) -> Watch:
        """Announce ``role`` and return a watch that waits for its work."""

    def wake_watchers(self) -> None:
        """Wake processes that wait on a ``Watch``, after a commit; only where the database itself cannot."""

    def listen(self) -> Listener:
        """Return a listener for the topics that all processes announce."""

    def send_message(self, message: str) -> None:
        """Send encoded topics to all listeners, after a commit; only where the database itself cannot."""

    def close(self) -> None:
        """Close the connection that ``is_served`` uses."""


class SqliteEngine:
    """An embedded database file; writers queue for one lock, readers never wait."""

    begin_statement = "BEGIN IMMEDIATE"
    version_statement = "PRAGMA data_version"
    errors: type[Exception] = sqlite3.Error

    is_remote = False
    clock = staticmethod(wall_clock)

    def __init__(self, path: Path) -> None:
        self.path = path
        self._queue = WriteQueue(path)
        self.dialect: Dialect = SQLiteDialect_pysqlite(paramstyle="named")
        # SQLite has no booleans; a declared type and a C-level converter restore them.
        sqlite3.register_converter("BOOLEAN", b"1".__eq__)

    def clock_offset(self) -> float:
        return 0.0

    def connect(self, *, read_only: bool, typed: bool = True) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=LOCK_WAIT_SECONDS,
            isolation_level=None,
            check_same_thread=False,
            # Costs 11 µs for the columns of a project, because the driver looks up every column's type at every
            # execution.
            detect_types=sqlite3.PARSE_DECLTYPES if typed else 0,
            cached_statements=PREPARED_STATEMENTS,
        )
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        # A list reads hundreds of rows across a table, more than the default cache of 2 MB holds: with half of this
        # size, a list of issues by label takes 1.4 times the processor time.
        connection.execute("PRAGMA cache_size = -8000")
        if read_only:
            connection.execute("PRAGMA query_only = ON")
        return connection

    def changes_since(
        self, raw: sqlite3.Connection, position: tuple[int, int] | None
    ) -> tuple[tuple[int, int], Iterable[str] | None]:
        version: int = raw.execute(self.version_statement).fetchone()[0]
        if position is None:
            last: int = raw.execute(_LAST_CHANGE).fetchone()[0]
            return (version, last), None
        if version == position[0]:
            return position, ()
        # Transactions commit one after the other, so later ones have higher ids.
        changes = raw.execute(_CHANGES, (position[1], MAX_CHANGES)).fetchall()
        if len(changes) == MAX_CHANGES:
            return self.changes_since(raw, None)
        last = changes[-1][0] if changes else position[1]
        return (version, last), [ANY_COMMIT, *(subject for _, subject in changes)]

    def classify_error(self, error: Exception) -> DatabaseErrorKind | None:
        if isinstance(error, sqlite3.IntegrityError):
            return DatabaseErrorKind.CLASH
        if isinstance(error, sqlite3.OperationalError):
            extended = getattr(error, "sqlite_errorcode", 0)
            code = extended & 0xFF
            # The second is how SQLite reports that the index of its log cannot grow.
            if code == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE:
                return DatabaseErrorKind.FULL
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                return DatabaseErrorKind.BUSY
            # A connection that was opened while the disk was read-only stays so; only a new one can write again.
            if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                return DatabaseErrorKind.LOST
        return None

    def require_responsive(self) -> None:
        pass

    def was_interrupted(self, raw: sqlite3.Connection) -> bool:  # noqa: ARG002 - Interface of the engines.
        return False

    def limit_waiting(self, raw: sqlite3.Connection) -> None:
        pass

    def begin(self, raw: sqlite3.Connection) -> None:
        try:
            self._queue.enter(LOCK_WAIT_SECONDS)
        except TimeoutError:
            raise Unavailable("Other writers keep the database busy") from None
        try:
            raw.execute(self.begin_statement)
        except BaseException:
            self._queue.leave()
            raise

    def before_commit(self, raw: sqlite3.Connection, transaction: None) -> None:
        pass

    def roll_back(self, raw: sqlite3.Connection) -> None:
        # After some errors, such as a full disk, SQLite has rolled back already.
        if raw.in_transaction:
            raw.execute("ROLLBACK")

    def end(self) -> None:
        self._queue.leave()

    def was_committed(self, transaction: None) -> bool | None:  # noqa: ARG002 - Interface of the engines.
        return False  # No other connection sees a transaction whose commit has failed.

    def announce_role(self, role: str) -> IO[bytes]:
        file = self._beacon(role).open("ab")
        # The kernel releases these locks when the process ends.
        fcntl.flock(file, fcntl.LOCK_SH)
        return file

    def is_served(self, role: str, *, here: bool = False) -> bool:  # noqa: ARG002 - There is one machine.
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

    def wake_watchers(self) -> None:
        wake_all(self.wakeup_folder)

    def listen(self) -> "SqliteListener":
        return SqliteListener(self.listener_folder)

    def send_message(self, message: str) -> None:
        wake_all(self.listener_folder, message.encode())

    @property
    def listener_folder(self) -> Path:
        """Return the folder of the pipes of listening processes."""
        return self.path.with_name(".listeners")

    @property
    def wakeup_folder(self) -> Path:
        """Return the folder of the pipes of waiting processes."""
        return self.path.with_name(".watchers")

    def close(self) -> None:
        self._queue.close()

    def _beacon(self, role: str) -> Path:
        return self.path.with_name(f".{role}.serving")


class SqliteWatch:
    """Watch that is woken by the process that commits.

    Once a second it also polls a counter in shared memory, which every commit of another connection increments, because
    a process may end between its commit and the wake-up.
    """

    def __init__(self, engine: SqliteEngine, role: str) -> None:
        self._engine = engine
        self._beacon = engine.announce_role(role)
        self._wakeups = WakeupPipe(engine.wakeup_folder)
        self._connection: sqlite3.Connection | None = None
        self._seen: int | None = None

    def wait(self, seconds: float, others: Sequence[int]) -> None:
        deadline = time.monotonic() + seconds
        while not self._is_new():
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return
            ready = select.select([self._wakeups.descriptor, *others], [], [], min(remaining, POLL_SECONDS))[0]
            if self._wakeups.descriptor in ready:
                self._wakeups.read()
            elif ready:
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
        self._wakeups.close()
        self._beacon.close()


class SqliteListener:
    """Listener at a named pipe, to which the process that commits writes the topics."""

    def __init__(self, folder: Path) -> None:
        self._pipe = WakeupPipe(folder)

    def wait(self, seconds: float, others: Sequence[int]) -> list[str]:
        select.select([self._pipe.descriptor, *others], [], [], seconds)
        messages = self._pipe.read()
        # The writers discard messages when the pipe is full.
        return decode_topics(messages.decode()) if len(messages) < _PIPE_BYTES else [EVERYTHING]

    def close(self) -> None:
        self._pipe.close()
