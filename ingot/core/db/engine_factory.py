"""Choice of the engine by the URL of the database."""

from pathlib import Path
from urllib.parse import urlsplit

from ingot.core.db.engines import Engine, SqliteEngine
from ingot.core.db.postgresql import PostgresqlEngine


def engine_for(url: str, statement_seconds: float | None = None, direct_url: str = "", node: str = "") -> Engine:
    """Return the engine of a database URL; raise ``ValueError`` for an unknown scheme.

    ``statement_seconds`` limits the time of a statement on a PostgreSQL server. ``direct_url`` is that of the server
    itself, if the other one is that of a connection pooler. ``node`` is the name of this machine.
    """
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        return SqliteEngine(Path(url.removeprefix("sqlite:///")))
    if scheme in ("postgresql", "postgres"):
        return PostgresqlEngine(url, statement_seconds, direct_url, node)
    raise ValueError(f"The database URL must begin with sqlite:/// or postgresql://, not {scheme}://")
