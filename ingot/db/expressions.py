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
MOST_SEARCHED = 8_000


class ListOfValues(NullType):
    """Marks a parameter that is bound to a list."""


class any_of(ColumnElement[bool]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """``column`` is one of the list bound to ``name``; one shape for every length."""

    type = Boolean()
    inherit_cache = False

    def __init__(self, column: ColumnElement[Any], name: str) -> None:
        self.column = column
        self.values: BindParameter[Any] = bindparam(name, type_=ListOfValues())

    def self_group(self, against: Any = None) -> "any_of":  # noqa: ARG002 - SQLAlchemy's form.
        """Itself: SQLAlchemy would write ``(… IN …) = 1`` for SQLite, and no index serves that."""
        return self


@compiles(any_of, "sqlite")
def _any_of_sqlite(element: any_of, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(part, **options) for part in (element.column, element.values))
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - Both parts are compiled, not typed.


@compiles(any_of, "postgresql")
def _any_of_postgresql(element: any_of, compiler: SQLCompiler, **options: Any) -> str:
    column, values = (compiler.process(part, **options) for part in (element.column, element.values))
    return f"{column} = ANY({values})"


class each_of(FunctionElement[Any]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """The list of texts bound to ``name`` as a table: ``each_of("oids").table_valued("value")``."""

    inherit_cache = False

    def __init__(self, name: str) -> None:
        super().__init__(bindparam(name, type_=ListOfValues()))


@compiles(each_of, "sqlite")
def _each_of_sqlite(element: each_of, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(each_of, "postgresql")
def _each_of_postgresql(element: each_of, compiler: SQLCompiler, **options: Any) -> str:
    values = compiler.process(element.clauses, **options)
    return f"(SELECT unnest(CAST({values} AS text[])) AS value)"


class packed(ColumnElement[Any]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """All columns of a record; the embedded engine gives them as one, which costs a third less than many.

    ``Connection.all`` takes them apart. Nothing else may be selected beside them.
    """

    type = NullType()
    inherit_cache = False

    def __init__(self, columns: Sequence[ColumnElement[Any]]) -> None:
        self.columns = tuple(columns)


@compiles(packed, "sqlite")
def _packed_sqlite(element: packed, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_array({_listed(element, compiler, options)})"


@compiles(packed, "postgresql")
def _packed_postgresql(element: packed, compiler: SQLCompiler, **options: Any) -> str:
    return _listed(element, compiler, options)


def _listed(element: packed, compiler: SQLCompiler, options: dict[str, Any]) -> str:
    inner = {**options, "within_columns_clause": False}
    return ", ".join(compiler.process(column, **inner) for column in element.columns)


class gathered(ColumnElement[Any]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """All values of ``column`` in one, which ``as_list`` takes apart: cheaper than a row for each."""

    type = NullType()
    inherit_cache = False

    def __init__(self, column: ColumnElement[int]) -> None:
        self.column = column


@compiles(gathered, "sqlite")
def _gathered_sqlite(element: gathered, compiler: SQLCompiler, **options: Any) -> str:
    return f"json_group_array({compiler.process(element.column, **options)})"


@compiles(gathered, "postgresql")
def _gathered_postgresql(element: gathered, compiler: SQLCompiler, **options: Any) -> str:
    return f"array_agg({compiler.process(element.column, **options)})"


def as_list(gathered: str | list[int] | None) -> list[int]:
    """What a statement gathered."""
    return msgspec.json.decode(gathered, type=list[int]) if isinstance(gathered, str) else gathered or []


def one_of(column: ColumnElement[str], *values: str) -> ColumnElement[bool]:
    """``column`` is one of these few; ``IN`` would be written out only at each execution."""
    return or_(*(column == value for value in values))


def unindexed(column: ColumnElement[int]) -> ColumnElement[int]:
    """``column`` itself; adding nothing keeps an engine from finding rows by it, where another way is better."""
    return column + literal_column("0")


def refuse_long_search(text: str) -> None:
    """Refuse what nobody looks for."""
    if len(text) > MOST_SEARCHED:
        raise Invalid(f"400 (Bad request) a search has at most {MOST_SEARCHED} characters")


def like_pattern(text: str) -> str:
    """``text`` anywhere, for ``LIKE … ESCAPE '\\'`` on a folded column."""
    refuse_long_search(text)
    escaped = text.casefold().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def contains_as_written(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    """The same of a column that is kept as it was written; the embedded engine folds no more than ASCII here."""
    return func.lower(column).like(bindparam(name), escape="\\")


def contains(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    """``column``, which is kept folded, holds the text bound to ``name`` (made by ``like_pattern``)."""
    return column.like(bindparam(name), escape="\\")
