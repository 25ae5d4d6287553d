"""SQL expressions that differ between the two engines."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Boolean, ColumnElement, bindparam, func, literal_column, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from ingot.core.errors import Invalid

# SQLite accepts patterns of up to 50,000 bytes, and case folding can turn one character into six bytes.
MAX_SEARCH_LENGTH = 8_000


class ListOfValues(NullType):
    """Type of a parameter that is bound to a list."""


class in_list(ColumnElement[bool]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Condition that ``column`` is in the list bound to ``name``; one statement for every length."""

    type = Boolean()
    inherit_cache = False

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.values: BindParameter[Any] = bindparam(name, type_=ListOfValues())

    def self_group(self, against: Any = None) -> "in_list":  # noqa: ARG002 - Signature of SQLAlchemy.
        """Return itself: SQLAlchemy would write ``(… IN …) = 1`` for SQLite, which cannot use an index."""
        return self


@compiles(in_list, "sqlite")
def _in_list_sqlite(element: in_list, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(part, **options) for part in (element.column, element.values))
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - Both parts are compiled, not user input.


@compiles(in_list, "postgresql")
def _in_list_postgresql(element: in_list, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(part, **options) for part in (element.column, element.values))
    return f"{column} = ANY({values})"


class list_as_table(FunctionElement[Any]):  # noqa: N801 - It reads as an SQL function where it is used.
    """The list of texts bound to ``name`` as a table: ``list_as_table("oids").table_valued("value")``."""

    inherit_cache = False

    def __init__(self, name: str) -> None:
        super().__init__(bindparam(name, type_=ListOfValues()))


@compiles(list_as_table, "sqlite")
def _list_as_table_sqlite(element: list_as_table, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(list_as_table, "postgresql")
def _list_as_table_postgresql(element: list_as_table, compiler: SQLCompiler, **options: Any) -> str:
    values = compiler.process(element.clauses, **options)
    return f"(SELECT unnest(CAST({values} AS text[])) AS value)"


class packed_columns(ColumnElement[Any]):  # noqa: N801 - It reads as an SQL function where it is used.
    """All columns of a record; SQLite returns them as one JSON array, which costs a third less.

    ``Connection.all`` decodes them. No other column may be selected.
    """

    type = NullType()
    inherit_cache = False

    def __init__(self, columns: Sequence[ColumnElement[Any]]) -> None:
        self.columns = tuple(columns)


@compiles(packed_columns, "sqlite")
def _packed_columns_sqlite(element: packed_columns, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array({_render_list(element, compiler, options)})"


@compiles(packed_columns, "postgresql")
def _packed_columns_postgresql(element: packed_columns, compiler: SQLCompiler, **options: Any) -> str:
    return _render_list(element, compiler, options)


def _render_list(element: packed_columns, compiler: SQLCompiler, options: dict[str, Any]) -> str:
    inner = {**options, "within_columns_clause": False}
    return ", ".join(compiler.process(column, **inner) for column in element.columns)


class aggregated_list(ColumnElement[Any]):  # noqa: N801 - It reads as an SQL function where it is used.
    """All values of ``column`` in one result, decoded by ``parse_aggregated``: cheaper than one row per value."""

    type = NullType()
    inherit_cache = False

    def __init__(self, column: ColumnElement[int]) -> None:
        self.column = column


@compiles(aggregated_list, "sqlite")
def _aggregated_list_sqlite(element: aggregated_list, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_group_array({compiler.process(element.column, **options)})"


@compiles(aggregated_list, "postgresql")
def _aggregated_list_postgresql(element: aggregated_list, compiler: SQLCompiler, **options: Any) -> str:
    return f"array_agg({compiler.process(element.column, **options)})"


def parse_aggregated(result: str | list[int] | None) -> list[int]:
    """Decode the result of ``aggregated_list``."""
    return msgspec.json.decode(result, type=list[int]) if isinstance(result, str) else result or []


def one_of(column: ColumnElement[str], *values: str) -> ColumnElement[bool]:
    """Return the condition that ``column`` is one of a few values; ``IN`` would be expanded at each execution."""
    return or_(*(column == value for value in values))


def without_index(column: ColumnElement[int]) -> ColumnElement[int]:
    """Return ``column`` plus zero, which keeps the engine from using an index where another one is better."""
    return column + literal_column("0")


def validate_search_length(text: str) -> None:
    """Raise ``Invalid`` if a search text is too long."""
    if len(text) > MAX_SEARCH_LENGTH:
        raise Invalid(f"400 (Bad request) a search has at most {MAX_SEARCH_LENGTH} characters")


def like_pattern(text: str) -> str:
    """Return a pattern that finds ``text`` anywhere in a case-folded column, for ``LIKE … ESCAPE '\\'``."""
    validate_search_length(text)
    escaped = text.casefold().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def contains_ignoring_case(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """Return a condition like ``contains`` for a column that is not case-folded; SQLite folds only ASCII."""
    return func.lower(column).like(bindparam(name), escape="\\")


def contains(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """Return the condition that a case-folded ``column`` contains the text bound to ``name`` (by ``like_pattern``)."""
    return column.like(bindparam(name), escape="\\")
