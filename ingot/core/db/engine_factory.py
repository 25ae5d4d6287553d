"""Choice of the engine by the URL of the database."""

from pathlib import Path
from urllib.parse import urlsplit

from ingot.core.db.engines import Engine, SqliteEngine
from ingot.core.db.postgresql import PostgresqlEngine


def engine_for(url: str, statement_seconds: float | None = None) -> Engine:
    """Return the engine of a database URL; raise ``ValueError`` for an unknown scheme.

    ``statement_seconds`` limits the time of a statement on a PostgreSQL server.
    """
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        return SqliteEngine(Path(url.removeprefix("sqlite:///")))
    if scheme in ("postgresql", "postgres"):
        return PostgresqlEngine(url, statement_seconds)
    raise ValueError(f"The database URL must begin with sqlite:/// or postgresql://, not {scheme}://")
