"""SQL that the two engines spell differently."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import BindParameter, Boolean, ColumnElement, bindparam, func, literal_column, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from ingot.errors import Invalid

# SQLite takes patterns of up to 50,000 bytes, and folding a character can make six of one.
MAX_SEARCH_LENGTH = 8_000


class ListOfValues(NullType):
    """Marks a parameter that is bound to a list."""


class in_list(ColumnElement[bool]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """``column`` is one of the list bound to ``name``; one shape for every length."""

    type = Boolean()
    inherit_cache = False

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.values: BindParameter[Any] = bindparam(name, type_=ListOfValues())

    def self_group(self, against: Any = None) -> "in_list":  # noqa: ARG002 - SQLAlchemy's form.
        """Itself: SQLAlchemy would write ``(… IN …) = 1`` for SQLite, and no index serves that."""
        return self


@compiles(in_list, "sqlite")
def _in_list_sqlite(element: in_list, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(part, **options) for part in (element.column, element.values))
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - Both parts are compiled, not typed.


@compiles(in_list, "postgresql")
def _in_list_postgresql(element: in_list, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(part, **options) for part in (element.column, element.values))
    return f"{column} = ANY({values})"


class list_as_table(FunctionElement[Any]):  # noqa: N801 - it reads as a function of SQL where it is used.
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


class packed_columns(ColumnElement[Any]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """All columns of a record; the embedded engine gives them as one, which costs a third less than many.

    ``Connection.all`` takes them apart. Nothing else may be selected beside them.
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


class aggregated_list(ColumnElement[Any]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """All values of ``column`` in one, which ``parse_aggregated`` takes apart: cheaper than a row for each."""

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


def parse_aggregated(gathered: str | list[int] | None) -> list[int]:
    """What a statement gathered."""
    return msgspec.json.decode(gathered, type=list[int]) if isinstance(gathered, str) else gathered or []


def one_of(column: ColumnElement[str], *values: str) -> ColumnElement[bool]:
    """``column`` is one of these few; ``IN`` would be written out only at each execution."""
    return or_(*(column == value for value in values))


def without_index(column: ColumnElement[int]) -> ColumnElement[int]:
    """``column`` itself; adding nothing keeps an engine from finding rows by it, where another way is better."""
    return column + literal_column("0")


def validate_search_length(text: str) -> None:
    """Refuse what nobody looks for."""
    if len(text) > MAX_SEARCH_LENGTH:
        raise Invalid(f"400 (Bad request) a search has at most {MAX_SEARCH_LENGTH} characters")


def like_pattern(text: str) -> str:
    """``text`` anywhere, for ``LIKE … ESCAPE '\\'`` on a folded column."""
    validate_search_length(text)
    escaped = text.casefold().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def contains_ignoring_case(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """The same of a column that is kept as it was written; the embedded engine folds no more than ASCII here."""
    return func.lower(column).like(bindparam(name), escape="\\")


def contains(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """``column``, which is kept folded, holds the text bound to ``name`` (made by ``like_pattern``)."""
    return column.like(bindparam(name), escape="\\")
