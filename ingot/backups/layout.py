"""What a backup looks like inside: a compressed tar of tables as lines of JSON, folders, and a manifest at its end."""

import re
from typing import Any

import msgspec
from sqlalchemy import Boolean, Column, Integer, LargeBinary, Numeric, Text

from ingot.db.times import Timestamp

FORMAT = 1
MANIFEST = "manifest.json"
SETTINGS = "ingot.toml"
TABLES = "tables"
FOLDERS = ("secrets", "uploads", "repositories", "lfs")
BATCH = 500
_NAME = re.compile(r"[a-z_][a-z0-9_]*")
# Text stands last: it is what every other column of ours is.
_KINDS = ((Boolean, "boolean"), (Integer, "integer"), (Numeric, "number"), (LargeBinary, "bytes"), (Text, "text"))


class BackupTrouble(Exception):
    """A backup cannot be written or used; the text says why and what to do."""


class TableEntry(msgspec.Struct):
    """What the manifest says of one table."""

    name: str
    columns: dict[str, str]
    """Kinds by name; bytes are written as base64."""
    rows: int
    last_id: int
    """The highest number ever given to a row, also to one that is gone: it is never given out again."""


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


def member_of(table: str) -> str:
    """Where the rows of a table stand in the archive."""
    return f"{TABLES}/{table}.ndjson"


def kind_of(column: Column[Any]) -> str:
    """How a column's values are written."""
    for type_, kind in _KINDS:
        if isinstance(column.type, type_):
            return kind
    raise TypeError(f"Backups cannot hold {column} yet: it is of type {column.type}")


def is_name(text: str) -> bool:
    """Whether a text can be the name of one of our tables or columns, and so can stand in a statement."""
    return _NAME.fullmatch(text) is not None
