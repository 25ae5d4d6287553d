"""Writing of many rows with few statements, and conversion of values of records to columns."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Column, Table, and_, bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.row_ids import reserve_ids
from ingot.core.db.times import Date, Timestamp, parse_date, parse_timestamp

MAX_NUMBER = 2**31 - 1


class Relation(NamedTuple):
    """Rows that belong to other rows, such as the assignees of issues.

    ``owner`` is the column with the owner's id and ``key`` the columns by which rows are compared. Rows of an owner
    that are not given are deleted if the relation is ``complete``.
    """

    table: Table
    owner: str
    key: tuple[str, ...]
    complete: bool = True
    subject_kind: str | None = None


def replace_rows(
    db: Connection, relation: Relation, existing_owners: Sequence[int], rows: Iterable[Mapping[str, Any]]
) -> None:
    """Insert the rows that are missing, and delete those of ``existing_owners`` that are obsolete.

    Other owners are new and have no rows. Of several rows with the same key the first is inserted.
    """
    given: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        given.setdefault(tuple(row[name] for name in relation.key), dict(row))
    if existing_owners:
        stored = db.rows(_stored(relation), owners=list(existing_owners))
        obsolete = [row_id for row_id, *key in stored if tuple(key) not in given]
        for _, *key in stored:
            given.pop(tuple(key), None)
        if obsolete and relation.complete:
            db.run(_delete(relation.table), rows=obsolete)
    db.insert_many(relation.table, list(given.values()))


@lru_cache(maxsize=64)
def _stored(relation: Relation) -> Any:
    table = relation.table
    columns: list[Column[Any]] = [table.c.id, *(table.c[name] for name in relation.key)]
    kind = table.c.subject_kind == relation.subject_kind if relation.subject_kind else None
    conditions = [in_list(table.c[relation.owner], "owners")]
    return select(*columns).where(and_(*conditions) if kind is None else and_(*conditions, kind))


@lru_cache(maxsize=64)
def _delete(table: Table) -> Any:
    return delete(table).where(in_list(table.c.id, "rows"))


@lru_cache(maxsize=64)
def _by_ids(table: Table, columns: tuple[str, ...]) -> Any:
    return select(table.c.id, *(table.c[name] for name in columns)).where(in_list(table.c.id, "ids"))


@lru_cache(maxsize=64)
def _matching(table: Table, owner: str, column: str, columns: tuple[str, ...]) -> Any:
    return select(table.c[column], *(table.c[name] for name in columns)).where(
        table.c[owner] == bindparam("of"), in_list(table.c[column], "values")
    )


def rows_by_ids(db: Connection, table: Table, ids: Iterable[int], *columns: str) -> dict[int, tuple[Any, ...]]:
    """Return columns of the rows with these ids, by id, with one statement."""
    wanted = list(ids)
    rows = db.rows(_by_ids(table, columns), ids=wanted) if wanted else []
    return {row_id: tuple(values) for row_id, *values in rows}


def rows_by_values(
    db: Connection, table: Table, owner: tuple[str, int | str], column: str, values: Iterable[Any], *columns: str
) -> dict[Any, tuple[Any, ...]]:
    """Return columns of an owner's rows by the values of ``column``, with one statement."""
    wanted = list(values)
    statement = _matching(table, owner[0], column, columns)
    rows = db.rows(statement, of=owner[1], values=wanted) if wanted else []
    return {value: tuple(others) for value, *others in rows}


def insert_rows(db: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> Sequence[int]:
    """Insert rows with all the same columns; return their ids."""
    ids = reserve_ids(db, table, len(rows))
    db.insert_many(table, [{"id": row_id, **row} for row_id, row in zip(ids, rows, strict=True)])
    return ids


def update_rows(db: Connection, table: Table, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
    """Set columns of rows by their ids; all with the same columns."""
    db.update_many(table, [{"row_id": row_id, **columns} for row_id, columns in rows])


def moment(text: str | None, default: Timestamp) -> Timestamp:
    """Return a time of a record as it is stored, or the default if it has none or an unreadable one."""
    return moment_or_none(text) or default


def moment_or_none(text: str | None) -> Timestamp | None:
    """Return a time of a record as it is stored, or None."""
    try:
        return parse_timestamp(text) if text else None
    except ValueError:
        return None


def day_or_none(text: str | None) -> Date | None:
    """Return a date of a record as it is stored, or None."""
    try:
        return parse_date(text) if text else None
    except ValueError:
        return None


def is_number(number: int | None) -> bool:
    """Return whether a number of a record can be an iid."""
    return number is not None and 0 < number <= MAX_NUMBER


def bounded(number: int | None) -> int:
    """Return a number of a record within the range of stored numbers; zero for none."""
    return max(0, min(number or 0, MAX_NUMBER))
