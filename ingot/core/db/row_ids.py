"""Ids of rows that are inserted later in the transaction, so that rows that refer to them need no query."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Table, bindparam, literal, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from ingot.core.db.connection import Connection


class reserved_ids(FunctionElement[Any]):  # noqa: N801 - It reads as an SQL function where it is used.
    """The last id of a table in SQLite, where only one transaction writes; a list of new ids in PostgreSQL."""

    inherit_cache = False

    def __init__(self, table: Table) -> None:
        super().__init__(literal(table.name), bindparam("count"))


@compiles(reserved_ids, "sqlite")
def _reserved_ids_sqlite(element: reserved_ids, compiler: SQLCompiler, **options: Any) -> str:
    name, _ = element.clauses
    last = f"SELECT seq FROM sqlite_sequence WHERE name = {compiler.process(name, **options)}"  # noqa: S608 - A name of a table.
    return f"coalesce(({last}), 0)"


@compiles(reserved_ids, "postgresql")
def _reserved_ids_postgresql(element: reserved_ids, compiler: SQLCompiler, **options: Any) -> str:
    name, count = (compiler.process(clause, **options) for clause in element.clauses)
    following = f"nextval(pg_get_serial_sequence({name}, 'id'))"
    return f"(SELECT array_agg({following}) FROM generate_series(1, {count}))"  # noqa: S608 - Compiled, not user input.


@lru_cache(maxsize=128)
def _statement(table: Table) -> Any:
    return select(reserved_ids(table))


def reserve_ids(db: Connection, table: Table, count: int) -> Sequence[int]:
    """Return ids for new rows of a table, in ascending order; the table has ``sqlite_autoincrement``."""
    if count == 0:
        return ()
    reserved: int | list[int] = db.value(_statement(table), count=count)
    return reserved if isinstance(reserved, list) else range(reserved + 1, reserved + count + 1)
