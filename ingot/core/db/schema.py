"""The one ``metadata``, and the few column types that both engines store alike."""

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
    Text,
)
from sqlalchemy import text as sql

# Constraint names must be known to migrations on both engines.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_N_label)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite gives out 64-bit row ids only to a column that is declared INTEGER.
Identifier = BigInteger().with_variant(Integer(), "sqlite")


class Record(msgspec.Struct, frozen=True, gc=False):
    """Base of the structs that rows become; the field order is the table's column order.

    They hold plain values only, so the collector of circles need not look at them.
    """


def row_id() -> Column[int]:
    """The number of a row: never given out twice (tables say ``sqlite_autoincrement``)."""
    return Column("id", Identifier, primary_key=True, autoincrement=True)


def text(name: str, **options: Any) -> Column[str]:
    """A text; times and days are texts too (see ``times``)."""
    return Column(name, Text, **{"nullable": False, **options})


def number(name: str, **options: Any) -> Column[int]:
    """A 64-bit integer."""
    return Column(name, BigInteger, **{"nullable": False, **options})


def decimal(name: str, **options: Any) -> Column[float]:
    """A number with a fraction."""
    return Column(name, Double, **{"nullable": False, **options})


def flag(name: str, **options: Any) -> Column[bool]:
    """A yes or no."""
    return Column(name, Boolean(create_constraint=False), **{"nullable": False, **options})


def binary(name: str, **options: Any) -> Column[bytes]:
    """Bytes: a digest or a sealed secret."""
    return Column(name, LargeBinary, **{"nullable": False, **options})


def reference(name: str, target: str, ondelete: str = "CASCADE", **options: Any) -> Column[int]:
    """The id of a row in a table of the same room or a lower one."""
    return Column(name, Identifier, ForeignKey(target, ondelete=ondelete), **{"nullable": False, **options})


def index_where(condition: str | ColumnElement[bool]) -> dict[str, Any]:
    """Makes an index hold only the rows that meet a condition, on both engines.

    Only one is told: an option for the other would load all of its drivers into every process. ``make migration``
    writes both.
    """
    return {"sqlite_where": sql(condition) if isinstance(condition, str) else condition}
