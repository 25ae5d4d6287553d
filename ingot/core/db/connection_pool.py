"""Connections that the threads of a process share: each is used by one thread at a time."""

from typing import Any, NamedTuple

from ingot.core.db.cache import ReadCache
from ingot.core.db.engines import Engine
from ingot.core.db.log_positions import LogPosition
from ingot.core.errors import Unavailable


class CaughtUp(NamedTuple):
    """State of the primary that a replica has reached."""

    position: LogPosition
    checked_at: float


class PooledConnection:
    """Connection of the driver and, if it only reads, the cache of its results."""

    __slots__ = ("cache", "caught_up", "raw")

    def __init__(self) -> None:
        self.raw: Any = None
        """None while the connection is closed."""
        self.cache: ReadCache | None = None
        self.caught_up: CaughtUp | None = None
        """State that a replica and the cache had at the last read; None for a connection to the primary."""


class ConnectionPool:
    """Connections for reads or for transactions, opened as many as are in use at once.

    The one used last is taken first, because its caches are warm; the others stay small. An open connection to SQLite
    takes 0.6 MB for the schema alone, so that one for each thread would make up a tenth of an idle server.
    """

    def __init__(self, engine: Engine, *, read_only: bool) -> None:
        self._engine = engine
        self._read_only = read_only
        self._idle: list[PooledConnection] = []
        self._opened: list[PooledConnection] = []

    def take(self) -> PooledConnection:
        """Return a connection for this thread alone, until it is given back."""
        return self.take_idle() or self._open_new()

    def take_idle(self) -> PooledConnection | None:
        """Return an open connection for this thread alone, or None if all are in use."""
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def add(self) -> None:
        """Open a connection for the next thread that takes one."""
        self._idle.append(self._open_new())

    def _open_new(self) -> PooledConnection:
        connection = PooledConnection()
        self.open(connection)
        self._opened.append(connection)
        return connection

    def give_back(self, connection: PooledConnection) -> None:
        """Let other threads use a connection; one that was closed is forgotten."""
        if connection.raw is not None:
            self._idle.append(connection)
        elif connection in self._opened:
            self._opened.remove(connection)

    def open(self, connection: PooledConnection) -> None:
        """Connect to the database."""
        try:
            raw = self._engine.connect(read_only=self._read_only, typed=False)
        except self._engine.errors as error:
            raise Unavailable("The database does not answer") from error
        connection.raw = raw
        if self._read_only:
            connection.cache = ReadCache(raw, self._engine)

    def discard_idle(self) -> None:
        """Close the connections that are not in use: where one was lost, the others probably were too."""
        while (connection := self.take_idle()) is not None:
            close_connection(connection)
            self.give_back(connection)

    def close(self) -> None:
        """Close all connections; none may be in use."""
        for connection in self._opened:
            close_connection(connection)
        self._opened.clear()
        self._idle.clear()


def close_connection(connection: PooledConnection) -> None:
    """Close a connection, and remove its results from the cache."""
    if connection.raw is not None:
        connection.raw.close()
        connection.raw = None
    if connection.cache is not None:
        connection.cache.clear()
        connection.cache = None
