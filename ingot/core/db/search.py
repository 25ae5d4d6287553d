"""Substring search by trigram indexes, with the same results as ``LIKE``.

SQLite has such an index as a separate table (see the migrations), which is queried with ``MATCH``. PostgreSQL uses one
for ``LIKE`` itself if the extension ``pg_trgm`` is installed.
"""

from typing import Any

from sqlalchemy import BindParameter, Boolean, ColumnElement, and_, bindparam, func, literal_column, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from ingot.core.db.expressions import like_pattern, validate_search_length

MIN_INDEXED_LENGTH = 3
"""A trigram index cannot find shorter texts."""
MAX_INDEXED_LENGTH = 32
"""Only this many characters are looked up in the index.

The rest is compared with the results. Each trigram costs as much as it has occurrences, and a repeated letter may have
a million.
"""


def is_indexed(text: str, *, as_written: bool = False) -> bool:
    """Return whether ``text_search`` can find this text; otherwise use ``contains``."""
    return len(text if as_written else text.casefold()) >= MIN_INDEXED_LENGTH


def search_term(text: str) -> str:
    """Return the value to bind to ``text_search``, case-folded like the columns; raise ``Invalid`` if too long."""
    like_pattern(text)
    return text.casefold()


def search_term_ignoring_case(text: str) -> str:
    """Return the value to bind to ``text_search`` for columns that are not case-folded.

    Raise ``Invalid`` if it is too long.
    """
    validate_search_length(text)
    return text


class text_search(ColumnElement[bool]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Condition that one of the searched ``columns`` of the row ``key`` contains the text bound to ``name``.

    ``key`` equals the id of the row; the columns belong to one table, which has a search index. They are stored
    case-folded, or else are ``as_written``, and their index ignores case.
    """

    type = Boolean()
    inherit_cache = False

    def __init__(
        self, key: ColumnElement[int], name: str, *columns: ColumnElement[Any], as_written: bool = False
    ) -> None:
        self.row = key
        self.as_written = as_written
        self.searched = columns
        self.needle: BindParameter[str] = bindparam(name)

    def self_group(self, against: Any = None) -> "text_search":  # noqa: ARG002 - Signature of SQLAlchemy.
        """Return itself: SQLAlchemy would write ``(… IN …) = 1`` for SQLite, which cannot use an index."""
        return self


class text_scan(ColumnElement[bool]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Condition that one of case-folded ``columns`` contains the text bound to ``name``, without an index."""

    type = Boolean()
    inherit_cache = False

    def __init__(self, name: str, *columns: ColumnElement[Any]) -> None:
        self.searched = columns
        self.needle: BindParameter[str] = bindparam(name)

    def self_group(self, against: Any = None) -> "text_scan":  # noqa: ARG002 - Signature of SQLAlchemy.
        """Return itself: it is written in parentheses."""
        return self


@compiles(text_scan, "sqlite")
def _text_scan_sqlite(element: text_scan, compiler: SQLCompiler, **options: Any) -> str:
    return _any_contains("instr", element, compiler, options)


@compiles(text_scan, "postgresql")
def _text_scan_postgresql(element: text_scan, compiler: SQLCompiler, **options: Any) -> str:
    return _any_contains("strpos", element, compiler, options)


def _any_contains(function: str, element: text_scan, compiler: SQLCompiler, options: dict[str, Any]) -> str:
    needle = compiler.process(element.needle, **options)
    columns = [compiler.process(column, **options) for column in element.searched]
    return "(" + " OR ".join(f"{function}({column}, {needle}) > 0" for column in columns) + ")"


@compiles(text_search, "sqlite")
def _text_search_sqlite(element: text_search, compiler: SQLCompiler, **options: Any) -> str:
    key = compiler.process(element.row, **options)
    return f"{key} IN ({_index_query(element, compiler, options)})"


def _index_query(element: "text_search | text_hits", compiler: SQLCompiler, options: dict[str, Any]) -> str:
    text = compiler.process(element.needle, **options)
    index = f"{element.searched[0].table.name}_search"
    names = [column.name for column in element.searched]
    phrase = f"""'{{{" ".join(names)}}} : "' || replace(substr({text}, 1, {MAX_INDEXED_LENGTH}), '"', '""') || '"'"""
    # Beyond the indexed part, only the case of ASCII letters is ignored in columns that are not case-folded.
    fold = "lower(%s)" if element.as_written else "%s"
    whole = " OR ".join(f"instr({fold % name}, {fold % text})" for name in names)
    condition = f"{index} MATCH {phrase} AND (length({text}) <= {MAX_INDEXED_LENGTH} OR {whole})"
    return f"SELECT rowid AS id FROM {index} WHERE {condition}"  # noqa: S608 - Compiled, not user input.


@compiles(text_search, "postgresql")
def _text_search_postgresql(element: text_search, compiler: SQLCompiler, **options: Any) -> str:
    text: ColumnElement[str] = func.lower(element.needle) if element.as_written else element.needle
    beginning: ColumnElement[str] = func.substr(text, 1, literal_column(str(MAX_INDEXED_LENGTH)))
    for sign in ("\\", "%", "_"):
        beginning = func.replace(beginning, literal_column(f"'{sign}'"), literal_column(f"'\\{sign}'"))
    percent: ColumnElement[str] = literal_column("'%'")
    pattern = percent.concat(beginning).concat(percent)
    columns = [func.lower(column) if element.as_written else column for column in element.searched]
    # LIKE compares a long text at every position of a column; strpos skips most of them.
    condition = or_(
        *(
            and_(column.like(pattern, escape="\\"), func.strpos(column, text) > literal_column("0"))
            for column in columns
        )
    )
    return f"({compiler.process(condition, **options)})"


class text_hits(FunctionElement[Any]):  # noqa: N801 - It reads as an SQL function where it is used.
    """The rows that ``text_search`` finds, as a table: ``text_hits("needle", column).table_valued("id")``.

    SQLite reads it row by row and stops at a limit, whereas it collects all rows of a condition with ``IN`` first. The
    table is joined with ``is_hit``, which contains the whole condition on PostgreSQL.
    """

    inherit_cache = False
    as_written = False

    def __init__(self, name: str, *columns: ColumnElement[Any]) -> None:
        self.searched = columns
        self.needle: BindParameter[str] = bindparam(name)
        super().__init__(self.needle)


@compiles(text_hits, "sqlite")
def _text_hits_sqlite(element: text_hits, compiler: SQLCompiler, **options: Any) -> str:
    return f"({_index_query(element, compiler, options)})"


@compiles(text_hits, "postgresql")
def _text_hits_postgresql(element: text_hits, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return "(SELECT 1 AS id)"


class is_hit(text_search):  # noqa: N801 - It reads as an SQL function where it is used.
    """Condition that joins a row with ``text_hits`` of the same parameter and columns."""

    inherit_cache = False

    def __init__(
        self, key: ColumnElement[int], hit: ColumnElement[int], name: str, *columns: ColumnElement[Any]
    ) -> None:
        super().__init__(key, name, *columns)
        self.hit = hit


@compiles(is_hit, "sqlite")
def _is_hit_sqlite(element: is_hit, compiler: SQLCompiler, **options: Any) -> str:
    key, hit = (compiler.process(part, **options) for part in (element.row, element.hit))
    return f"{key} = {hit}"


@compiles(is_hit, "postgresql")
def _is_hit_postgresql(element: is_hit, compiler: SQLCompiler, **options: Any) -> str:
    return _text_search_postgresql(element, compiler, **options)
