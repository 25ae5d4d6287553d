"""Errors that commands report in one line instead of with a traceback."""

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_OUTPUT_CLOSED = errno.EPIPE


@contextmanager
def reported_errors() -> Iterator[None]:
    """Exit with a message on an error that an administrator can resolve."""
    try:
        yield
    except Exception as error:
        message = _message(error)
        if message is None:
            raise
        sys.exit(f"ingot: {message}")


def _message(error: Exception) -> str | None:
    """Return the message of an error, or None for a defect; modules are imported late, as most commands raise none."""
    import sqlite3

    from ingot.core.errors import Unavailable
    from ingot.core.migrations.errors import SchemaError
    from ingot.core.settings import InvalidSetting

    if isinstance(error, (InvalidSetting, SchemaError)):
        return str(error)
    cause = error.__cause__ if isinstance(error, Unavailable) else error
    if isinstance(cause, sqlite3.DatabaseError):
        code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return f"The database is damaged: {cause}. Restore a backup with `ingot restore`."
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL):
            return f"The database cannot be used: {cause}"
    if isinstance(error, Unavailable):
        return f"{error}: {cause}" if cause is not None else str(error)
    if isinstance(error, OSError) and error.errno not in (None, _OUTPUT_CLOSED):
        return str(error)
    return None
