"""A unit of work's hold on the database: Core builds the statements, the driver runs them."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec
from sqlalchemy import Table, bindparam, delete, insert, update
from sqlalchemy.sql import ClauseElement, Executable

from ingot.db.expressions import ListOfValues
from ingot.db.locks import LOCK, lock_number
from ingot.db.schema import Record
from ingot.db.times import Timestamp
from ingot.db.vault import Vault

if TYPE_CHECKING:
    from sqlalchemy.engine import Dialect

R = TypeVar("R", bound=Record)

Subscribers = Mapping[type, Sequence[Callable[["Connection", Any], None]]]


class Compiled(NamedTuple):
    """A statement as a driver takes it."""

    text: str
    carried: dict[str, Any]
    """Values that the statement itself carries."""
    lists: tuple[str, ...]
    """Parameters that are bound to lists, which the embedded engine takes as JSON."""


class Statements:
    """Statements compiled once for a dialect; the oldest go when there are too many shapes."""

    def __init__(self, dialect: "Dialect", *, lists_as_json: bool, most: int = 4096) -> None:
        self._dialect = dialect
        self._lists_as_json = lists_as_json
        self._most = most
        self._compiled: dict[Any, Compiled] = {}
        self.executed = 0

    def compiled(self, statement: ClauseElement, columns: tuple[str, ...] | None = None) -> Compiled:
        """The statement, compiled at its first use."""
        found = self._compiled.get(statement)
        return found or self._compile(statement, statement, columns)

    def writing(self, verb: str, table: Table, columns: tuple[str, ...]) -> Compiled:
        """An insert, update or delete of one row, by the columns that it sets."""
        key = (verb, table.name, columns)
        found = self._compiled.get(key)
        if found is not None:
            return found
        statement: ClauseElement
        if verb == "insert":
            statement = insert(table)
            if "id" in table.c:
                statement = statement.returning(table.c.id)
        elif verb == "update":
            statement = update(table).where(table.c.id == bindparam("row_id"))
        else:
            statement = delete(table).where(table.c.id == bindparam("row_id"))
        return self._compile(key, statement, columns)

    def _compile(self, key: Any, statement: ClauseElement, columns: tuple[str, ...] | None) -> Compiled:
        compiled: Any = statement.compile(dialect=self._dialect, column_keys=columns)
        carried = {compiled.bind_names[bind]: bind.effective_value for bind in compiled.bind_names if not bind.required}
        if columns:
            carried = {name: value for name, value in carried.items() if name not in columns}
        if len(self._compiled) >= self._most:
            self._compiled.pop(next(iter(self._compiled)))
        lists = tuple(name for bind, name in compiled.bind_names.items() if isinstance(bind.type, ListOfValues))
        self._compiled[key] = Compiled(str(compiled), carried, lists if self._lists_as_json else ())
        return self._compiled[key]


class Connection:
    """What rooms are handed as ``db``; it begins and ends in one thread, and never crosses an ``await``."""

    __slots__ = ("_afterwards", "_locks", "_raw", "_statements", "leads_on", "now", "subscribers", "vault")

    def __init__(
        self,
        raw: Any,
        statements: Statements,
        now: Timestamp,
        vault: Vault,
        subscribers: Subscribers,
        *,
        leads_on: bool = False,
    ) -> None:
        self._raw = raw
        self._statements = statements
        self.now = now
        self.vault = vault
        self.subscribers = subscribers
        self.leads_on = leads_on
        """Whether a path from before a rename finds what it named: for who looks, not for who is about to change it."""
        self._afterwards: list[Callable[[Connection], object]] = []
        self._locks: set[str] = set()

    def lock(self, name: str) -> None:
        """Wait until no other unit of work holds this lock, then hold it until this one has ended.

        It comes before anything is read: each statement sees what was committed before it began, so whatever is read
        from here on stays true for all that is changed under the same lock.
        """
        self.rows(LOCK, lock=lock_number(name))
        self._locks.add(name)

    def must_hold(self, name: str) -> None:
        """Stop a change that is only safe under this lock where nobody took it; on both engines, so that tests tell."""
        if name not in self._locks:
            raise RuntimeError(f"The lock of {name} has to be taken before anything is read")

    def after_commit(self, work: Callable[["Connection"], object]) -> None:
        """Do something when the transaction has committed, and before anybody hears of it.

        A crash may come first, so what has to be done is a job as well; a failure is no longer the caller's.
        """
        self._afterwards.append(work)

    def committed(self) -> None:
        """Do what was to be done after the commit; the connection shows then what others have committed too."""
        for work in self._afterwards:
            work(self)

    def _execute(self, compiled: Compiled, values: dict[str, Any]) -> Any:
        self._statements.executed += 1
        text, carried, lists = compiled
        if carried:
            values = {**carried, **values}
        for name in lists:
            values[name] = msgspec.json.encode(values[name]).decode()
        return self._raw.execute(text, values)

    def _run(self, statement: Executable, values: dict[str, Any]) -> Any:
        compiled = self._statements.compiled(statement)  # type: ignore[arg-type] # Executables are clauses.
        return self._execute(compiled, values)

    def first(self, record: type[R], statement: Executable, **values: Any) -> R | None:
        """The first row as a record, or nothing."""
        row = self._run(statement, values).fetchone()
        return None if row is None else record(*row)

    def all(self, record: type[R], statement: Executable, **values: Any) -> list[R]:
        """Every row as a record."""
        return [record(*row) for row in self._run(statement, values).fetchall()]

    def rows(self, statement: Executable, **values: Any) -> list[tuple[Any, ...]]:
        """Every row as it is, for statements that no record stands for."""
        found: list[tuple[Any, ...]] = self._run(statement, values).fetchall()
        return found

    def value(self, statement: Executable, **values: Any) -> Any:
        """The first column of the first row, or nothing."""
        row = self._run(statement, values).fetchone()
        return None if row is None else row[0]

    def run(self, statement: Executable, **values: Any) -> int:
        """Run a statement that returns nothing; says how many rows it touched."""
        touched: int = self._run(statement, values).rowcount
        return touched

    def insert(self, table: Table, **values: Any) -> int:
        """Add a row; gives its id (0 where the table has none)."""
        cursor = self._execute(self._statements.writing("insert", table, tuple(values)), values)
        if "id" not in table.c:
            return 0
        row: tuple[int] = cursor.fetchone()
        return row[0]

    def update(self, table: Table, row_id: int, **values: Any) -> int:
        """Set columns of the row with this id; says whether there was one."""
        if not values:
            return 0
        compiled = self._statements.writing("update", table, tuple(values))
        touched: int = self._execute(compiled, {**values, "row_id": row_id}).rowcount
        return touched

    def delete(self, table: Table, row_id: int) -> int:
        """Remove the row with this id; says whether there was one."""
        compiled = self._statements.writing("delete", table, ())
        touched: int = self._execute(compiled, {"row_id": row_id}).rowcount
        return touched
