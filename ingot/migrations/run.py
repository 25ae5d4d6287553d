"""Brings a database to the schema of this code: forward only, one at a time, each script whole or not at all."""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ingot.settings import Settings

SCRIPTS = Path(__file__).parent / "versions"
RESTORING = ".restoring"
"""Stands in the data directory while a backup is being restored into it."""
_LOCK = 1_230_919_765


class SchemaTrouble(Exception):
    """The database cannot be used with this code; the text says why and what to do."""


def newest_revision() -> str:
    """The revision that this code needs: scripts are named by their order."""
    return max(path.stem.split("_")[0] for path in SCRIPTS.glob("[0-9]*.py"))


def is_current(settings: Settings) -> bool:
    """Whether an embedded database needs nothing; cheap, for every start after the first."""
    path = settings.data / "ingot.db"
    if not settings.embedded or not path.exists():
        return False
    connection = sqlite3.connect(path, timeout=5)
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return row is not None and row[0] == newest_revision()


def is_ready(settings: Settings) -> bool:
    """Whether an embedded instance can serve as it is: nothing to migrate, and its first start was completed."""
    if not is_current(settings) or not (settings.data / "secrets" / "instance.key").exists():
        return False
    if (settings.data / RESTORING).exists():
        return False
    connection = sqlite3.connect(settings.data / "ingot.db", timeout=5)
    try:
        return connection.execute("SELECT 1 FROM instance_settings").fetchone() is not None
    finally:
        connection.close()


def migrate(settings: Settings, revision: str = "head") -> None:
    """Run the scripts that are missing up to ``revision``, under a lock that others wait for."""
    if is_current(settings):
        return
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import create_engine, event
    from sqlalchemy.exc import OperationalError

    url = settings.database
    if not settings.embedded:
        url = "postgresql+psycopg" + url[len(urlsplit(url).scheme) :]
    engine = create_engine(url)
    if settings.embedded:
        # The driver would commit each statement by itself; a script must be whole or not at all.
        event.listen(engine, "connect", _no_automatic_transactions)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.set_main_option("version_locations", str(SCRIPTS))
    config.set_main_option("path_separator", "os")
    try:
        with _alone(settings, engine):
            if settings.embedded:
                _keep_a_log(settings.data / "ingot.db")
            with engine.connect() as connection:
                _refuse_newer(connection)
                config.attributes["connection"] = connection
                command.upgrade(config, revision)
    except OperationalError as error:
        raise SchemaTrouble(f"The database does not answer: {str(error.orig).splitlines()[0]}") from error
    finally:
        engine.dispose()
    if settings.embedded:
        (settings.data / "ingot.db").chmod(0o600)


def _keep_a_log(path: Path) -> None:
    """Let readers and the writer not wait for each other; the file remembers it, and only one may switch it on."""
    connection = sqlite3.connect(path, timeout=5)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


def _no_automatic_transactions(connection: Any, _record: Any) -> None:
    connection.isolation_level = None


def _refuse_newer(connection: Any) -> None:
    from alembic.migration import MigrationContext

    current = MigrationContext.configure(connection).get_current_revision()
    connection.rollback()
    if current is not None and current > newest_revision():
        raise SchemaTrouble(
            f"The database is at revision {current}, newer than this version of Ingot knows ({newest_revision()}). "
            "Start the newer version again, or restore a backup made before the upgrade."
        )


@contextmanager
def _alone(settings: Settings, engine: Any) -> Iterator[None]:
    if settings.embedded:
        with (settings.data / ".migrating").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    with engine.connect() as connection:
        connection.exec_driver_sql(f"SELECT pg_advisory_lock({_LOCK})")
        try:
            yield
        finally:
            connection.exec_driver_sql(f"SELECT pg_advisory_unlock({_LOCK})")
