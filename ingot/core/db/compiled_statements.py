"""Statements as the driver takes them, compiled once for each database."""

import re
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Boolean, Table, bindparam, delete, insert, update
from sqlalchemy.sql import ClauseElement

from ingot.core.db.cache import ANY_COMMIT, subjects_of_statement
from ingot.core.db.expressions import ListOfValues, packed_columns
from ingot.core.db.schema import metadata

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

GENERATION = 512
"""Statements of a generation; most are constants, others are built for a combination of filters and take 20 KB."""
_numbers = count(1)
_LITERAL_WORD = re.compile("[a-z_]+")
_BOUND_EMBEDDED, _BOUND_SERVER = re.compile(r"(?<!:):(\w+)"), re.compile(r"%\((\w+)\)s")


class CompiledStatement(NamedTuple):
    """A statement as the driver takes it."""

    text: str
    carried: dict[str, Any]
    """Values that are part of the statement."""
    lists: tuple[str, ...]
    """Parameters that are bound to lists, which SQLite takes as JSON."""
    flags: tuple[int, ...]
    """Indexes of boolean columns of the result, which SQLite returns as numbers."""
    packed: bool = False
    """True if SQLite returns all columns as one JSON array."""
    subjects: frozenset[str] = frozenset({ANY_COMMIT})
    """Tables that it reads (see ``cache``)."""
    number: int = 0
    """Number that no other statement has, for keys of caches; the statement itself would stay in memory with them."""


class StatementCache:
    """Cache of compiled statements for a dialect, in two generations of limited size.

    A statement of the older generation that is needed moves to the younger. When that is full, it becomes the older
    one, and the statements that were not used since then are evicted.
    """

    def __init__(self, dialect: "Dialect", *, embedded: bool) -> None:
        self._dialect = dialect
        self.embedded = embedded
        self._compiled: dict[Any, CompiledStatement] = {}
        self._older: dict[Any, CompiledStatement] = {}

    def compiled(self, statement: ClauseElement) -> CompiledStatement:
        """Return the compiled statement."""
        cached = self._compiled.get(statement)
        return cached or self._from_older(statement) or self._compile(statement, statement, None)

    def writing(self, verb: str, table: Table, columns: tuple[str, ...]) -> CompiledStatement:
        """Return the compiled insert, update or delete of one row, by the columns that it sets."""
        key = (verb, table.name, columns)
        cached = self._compiled.get(key) or self._from_older(key)
        if cached is not None:
            return cached
        statement: ClauseElement
        if verb == "insert":
            statement = insert(table)
            if "id" in table.c:
                statement = statement.returning(table.c.id)
        elif verb == "insert many":
            statement = insert(table)
        elif verb == "update":
            statement = update(table).where(table.c.id == bindparam("row_id"))
        else:
            statement = delete(table).where(table.c.id == bindparam("row_id"))
        return self._compile(key, statement, columns)

    def _compile(self, key: Any, statement: ClauseElement, columns: tuple[str, ...] | None) -> CompiledStatement:
        compiled: Any = statement.compile(dialect=self._dialect, column_keys=columns)
        carried = {compiled.bind_names[bind]: bind.effective_value for bind in compiled.bind_names if not bind.required}
        if columns:
            carried = {name: value for name, value in carried.items() if name not in columns}
        literals = _literal_words(compiled)
        bound = _BOUND_EMBEDDED if self.embedded else _BOUND_SERVER
        text = bound.sub(lambda match: f"'{literals[match[1]]}'" if match[1] in literals else match[0], str(compiled))
        carried = {name: value for name, value in carried.items() if name not in literals}
        lists: tuple[str, ...] = ()
        flags: tuple[int, ...] = ()
        packed = False
        if self.embedded:
            names = (name for bind, name in compiled.bind_names.items() if isinstance(bind.type, ListOfValues))
            lists = tuple(dict.fromkeys(names))  # One name may occur several times, and is bound once.
            result_columns = getattr(statement, "exported_columns", ())
            flags = tuple(index for index, column in enumerate(result_columns) if isinstance(column.type, Boolean))
            packed = any(isinstance(column, packed_columns) for column in getattr(statement, "selected_columns", ()))
        subjects = subjects_of_statement(text, metadata.tables)
        return self._keep(key, CompiledStatement(text, carried, lists, flags, packed, subjects, next(_numbers)))

    def _from_older(self, key: Any) -> CompiledStatement | None:
        compiled = self._older.get(key)
        return None if compiled is None else self._keep(key, compiled)

    def _keep(self, key: Any, compiled: CompiledStatement) -> CompiledStatement:
        # Threads that do this at the same time may evict a generation too early, which costs time only.
        if len(self._compiled) >= GENERATION:
            self._older, self._compiled = self._compiled, {}
        self._compiled[key] = compiled
        return compiled


def _literal_words(compiled: Any) -> dict[str, str]:
    """Return the constant words of a statement by their bind names; they are inlined instead of bound.

    A partial index is only used if the word is written in the statement; if it is bound, SQLite plans the statement
    again each time, which takes ten times as long as running it.
    """
    carried = ((name, bind.value) for bind, name in compiled.bind_names.items() if bind.unique)
    return {name: value for name, value in carried if isinstance(value, str) and _LITERAL_WORD.fullmatch(value)}
