"""Record of the oldest version that can serve a PostgreSQL database, so that nodes can be upgraded one by one.

A script that only adds keeps older versions working. A script that removes what an earlier version uses declares
``contracts``, the first revision whose code does without it, and calls ``record_oldest``.
"""

import re
from typing import Any

_COMMENT = re.compile(r"oldest=(\d{4})")


def record_oldest(operations: Any, revision: str) -> None:
    """Record in a script that versions which know only earlier revisions than this one can no longer serve."""
    if operations.get_bind().dialect.name == "postgresql":
        operations.execute(f"COMMENT ON TABLE alembic_version IS 'oldest={revision}'")


def read_oldest(connection: Any) -> str | None:
    """Return the recorded revision, or None for a database from before there was a record."""
    row = connection.execute("SELECT obj_description('alembic_version'::regclass, 'pg_class')").fetchone()
    match = _COMMENT.fullmatch((row and row[0]) or "")
    return match[1] if match else None
