"""Pool of connections: threads share them, but never use one at the same time."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingot.core.db.connection_pool import ConnectionPool, close_connection
from ingot.core.db.engines import PREPARED_STATEMENTS, SqliteEngine
from ingot.core.errors import Unavailable


@pytest.fixture
def pool(tmp_path: Path) -> Iterator[ConnectionPool]:
    pool = ConnectionPool(SqliteEngine(tmp_path / "some.db"), read_only=True)
    yield pool
    pool.close()


def test_a_connection_is_used_by_one_at_a_time_and_then_again(pool: ConnectionPool) -> None:
    first, second = pool.take(), pool.take()
    assert first is not second
    pool.give_back(second)
    pool.give_back(first)
    assert pool.take() is first, "The one used last."


def test_a_closed_connection_is_not_given_to_others(pool: ConnectionPool) -> None:
    lost, idle = pool.take(), pool.take()
    pool.give_back(idle)
    close_connection(lost)
    pool.discard_idle()
    pool.give_back(lost)
    fresh = pool.take()
    assert fresh not in (lost, idle)
    assert fresh.raw.execute("SELECT 1").fetchone() == (1,)


def test_a_database_that_cannot_be_opened_leaves_no_connection(tmp_path: Path) -> None:
    pool = ConnectionPool(SqliteEngine(tmp_path / "missing" / "some.db"), read_only=False)
    with pytest.raises(Unavailable):
        pool.take()
    pool.close()


def test_a_connection_keeps_a_bounded_number_of_statements(pool: ConnectionPool) -> None:
    """Each takes about 10 KB, and a server with two workers has about 20 connections."""
    raw: sqlite3.Connection = pool.take().raw
    if ("ENABLE_STMTVTAB",) not in raw.execute("PRAGMA compile_options").fetchall():
        pytest.skip("This build of SQLite does not list its statements.")
    for number in range(2 * PREPARED_STATEMENTS):
        raw.execute(f"SELECT {number}").fetchall()
    (prepared,) = raw.execute("SELECT count(*) FROM sqlite_stmt").fetchone()
    assert prepared <= PREPARED_STATEMENTS <= 256
