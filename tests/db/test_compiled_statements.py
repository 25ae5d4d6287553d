"""Cache of compiled statements."""

from typing import Any

from sqlalchemy import Select, literal_column, select
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from ingot.core.db.compiled_statements import GENERATION, StatementCache


def _cache() -> StatementCache:
    return StatementCache(SQLiteDialect_pysqlite(paramstyle="named"), embedded=True)


def test_the_number_of_statements_is_limited() -> None:
    cache = _cache()
    for number in range(3 * GENERATION):
        cache.compiled(select(literal_column(str(number))))
    assert len(cache._compiled) + len(cache._older) <= 2 * GENERATION <= 1024


def test_a_statement_in_use_is_compiled_once() -> None:
    cache = _cache()
    used: Select[Any] = select(literal_column("0"))
    compiled = cache.compiled(used)
    for number in range(3 * GENERATION):
        cache.compiled(select(literal_column(str(number))))
        if number % 100 == 0:
            assert cache.compiled(used) is compiled


def test_a_statement_that_is_not_used_any_more_is_evicted() -> None:
    cache = _cache()
    unused: Select[Any] = select(literal_column("0"))
    compiled = cache.compiled(unused)
    for number in range(3 * GENERATION):
        cache.compiled(select(literal_column(str(number))))
    assert cache.compiled(unused) is not compiled
