"""Named locks that a transaction holds until it ends, for rules that no constraint can express."""

import zlib
from typing import Any

from sqlalchemy import Boolean, Integer, bindparam, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

_LOCKS = 1_230_919_765  # Any number that other users of the server's advisory locks do not use.


class advisory_lock(FunctionElement[None]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Function that waits for a lock; a no-op in SQLite, which has one writer at a time."""

    type = NullType()
    inherit_cache = True


@compiles(advisory_lock, "sqlite")
def _advisory_lock_sqlite(element: advisory_lock, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return "NULL"


@compiles(advisory_lock, "postgresql")
def _advisory_lock_postgresql(element: advisory_lock, compiler: SQLCompiler, **options: Any) -> str:
    return f"pg_advisory_xact_lock({_LOCKS}, {compiler.process(element.clauses, **options)})"


class shared_advisory_lock(FunctionElement[None]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Function that waits for a lock that several transactions may share; a no-op in SQLite."""

    type = NullType()
    inherit_cache = True


@compiles(shared_advisory_lock, "sqlite")
def _shared_advisory_lock_sqlite(element: shared_advisory_lock, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return "NULL"


@compiles(shared_advisory_lock, "postgresql")
def _shared_advisory_lock_postgresql(element: shared_advisory_lock, compiler: SQLCompiler, **options: Any) -> str:
    return f"pg_advisory_xact_lock_shared({_LOCKS}, {compiler.process(element.clauses, **options)})"


class try_advisory_lock(FunctionElement[bool]):  # noqa: N801 - It reads as an SQL function where it is used.
    """Function that takes a lock unless another transaction holds it; always true in SQLite."""

    type = Boolean()
    inherit_cache = True


@compiles(try_advisory_lock, "sqlite")
def _try_advisory_lock_sqlite(element: try_advisory_lock, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001 - Signature of SQLAlchemy.
    return "1"


@compiles(try_advisory_lock, "postgresql")
def _try_advisory_lock_postgresql(element: try_advisory_lock, compiler: SQLCompiler, **options: Any) -> str:
    return f"pg_try_advisory_xact_lock({_LOCKS}, {compiler.process(element.clauses, **options)})"


TRY_LOCK = select(try_advisory_lock(bindparam("lock", type_=Integer)))
LOCK_SHARED = select(shared_advisory_lock(bindparam("lock", type_=Integer)))
LOCK = select(advisory_lock(bindparam("lock", type_=Integer)))


def lock_key(name: str) -> int:
    """Return the number of a lock's name on the server."""
    return zlib.crc32(name.encode()) >> 1
