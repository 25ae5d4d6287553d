"""Locks by name that a unit of work holds to its end, for rules that span more rows than a constraint can see."""

import zlib
from typing import Any

from sqlalchemy import Integer, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

_LOCKS = 1_230_919_765  # Any number that other users of the server's advisory locks do not use.


class advisory_lock(FunctionElement[None]):  # noqa: N801 - it reads as a function of SQL where it is used.
    """Waits for a lock; the embedded engine has one writer at a time anyway."""

    type = NullType()
    inherit_cache = True


@compiles(advisory_lock, "sqlite")
def _advisory_lock_sqlite(element: advisory_lock, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - SQLAlchemy's form.
    return "NULL"


@compiles(advisory_lock, "postgresql")
def _advisory_lock_postgresql(element: advisory_lock, compiler: SQLCompiler, **options: Any) -> str:
    return f"pg_advisory_xact_lock({_LOCKS}, {compiler.process(element.clauses, **options)})"


LOCK = select(advisory_lock(bindparam("lock", type_=Integer)))


def lock_key(name: str) -> int:
    """What stands for a lock's name at the server."""
    return zlib.crc32(name.encode()) >> 1
