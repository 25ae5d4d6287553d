"""Database that a backup is restored into: it must be empty, and is filled in one transaction."""

import base64
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Self

import msgspec

from ingot.core.db.engines import Engine, SqliteEngine
from ingot.maintenance.backups.layout import BATCH_ROWS, BackupError, TableEntry

_TABLES = {
    True: "SELECT count(*) FROM sqlite_master",
    False: "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()",
}
_REFERENCES = (
    "SELECT conrelid::regclass::text, quote_ident(conname) FROM pg_constraint "
    "WHERE contype = 'f' AND connamespace = current_schema()::regnamespace"
)


class RestoreTarget:
    """Target database. Rows keep their ids; references are checked at the end, since they may point forward."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._embedded = isinstance(engine, SqliteEngine)
        self._raw: Any = None

    def __enter__(self) -> Self:
        try:
            self._raw = self._engine.connect(read_only=False)
        except self._engine.errors as error:
            raise BackupError(f"The database does not respond: {error}") from error
        return self

    def __exit__(self, *_: object) -> None:
        self._raw.close()

    def is_empty(self) -> bool:
        """Return whether the database has no tables."""
        return self._number(_TABLES[self._embedded]) == 0

    def begin(self) -> None:
        """Begin the transaction."""
        if self._embedded:
            self._raw.execute("PRAGMA foreign_keys = OFF")
        self._raw.execute(self._engine.begin_statement)
        self._alter_references("DEFERRABLE INITIALLY DEFERRED")

    def insert(self, entry: TableEntry, lines: Iterable[bytes]) -> None:
        """Insert the rows of a table."""
        columns = ", ".join(f'"{name}"' for name in entry.columns)
        placeholders = ", ".join(["?" if self._embedded else "%s"] * len(entry.columns))
        statement = f'INSERT INTO "{entry.name}" ({columns}) VALUES ({placeholders})'  # noqa: S608 - Names were checked.
        rows = (_decode_row(entry, line) for line in lines)
        cursor = self._raw.cursor()
        try:
            while batch := list(islice(rows, BATCH_ROWS)):
                cursor.executemany(statement, batch)
        except (self._engine.errors, msgspec.DecodeError, KeyError, ValueError) as error:
            raise BackupError(f"The rows of {entry.name} cannot be inserted: {error}") from error

    def finish(self, entries: Sequence[TableEntry]) -> None:
        """Continue ids where the backup stopped, check references and row counts, and commit."""
        for entry in entries:
            if entry.last_id:
                self._set_last_id(entry)
        try:
            if not self._embedded:
                self._raw.execute(
                    "SET CONSTRAINTS ALL IMMEDIATE"
                )  # Checks them; a table with open checks cannot change.
            self._alter_references("NOT DEFERRABLE")
        except self._engine.errors as error:
            raise BackupError(f"The backup has rows with missing references: {error}") from error
        if self._embedded and (broken := self._raw.execute("PRAGMA foreign_key_check").fetchone()):
            raise BackupError(f"The backup has rows of {broken[0]} that reference missing rows of {broken[2]}")
        for entry in entries:
            rows = self._number(f'SELECT count(*) FROM "{entry.name}"')  # noqa: S608 - Names were checked.
            if rows != entry.rows:
                raise BackupError(f"{entry.name} has {rows} rows instead of {entry.rows}")
        self._raw.execute("COMMIT")

    def _alter_references(self, timing: str) -> None:
        """Defer or restore the foreign key checks, which PostgreSQL otherwise runs after each statement."""
        if self._embedded:
            return
        for table, name in self._raw.execute(_REFERENCES).fetchall():
            self._raw.execute(f"ALTER TABLE {table} ALTER CONSTRAINT {name} {timing}")

    def _set_last_id(self, entry: TableEntry) -> None:
        if not self._embedded:
            # Null if the table has no sequence; setval then does nothing.
            name = "pg_get_serial_sequence(%s, 'id')"
            self._raw.execute(f"SELECT setval({name}, %s)", (entry.name, entry.last_id))
            return
        table = self._raw.execute("SELECT sql FROM sqlite_master WHERE name = ?", (entry.name,)).fetchone()
        if "AUTOINCREMENT" in table[0].upper():
            self._raw.execute("DELETE FROM sqlite_sequence WHERE name = ?", (entry.name,))
            self._raw.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (entry.name, entry.last_id))

    def _number(self, statement: str) -> int:
        number: int = self._raw.execute(statement).fetchone()[0]
        return number


def _decode_row(entry: TableEntry, line: bytes) -> list[Any]:
    values: dict[str, Any] = msgspec.json.decode(line)
    return [_decode_value(kind, values[name]) for name, kind in entry.columns.items()]


def _decode_value(kind: str, value: Any) -> Any:
    return base64.b64decode(value, validate=True) if kind == "bytes" and value is not None else value
