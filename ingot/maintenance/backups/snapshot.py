"""Consistent snapshot of all tables while others write."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

from sqlalchemy import Select, Table, select

from ingot.core.db.engines import Engine, SqliteEngine
from ingot.maintenance.backups.layout import BATCH_ROWS, BackupError

Rows = Sequence[tuple[Any, ...]]


class Snapshot:
    """Read-only transaction that sees only earlier commits."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._embedded = isinstance(engine, SqliteEngine)
        self.engine_name = "sqlite" if self._embedded else "postgresql"

    def __enter__(self) -> Self:
        try:
            self._raw = self._engine.connect(read_only=True)
            self._raw.execute("BEGIN" if self._embedded else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            # The snapshot is taken by the first statement that reads.
            row = self._raw.execute("SELECT version_num FROM alembic_version").fetchone()
        except self._engine.errors as error:
            raise BackupError(f"The database cannot be read or contains no instance: {error}") from error
        self.revision: str = row[0] if row else ""
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def batches(self, table: Table) -> Iterator[Rows]:
        """Yield the rows of a table in batches, in the order of the primary key."""
        text = str(select(table).order_by(*table.primary_key.columns).compile(dialect=self._engine.dialect))
        if self._embedded:
            cursor = self._raw.execute(text)
        else:
            # A named cursor stays on the server; an unnamed one would fetch the whole table at once.
            cursor = self._raw.cursor(name="backup")
            cursor.execute(text)
        try:
            while rows := cursor.fetchmany(BATCH_ROWS):
                yield rows
        finally:
            cursor.close()

    def rows(self, statement: Select[Any]) -> Rows:
        """Return all rows of a statement."""
        rows: Rows = self._raw.execute(str(statement.compile(dialect=self._engine.dialect))).fetchall()
        return rows

    def last_id(self, table: Table) -> int:
        """Return the highest id ever assigned to a row."""
        if "id" not in table.c:
            return 0
        if not self._embedded:
            sequence = self._raw.execute("SELECT pg_get_serial_sequence(%s, 'id')", (table.name,)).fetchone()
            if sequence[0] is None:
                return self._highest(table)
            return self._number(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence[0]}")  # noqa: S608 - The server quoted the name.
        row = self._raw.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table.name,)).fetchone()
        return max(row[0] if row else 0, self._highest(table))

    def _highest(self, table: Table) -> int:
        return self._number(f'SELECT coalesce(max(id), 0) FROM "{table.name}"')  # noqa: S608 - The name comes from the schema.

    def _number(self, statement: str) -> int:
        number: int = self._raw.execute(statement).fetchone()[0]
        return number
