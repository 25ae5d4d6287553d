"""Rows of tables as dictionaries, read in batches so that the memory of an export does not depend on its size."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import Select, Table, bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import in_list

BATCH_ROWS = 100
"""Rows of a batch; those that belong to them are read with one statement for each table."""

Row = dict[str, Any]
Statement = Select[Any]


class RowReader:
    """Reader of rows; each batch is a read of its own, so that no transaction stays open while files are written."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def batches(self, table: Table, column: str, owner_id: int) -> Iterator[list[Row]]:
        """Yield the rows that belong to an owner, in the order of their ids."""
        after = 0
        while rows := self.rows(table, _batch_statement(table, column), owner=owner_id, after=after):
            yield rows
            after = rows[-1]["id"]

    def all_rows(self, table: Table, column: str, owner_id: int) -> list[Row]:
        """Return all rows that belong to an owner; for kinds of which there are few."""
        return [row for batch in self.batches(table, column, owner_id) for row in batch]

    def rows(self, table: Table, statement: Statement, **values: Any) -> list[Row]:
        """Return the rows of a statement that selects the columns of a table."""
        return self._database.read(partial(_rows, table=table, statement=statement, values=values))

    def by_ids(self, table: Table, ids: Sequence[int]) -> dict[int, Row]:
        """Return rows by their ids."""
        if not ids:
            return {}
        return {row["id"]: row for row in self.rows(table, _ids_statement(table, "id"), ids=sorted(set(ids)))}

    def children(self, table: Table, column: str, ids: Sequence[int]) -> defaultdict[int, list[Row]]:
        """Return the rows that refer to others by a column, grouped by the id of the other row."""
        return _grouped(self.rows(table, _ids_statement(table, column), ids=list(ids)) if ids else [], column)

    def of_subjects(self, table: Table, kind: str, ids: Sequence[int]) -> defaultdict[int, list[Row]]:
        """Return the rows about subjects of a kind, grouped by the id of the subject."""
        rows = self.rows(table, _subject_statement(table), kind=kind, ids=list(ids)) if ids else []
        return _grouped(rows, "subject_id")


@lru_cache(128)
def _batch_statement(table: Table, column: str) -> Statement:
    return (
        select(table)
        .where(table.c[column] == bindparam("owner"), table.c.id > bindparam("after"))
        .order_by(table.c.id)
        .limit(BATCH_ROWS)
    )


@lru_cache(128)
def _ids_statement(table: Table, column: str) -> Statement:
    return select(table).where(in_list(table.c[column], "ids")).order_by(table.c.id)


@lru_cache(128)
def _subject_statement(table: Table) -> Statement:
    conditions = (table.c.subject_kind == bindparam("kind"), in_list(table.c.subject_id, "ids"))
    return select(table).where(*conditions).order_by(table.c.id)


def _rows(db: Connection, table: Table, statement: Statement, values: dict[str, Any]) -> list[Row]:
    names = [column.name for column in table.c]
    return [dict(zip(names, row, strict=True)) for row in db.rows(statement, **values)]


def _grouped(rows: Sequence[Row], column: str) -> defaultdict[int, list[Row]]:
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups
