"""The shared ``metadata`` and the column types that both engines store alike."""

from importlib import import_module
from pkgutil import walk_packages
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)
from sqlalchemy import text as sql

import ingot

# Migrations need the constraint names on both engines.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def all_tables() -> list[Table]:
    """Return the tables of all packages, each after those that it references; imports every module ``tables``."""
    for module in walk_packages(ingot.__path__, "ingot."):
        if module.name.endswith(".tables"):
            import_module(module.name)
    return metadata.sorted_tables


# SQLite assigns 64-bit row ids only to a column that is declared INTEGER.
Identifier = BigInteger().with_variant(Integer(), "sqlite")


class Record(msgspec.Struct, frozen=True, gc=False):
    """Base of the structs of rows; the field order is the table's column order.

    They hold plain values only, so the garbage collector need not track them.
    """


def row_id() -> Column[int]:
    """Return the primary key column; ids are never reused (tables set ``sqlite_autoincrement``)."""
    return Column("id", Identifier, primary_key=True, autoincrement=True)


def text(name: str, **options: Any) -> Column[str]:
    """Return a text column, also for times and dates (see ``times``)."""
    return Column(name, Text, **{"nullable": False, **options})


def number(name: str, **options: Any) -> Column[int]:
    """Return a column of 64-bit integers."""
    return Column(name, BigInteger, **{"nullable": False, **options})


def decimal(name: str, **options: Any) -> Column[float]:
    """Return a column of floating-point numbers."""
    return Column(name, Double, **{"nullable": False, **options})


def flag(name: str, **options: Any) -> Column[bool]:
    """Return a boolean column."""
    return Column(name, Boolean(create_constraint=False), **{"nullable": False, **options})


def binary(name: str, **options: Any) -> Column[bytes]:
    """Return a column of bytes: a digest or an encrypted secret."""
    return Column(name, LargeBinary, **{"nullable": False, **options})


def reference(name: str, target: str, ondelete: str = "CASCADE", **options: Any) -> Column[int]:
    """Return a foreign key to a table of the same package or a lower one."""
    return Column(name, Identifier, ForeignKey(target, ondelete=ondelete), **{"nullable": False, **options})


def index_where(condition: str | ColumnElement[bool]) -> dict[str, Any]:
    """Return the options of a partial index, for both engines.

    Only SQLite's option is set: PostgreSQL's would load its drivers into every process. ``make migration`` writes both.
    """
    return {"sqlite_where": sql(condition) if isinstance(condition, str) else condition}
