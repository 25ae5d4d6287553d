"""Observation of the transactions of all tests: what computes for long while it holds locks is found."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import thread_time

import pytest
from sqlalchemy import text

from ingot.core.db.connection import Connection
from tests.client import Make
from tests.transactions import MAX_COMPUTATION, RECORDER

_LONG_STATEMENT = text(
    "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers WHERE number < 300000)"
    " SELECT max(number) FROM numbers"
)


def _compute(_: Connection) -> None:
    began = thread_time()
    while thread_time() - began < 50 * MAX_COMPUTATION:
        pass


_compute.__module__ = "ingot.example"  # Work of tests may compute.


def _read(_: Connection) -> None:
    pass


_read.__module__ = "ingot.example"


def _compute_at_the_end(db: Connection) -> None:
    db.before_commit("computation", _compute)


@pytest.mark.parametrize("work", [_compute, _compute_at_the_end])
def test_a_transaction_that_computes_is_found(make: Make, work: Callable[[Connection], None]) -> None:
    make.database.write(work)
    assert RECORDER.take_findings() == ["ingot.example._compute computes for too long"]


def test_work_of_the_database_does_not_count(make: Make) -> None:
    assert make.database.write(lambda db: db.value(_LONG_STATEMENT)) == 300_000
    assert RECORDER.take_findings() == []


def test_a_read_on_an_event_loop_is_found(make: Make) -> None:
    async def read() -> None:
        make.database.read(_read)
        await make.database.read_async(_read, ThreadPoolExecutor(1))

    asyncio.run(read())
    assert RECORDER.take_findings() == ["ingot.example._read reads on an event loop"]


def test_reads_may_compute(make: Make) -> None:
    make.database.read(_compute)
    assert RECORDER.take_findings() == []
