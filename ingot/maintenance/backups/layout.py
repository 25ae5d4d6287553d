"""Format of a backup: a compressed tar with tables as lines of JSON, folders, and a manifest at its end."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Boolean, Column, Float, Integer, LargeBinary, Numeric, Text

from ingot.core.db.times import Timestamp

FORMAT = 2
"""Format 1 has no record of repositories."""
MANIFEST = "manifest.json"
SETTINGS = "ingot.toml"
TABLES = "tables"
REPOSITORY_RECORD = "repositories.ndjson"
FOLDERS = (
    "secrets",
    "uploads",
    "repositories",
    "lfs",
    "artifacts",
    "traces",
    "packages",
    "secure_files",
    "terraform_states",
    "pages",
)
BATCH_ROWS = 500
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# Text is last because all remaining columns are text.
_KINDS = (
    (Boolean, "boolean"),
    (Integer, "integer"),
    (Numeric, "number"),
    (Float, "number"),
    (LargeBinary, "bytes"),
    (Text, "text"),
)


Progress = Callable[[str, int, int], None]
"""Called with a description, the number of finished items, and their total (0 if unknown)."""


class BackupError(Exception):
    """A backup that cannot be written or used; the message says why and what to do."""


class TableEntry(msgspec.Struct):
    """A table in the manifest."""

    name: str
    columns: dict[str, str]
    """Kinds by column name; bytes are encoded as base64."""
    rows: int
    last_id: int
    """Highest id ever assigned, also to deleted rows: ids are never reused."""


class RepositoryEntry(msgspec.Struct, omit_defaults=True):
    """State of a repository in the backup."""

    key: str
    head: str | None = None
    refs: dict[str, str] = {}
    """Object ids by full ref name; bytes other than ASCII are percent-encoded, because git defines no encoding."""
    troubles: list[str] = []
    """Problems that the repository already had."""
    there: bool = True
    deleted: bool = False
    """Whether the project was deleted after the snapshot of the rows and before its repository was copied."""


class Manifest(msgspec.Struct):
    """Content of a backup; the last member, so that a truncated file has none."""

    format: int
    revision: str
    version: str
    engine: str
    created_at: Timestamp
    tables: list[TableEntry]
    members: dict[str, str]
    """SHA-256 of each file in the archive."""


def member_name(table: str) -> str:
    """Return the name of a table's file in the archive."""
    return f"{TABLES}/{table}.ndjson"


def column_kind(column: Column[Any]) -> str:
    """Return how a column's values are encoded."""
    for type_, kind in _KINDS:
        if isinstance(column.type, type_):
            return kind
    raise TypeError(f"Backups do not support {column} of type {column.type} yet")


def is_identifier(text: str) -> bool:
    """Check whether a text is a valid name of a table or column and so safe in a statement."""
    return _NAME.fullmatch(text) is not None
