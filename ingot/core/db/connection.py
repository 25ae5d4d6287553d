"""Connection of a transaction or read: SQLAlchemy Core builds the statements, the driver runs them."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Table, column, select
from sqlalchemy import table as table_clause
from sqlalchemy.sql import Executable

from ingot.core.db.cache import ANY_COMMIT, CachedResult, ReadCache, subjects_of_result
from ingot.core.db.compiled_statements import CompiledStatement, StatementCache
from ingot.core.db.expressions import in_list
from ingot.core.db.locks import LOCK, LOCK_SHARED, TRY_LOCK, lock_key
from ingot.core.db.ports import Ports
from ingot.core.db.schema import Record
from ingot.core.db.times import Date, Timestamp, day_of
from ingot.core.db.vault import Vault
from ingot.core.other_sources import note_source

R = TypeVar("R", bound=Record)
T = TypeVar("T")

Subscribers = Mapping[type, Sequence[Callable[["Connection", Any], None]]]

_VERSIONED = table_clause("row_versions", column("name"), column("version"))
_ROW_VERSIONS = select(_VERSIONED).where(in_list(_VERSIONED.c.name, "names")).order_by(_VERSIONED.c.name)
_BOOLEANS = {0: False, 1: True, None: None}


@lru_cache(maxsize=256)
def _record_decoder(record: type[R]) -> Callable[[str], R]:
    """Return a decoder of records from JSON arrays, in which booleans are numbers."""
    of_list: type[R] = type(record.__name__, (record,), {}, frozen=True, array_like=True)
    return msgspec.json.Decoder(of_list, strict=False).decode


def _with_booleans(row: tuple[Any, ...], flags: tuple[int, ...]) -> list[Any]:
    """Convert the booleans of an SQLite row; the converters of the driver would cost ten times as much."""
    values = list(row)
    for index in flags:
        values[index] = _BOOLEANS[values[index]]
    return values


class Connection:
    """The ``db`` argument of domain code. It is used in one thread and never across an ``await``."""

    __slots__ = (
        "_cache",
        "_locks",
        "_now",
        "_partial_locks",
        "_raw",
        "_read_subjects",
        "_refreshed",
        "_statements",
        "announced",
        "follow_redirects",
        "for_change",
        "ports",
        "subscribers",
        "vault",
        "wakes_watchers",
        "work_after_commit",
        "work_after_read",
        "work_after_transaction",
        "work_before_commit",
    )

    def __init__(
        self,
        raw: Any,
        statements: StatementCache,
        now: Timestamp,
        vault: Vault,
        subscribers: Subscribers,
        ports: Ports,
        *,
        for_change: bool = True,
        cache: ReadCache | None = None,
        refreshed: bool = False,
    ) -> None:
        self._raw = raw
        self._cache = cache
        self._refreshed = refreshed
        self._read_subjects: set[str] | None = None
        """Subjects that were read for the result that is about to be cached."""
        self._statements = statements
        self._now = now
        self.vault = vault
        self.subscribers = subscribers
        self.ports = ports
        self.for_change = for_change
        """Whether this is a transaction, or a read ahead of one that finds what will be changed."""
        self.follow_redirects = not for_change
        """Resolve paths from before a rename."""
        self.work_before_commit: dict[str, Callable[[Connection], object]] = {}
        self.work_after_commit: list[Callable[[Connection], object]] = []
        self.work_after_transaction: list[Callable[[Any], object]] = []
        self.work_after_read: list[Callable[[Connection], object]] = []
        self.announced: set[str] = set()
        """Topics that are announced with the commit."""
        self.wakes_watchers = False
        """Whether the transaction has work for a process that waits on a ``Watch``."""
        self._locks: set[str] = set()
        self._partial_locks: set[str] = set()

    @property
    def now(self) -> Timestamp:
        """Return the time of the read or transaction."""
        note_source("time of day")
        return self._now

    @property
    def today(self) -> Date:
        """Return the date of the read or transaction; results that depend on it only can be cached."""
        return day_of(self._now)

    def begin_at(self, now: Timestamp) -> None:
        """Set the time of the transaction."""
        self._now = now

    def cached(
        self,
        key: Hashable,
        read: Callable[[], T | None],
        size: Callable[[T], int],
        rows: Callable[[T], Mapping[str, int | None]] | None = None,
    ) -> T | None:
        """Return the result of ``read`` from the cache; call it if something was committed since, or for None.

        Only for results that nearly all requests need, and that no caller modifies. ``key`` names everything that the
        result depends on besides the database; ``size`` gives its bytes. A transaction, which sees its own changes,
        caches nothing.

        With ``rows``, the result is valid until one of the tables changes that ``read`` itself has read or that
        ``rows`` names; where ``rows`` names a row (see ``RECORDED_TABLES``), only its changes matter. Everything else
        that ``read`` uses must be in the key.
        """
        if self._cache is None:
            return read()
        if not self._refreshed:
            self._refreshed = True
            self._cache.refresh()
        cached = self._cache.get(key)
        outer = self._read_subjects
        if cached is not None:
            if outer is not None:
                outer |= cached.subjects
            value: T = cached.value
            return value
        # Outer reads may have passed something on, so their subjects count too.
        self._read_subjects = own = set(outer or ())
        try:
            result = read()
        finally:
            self._read_subjects = outer
        subjects = frozenset({ANY_COMMIT}) if rows is None or result is None else subjects_of_result(own, rows(result))
        if outer is not None:
            outer |= own if result is None else subjects
        if result is not None:
            self._cache.put(key, CachedResult(result, subjects), size(result))
        return result

    @property
    def identity(self) -> object:
        """Return an object that belongs to this database alone, for the keys of caches that all databases share."""
        return self._statements

    def row_versions(self, names: Sequence[str]) -> tuple[tuple[str, int], ...] | None:
        """Return the current versions of kinds of rows (see ``totals``); None if there are none.

        A transaction has none, because it may be rolled back after it has incremented them.
        """
        if self._cache is None or not self._statements.embedded:
            return None
        return tuple(self.rows(_ROW_VERSIONS, names=list(names)))

    def lock(self, name: str) -> None:
        """Wait until no other transaction holds this lock, then hold it until this one has ended.

        Call it before anything is read: each statement sees what was committed before it began, so everything that is
        read under the lock stays valid for changes under the same lock.
        """
        self.rows(LOCK, lock=lock_key(name))
        self._locks.add(name)

    def lock_parts(self, name: str, find_parts: Callable[[], Iterable[str]]) -> None:
        """Hold parts of a lock until the transaction has ended; others may hold other parts, but none the whole lock.

        ``find_parts`` is called when no other transaction holds the whole lock any more. Call this once in a
        transaction: as all take their parts in the same order, no two can wait for each other.
        """
        self.run(LOCK_SHARED, lock=lock_key(name))
        for key in sorted({lock_key(f"{name} {part}") for part in find_parts()}):
            self.run(LOCK, lock=key)
        self.flush()  # The lock may protect more than rows.
        self._partial_locks.add(name)

    def try_lock(self, name: str) -> bool:
        """Hold this lock until the transaction has ended, unless another one holds it; return whether it is held."""
        return bool(self.value(TRY_LOCK, lock=lock_key(name)))

    def must_hold(self, name: str) -> None:
        """Raise if this lock, which a change needs, was not taken; on both engines, so that tests detect it."""
        if name not in self._locks:
            raise RuntimeError(f"The lock of {name} has to be taken before anything is read")

    def must_hold_part(self, name: str) -> None:
        """Raise if neither this lock nor parts of it were taken."""
        if name not in self._partial_locks:
            self.must_hold(name)

    def before_commit(self, name: str, work: Callable[["Connection"], object]) -> None:
        """Call ``work`` as the last step of the transaction, once for each name.

        For rows that many transactions change, so that their locks are held for the commit only and are never waited
        for in different orders.
        """
        self.work_before_commit[name] = work

    def after_commit(self, work: Callable[["Connection"], object]) -> None:
        """Call ``work`` when the transaction has committed, before the response is sent.

        A crash may come first, so work that must be done is a job as well. A failure is logged and does not reach the
        caller.
        """
        self.work_after_commit.append(work)

    def after_transaction(self, work: Callable[[Any], object]) -> None:
        """Call ``work`` with the database after the commit, for work that needs its own transactions.

        As after ``after_commit``, a crash may come first, and a failure is logged.
        """
        self.work_after_transaction.append(work)

    def after_read(self, work: Callable[["Connection"], object]) -> None:
        """Call ``work`` in a transaction after a read, to store a result that is worth it; a failure is logged."""
        self.work_after_read.append(work)

    def _execute(self, compiled: CompiledStatement, values: dict[str, Any]) -> Any:
        text, carried, lists, *_ = compiled
        if self._read_subjects is not None:
            self._read_subjects |= compiled.subjects
        if carried:
            values = {**carried, **values}
        for name in lists:
            values[name] = msgspec.json.encode(values[name]).decode()
        return self._raw.execute(text, values)

    def _execute_later(self, compiled: CompiledStatement, values: dict[str, Any]) -> None:
        """Run a statement without a result; a server gets it together with the next one, in one round trip.

        The order of the statements stays the same, but an error is raised by a later one, at last by the commit.
        """
        if self._statements.embedded:
            self._execute(compiled, values)
        else:
            self._raw.execute_later(compiled.text, {**compiled.carried, **values})

    def flush(self) -> None:
        """Run the statements that wait for the next one; a commit does this too."""
        if not self._statements.embedded:
            self._raw.flush()

    def statement_number(self, statement: Executable) -> int:
        """Return a number that names a statement in the keys of caches."""
        return self._compiled(statement).number

    def _compiled(self, statement: Executable) -> CompiledStatement:
        return self._statements.compiled(statement)  # type: ignore[arg-type] # Executables are clauses.

    def first(self, record: type[R], statement: Executable, **values: Any) -> R | None:
        """Return the first row as a record, or None."""
        compiled = self._compiled(statement)
        row = self._execute(compiled, values).fetchone()
        if row is None:
            return None
        return record(*_with_booleans(row, compiled.flags)) if compiled.flags else record(*row)

    def all(self, record: type[R], statement: Executable, **values: Any) -> list[R]:
        """Return every row as a record."""
        compiled = self._compiled(statement)
        rows = self._execute(compiled, values).fetchall()
        if compiled.packed:
            unpack = _record_decoder(record)
            return [unpack(row[0]) for row in rows]
        if compiled.flags:
            return [record(*_with_booleans(row, compiled.flags)) for row in rows]
        return [record(*row) for row in rows]

    def rows(self, statement: Executable, **values: Any) -> list[tuple[Any, ...]]:
        """Return every row as a tuple, for statements without a record."""
        compiled = self._compiled(statement)
        result: list[tuple[Any, ...]] = self._execute(compiled, values).fetchall()
        if compiled.flags:
            return [tuple(_with_booleans(row, compiled.flags)) for row in result]
        return result

    def value(self, statement: Executable, **values: Any) -> Any:
        """Return the first column of the first row, or None."""
        compiled = self._compiled(statement)
        row = self._execute(compiled, values).fetchone()
        if row is None:
            return None
        return _BOOLEANS[row[0]] if 0 in compiled.flags else row[0]

    def run(self, statement: Executable, **values: Any) -> None:
        """Run a statement whose result is not needed."""
        self._execute_later(self._compiled(statement), values)

    def run_counted(self, statement: Executable, **values: Any) -> int:
        """Run a statement that returns no rows; return the number of affected rows."""
        affected: int = self._execute(self._compiled(statement), values).rowcount
        return affected

    def insert(self, table: Table, **values: Any) -> int:
        """Insert a row; return its id, or 0 if the table has none."""
        cursor = self._execute(self._statements.writing("insert", table, tuple(values)), values)
        if "id" not in table.c:
            return 0
        row: tuple[int] = cursor.fetchone()
        return row[0]

    def insert_row(self, table: Table, **values: Any) -> None:
        """Insert a row whose id is not needed."""
        self._execute_later(self._statements.writing("insert many", table, tuple(values)), values)

    def insert_many(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Insert rows, all with the same columns, in one round trip."""
        if rows:
            self._run_many(self._statements.writing("insert many", table, tuple(rows[0])), rows)

    def _run_many(self, compiled: CompiledStatement, rows: Sequence[dict[str, Any]]) -> None:
        self._raw.executemany(compiled.text, [{**compiled.carried, **row} for row in rows])

    def update(self, table: Table, row_id: int, **values: Any) -> None:
        """Set columns of the row with this id, if it still exists."""
        if values:
            compiled = self._statements.writing("update", table, tuple(values))
            self._execute_later(compiled, {**values, "row_id": row_id})

    def update_counted(self, table: Table, row_id: int, **values: Any) -> int:
        """Set columns of the row with this id; return the number of affected rows."""
        if not values:
            return 0
        compiled = self._statements.writing("update", table, tuple(values))
        affected: int = self._execute(compiled, {**values, "row_id": row_id}).rowcount
        return affected

    def update_many(self, table: Table, rows: Sequence[dict[str, Any]]) -> None:
        """Set columns of rows, which have their ``row_id`` and all the same columns, in one round trip."""
        if rows:
            columns = tuple(name for name in rows[0] if name != "row_id")
            self._run_many(self._statements.writing("update", table, columns), rows)

    def delete(self, table: Table, row_id: int) -> None:
        """Delete the row with this id, if it still exists."""
        self._execute_later(self._statements.writing("delete", table, ()), {"row_id": row_id})

    def delete_counted(self, table: Table, row_id: int) -> int:
        """Delete the row with this id; return the number of affected rows."""
        compiled = self._statements.writing("delete", table, ())
        affected: int = self._execute(compiled, {"row_id": row_id}).rowcount
        return affected
