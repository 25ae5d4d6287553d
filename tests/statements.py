"""Counter of the statements that a database runs, placed between the database and its driver."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread
from typing import Any
from unittest.mock import patch
from weakref import WeakKeyDictionary

from ingot.accounts.instance import limits
from ingot.core.db.cache import ReadCache
from ingot.core.db.database import Database
from ingot.core.db.engines import Engine

_SQLITE_VERSION = "PRAGMA data_version"
_POLLS = (_SQLITE_VERSION, "SELECT 1")
"""Statements by which a watch polls for changes or checks its connection."""
_QUERIES = re.compile(r"\s*(select|with|insert|update|delete)\b", re.IGNORECASE)
_UNCOUNTED = re.compile(
    "pg_current_xact_id|pg_walfile_name|pg_last_wal_replay_lsn|pg_control_system|pg_snapshot_xmin"
    "|UPDATE \\w+ SET last_(used|downloaded)_at"
)
"""Part of the query that follows each BEGIN on PostgreSQL, and of those that choose a replica.

The use of tokens, keys and packages is stored by another thread, up to some seconds after the request.
"""
_MONITOR = "queue monitor"
"""Thread that follows all commits once a runner has polled; no request causes its statements."""
_counters: "WeakKeyDictionary[Database, StatementCounter]" = WeakKeyDictionary()


class StatementCounter:
    """Number of queries and changes, without transaction control and the version query of the read cache."""

    def __init__(self, version_statement: str) -> None:
        self.executed = 0
        self.polls = 0
        self.texts: list[str] | None = None
        self.refreshes = 0
        """Number of queries by which read caches look for changes."""
        self.version_statement = version_statement

    def note(self, statement: str) -> None:
        """Count a statement that is about to run."""
        self.polls += statement in _POLLS
        if statement == self.version_statement or "FROM row_changes" in statement:
            self.refreshes += statement != _SQLITE_VERSION
        elif _QUERIES.match(statement) and not _UNCOUNTED.search(statement):
            self.executed += 1
            if self.texts is not None:
                self.texts.append(statement)


class _CountedConnection:
    """Driver's connection that counts what it executes."""

    def __init__(self, raw: Any, counter: StatementCounter) -> None:
        self._raw = raw
        self._counter = counter

    def execute(self, statement: str, *values: Any, **options: Any) -> Any:
        if current_thread().name == _MONITOR:
            return self._raw.execute(statement, *values, **options)
        self._counter.note(statement)
        return self._raw.execute(statement, *values, **options)

    def execute_later(self, statement: str, *values: Any, **options: Any) -> None:
        if current_thread().name != _MONITOR:
            self._counter.note(statement)
        self._raw.execute_later(statement, *values, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


def count_statements(database: Database) -> Database:
    """Count the statements of all connections that the database opens from now on; return the database."""
    counter = _counters[database] = StatementCounter(database.engine.version_statement)
    for engine in (database.engine, *(database.replicas.engines if database.replicas is not None else ())):
        _count_connections(engine, counter)
    return database


def _count_connections(engine: Engine, counter: StatementCounter) -> None:
    connect = engine.connect

    def connect_counted(**options: Any) -> Any:
        return _CountedConnection(connect(**options), counter)

    engine.connect = connect_counted  # type: ignore[method-assign] # The counter stands in for the driver.


@contextmanager
def recorded_statements(database: Database) -> Iterator[list[str]]:
    """Collect the texts of the statements that a database runs within the block."""
    counter = _counters[database]
    texts: list[str] = []
    counter.texts = texts
    try:
        yield texts
    finally:
        counter.texts = None


@contextmanager
def cold_reads() -> Iterator[None]:
    """Empty the read cache of a connection within the block whenever it would look for changes.

    Calls within the block do not read the settings of rate limits again, which depends on the time of the last read.
    """
    with patch.object(ReadCache, "refresh", ReadCache.clear), patch.object(limits, "RELOAD_SECONDS", float("inf")):
        yield


def discount(database: Database, executed_before: int) -> None:
    """Do not count what a transaction has executed that was rolled back to be repeated."""
    if database in _counters:
        _counters[database].executed = executed_before


def executed(database: Database) -> int:
    """Return how many statements a database has run since ``count_statements``; 0 if they are not counted."""
    return _counters[database].executed if database in _counters else 0


def refreshes(database: Database) -> int:
    """Return how many queries have looked for changes for a read cache since ``count_statements``."""
    return _counters[database].refreshes


def polls(database: Database) -> int:
    """Return how often connections of a database have looked for changes since ``count_statements``."""
    return _counters[database].polls
