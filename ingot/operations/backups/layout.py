"""What a backup looks like inside: a compressed tar of tables as lines of JSON, folders, and a manifest at its end."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Boolean, Column, Float, Integer, LargeBinary, Numeric, Text

from ingot.core.db.times import Timestamp

FORMAT = 2
"""1 has no record of repositories."""
MANIFEST = "manifest.json"
SETTINGS = "ingot.toml"
TABLES = "tables"
REPOSITORY_RECORD = "repositories.ndjson"
FOLDERS = ("secrets", "uploads", "repositories", "lfs")
BATCH_ROWS = 500
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# Text stands last: it is what every other column of ours is.
_KINDS = (
    (Boolean, "boolean"),
    (Integer, "integer"),
    (Numeric, "number"),
    (Float, "number"),
    (LargeBinary, "bytes"),
    (Text, "text"),
)


Progress = Callable[[str, int, int], None]
"""Hears what is being done, how many of it are done, and of how many; 0 where nobody counts."""


class BackupError(Exception):
    """A backup cannot be written or used; the text says why and what to do."""


class TableEntry(msgspec.Struct):
    """What the manifest says of one table."""

    name: str
    columns: dict[str, str]
    """Kinds by name; bytes are written as base64."""
    rows: int
    last_id: int
    """The highest number ever given to a row, also to one that is gone: it is never given out again."""


class RepositoryEntry(msgspec.Struct, omit_defaults=True):
    """What the record says of the repository of one project, as it is in the backup."""

    key: str
    head: str | None = None
    refs: dict[str, str] = {}
    """Objects by full name, in which bytes that are no ASCII are written as in a URL: git promises no encoding."""
    troubles: list[str] = []
    """What was wrong with it already."""
    there: bool = True
    deleted: bool = False
    """The project was deleted between the moment of the rows and the copy of its repository."""


class Manifest(msgspec.Struct):
    """What a backup holds; the member that is written last, so that a cut-off file has none."""

    format: int
    revision: str
    version: str
    engine: str
    created_at: Timestamp
    tables: list[TableEntry]
    members: dict[str, str]
    """The SHA-256 of each file in the archive."""


def member_name(table: str) -> str:
    """Where the rows of a table stand in the archive."""
    return f"{TABLES}/{table}.ndjson"


def column_kind(column: Column[Any]) -> str:
    """How a column's values are written."""
    for type_, kind in _KINDS:
        if isinstance(column.type, type_):
            return kind
    raise TypeError(f"Backups cannot hold {column} yet: it is of type {column.type}")


def is_identifier(text: str) -> bool:
    """Whether a text can be the name of one of our tables or columns, and so can stand in a statement."""
    return _NAME.fullmatch(text) is not None
