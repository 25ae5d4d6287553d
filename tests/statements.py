"""Counter of the statements that a database runs, placed between the database and its driver."""

import re
from typing import Any
from weakref import WeakKeyDictionary

from ingot.core.db.database import Database

_POLLS = ("PRAGMA data_version", "SELECT 1")
"""Statements by which a watch looks for changes or checks its connection."""
_QUERIES = re.compile(r"\s*(select|with|insert|update|delete)\b", re.IGNORECASE)
_counters: "WeakKeyDictionary[Database, StatementCounter]" = WeakKeyDictionary()


class StatementCounter:
    """Number of queries and changes, without transaction control and the version query of the read cache."""

    def __init__(self, version_statement: str) -> None:
        self.executed = 0
        self.polls = 0
        self._version_statement = version_statement

    def note(self, statement: str) -> None:
        """Count a statement that is about to run."""
        self.polls += statement in _POLLS
        if statement != self._version_statement and _QUERIES.match(statement):
            self.executed += 1


class _CountedConnection:
    """Driver's connection that counts what it executes."""

    def __init__(self, raw: Any, counter: StatementCounter) -> None:
        self._raw = raw
        self._counter = counter

    def execute(self, statement: str, *values: Any) -> Any:
        self._counter.note(statement)
        return self._raw.execute(statement, *values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


def count_statements(database: Database) -> Database:
    """Count the statements of all connections that the database opens from now on; return the database."""
    counter = _counters[database] = StatementCounter(database.engine.version_statement)
    connect = database.engine.connect

    def connect_counted(**options: Any) -> Any:
        return _CountedConnection(connect(**options), counter)

    database.engine.connect = connect_counted  # type: ignore[method-assign] # The counter stands in for the driver.
    return database


def executed(database: Database) -> int:
    """Return how many statements a database has run since ``count_statements``."""
    return _counters[database].executed


def polls(database: Database) -> int:
    """Return how often connections of a database have looked for changes since ``count_statements``."""
    return _counters[database].polls
