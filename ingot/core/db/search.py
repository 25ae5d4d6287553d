"""Finding a text anywhere in a column: by an index of three characters at a time, with what ``LIKE`` would find.

The embedded engine has such an index beside the table (see the migrations), and it is asked in its own words. A
PostgreSQL server uses one for ``LIKE`` by itself where its extension ``pg_trgm`` is there.
"""

from typing import Any

from sqlalchemy import BindParameter, Boolean, ColumnElement, bindparam, func, literal_column, or_
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from ingot.core.db.expressions import like_pattern, validate_search_length

MIN_INDEXED_LENGTH = 3
"""Below this many characters an index has nothing to go by."""
MAX_INDEXED_LENGTH = 32
"""So many characters are looked up in it; the rest is compared with what that finds. Each three of them cost as much as
there are places for them, and a text of one letter has a million."""


def is_indexed(text: str, *, as_written: bool = False) -> bool:
    """Whether ``holding`` can look for this text; else it takes ``contains``."""
    return len(text if as_written else text.casefold()) >= MIN_INDEXED_LENGTH


def search_term(text: str) -> str:
    """What ``holding`` is bound to, folded as the columns are; one that is too long is refused."""
    like_pattern(text)
    return text.casefold()


def search_term_ignoring_case(text: str) -> str:
    """The same for columns that are kept as they were written: the index folds them, and this."""
    validate_search_length(text)
    return text


class text_search(ColumnElement[bool]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """A row, found by ``key``, of which one of the searched ``columns`` holds the text bound to ``name``.

    ``key`` equals the id of that row; the columns are of one table, which has an index for searches. They are kept
    folded, or else are ``as_written``, and their index finds them whatever the case.
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

    def self_group(self, against: Any = None) -> "text_search":  # noqa: ARG002 - SQLAlchemy's form.
        """Itself: SQLAlchemy would write ``(… IN …) = 1`` for SQLite, and no index serves that."""
        return self


@compiles(text_search, "sqlite")
def _text_search_sqlite(element: text_search, compiler: SQLCompiler, **options: Any) -> str:
    key, text = (compiler.process(part, **options) for part in (element.row, element.needle))
    index = f"{element.searched[0].table.name}_search"
    names = [column.name for column in element.searched]
    phrase = f"""'{{{" ".join(names)}}} : "' || replace(substr({text}, 1, {MAX_INDEXED_LENGTH}), '"', '""') || '"'"""
    # Beyond the index only the case of plain letters does not count in what is kept as it was written.
    fold = "lower(%s)" if element.as_written else "%s"
    whole = " OR ".join(f"instr({fold % name}, {fold % text})" for name in names)
    found = f"{index} MATCH {phrase} AND (length({text}) <= {MAX_INDEXED_LENGTH} OR {whole})"
    return f"{key} IN (SELECT rowid FROM {index} WHERE {found})"  # noqa: S608 - Compiled, not typed.


@compiles(text_search, "postgresql")
def _text_search_postgresql(element: text_search, compiler: SQLCompiler, **options: Any) -> str:
    escaped: ColumnElement[str] = func.lower(element.needle) if element.as_written else element.needle
    for sign in ("\\", "%", "_"):
        escaped = func.replace(escaped, literal_column(f"'{sign}'"), literal_column(f"'\\{sign}'"))
    around: ColumnElement[str] = literal_column("'%'")
    pattern = around.concat(escaped).concat(around)
    columns = [func.lower(column) if element.as_written else column for column in element.searched]
    found = or_(*(column.like(pattern, escape="\\") for column in columns))
    return f"({compiler.process(found, **options)})"
