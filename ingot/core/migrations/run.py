"""Migration of a database to the schema of this version: forward only, under a lock, each script atomically.

Alembic is loaded only if there is something to upgrade: a current database is detected by its revision, and an empty
SQLite database gets the newest schema from a file that a test compares with the result of the scripts.
"""

import fcntl
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ingot.core.migrations.compatibility import read_oldest
from ingot.core.migrations.errors import SchemaError
from ingot.core.settings import Settings

SCRIPTS = Path(__file__).parent / "versions"
NEWEST_SCHEMA_FILE = Path(__file__).parent / "newest.sql"
"""The result of all scripts in an empty SQLite database; ``make schema`` writes it."""
RESTORING = ".restoring"
"""File in the data directory while a backup is being restored into it."""
_LOCK = 1_230_919_765


def newest_revision() -> str:
    """Return the revision that this version needs: scripts are named by their order."""
    return max(path.stem.split("_")[0] for path in SCRIPTS.glob("[0-9]*.py"))


def is_ready(settings: Settings) -> bool:
    """Return whether an SQLite instance can start as it is: nothing to migrate, and its first start was completed."""
    if not settings.embedded or _embedded_revision(settings) != newest_revision():
        return False
    if (settings.data / RESTORING).exists() or not (settings.data / "secrets" / "instance.key").exists():
        return False
    connection = sqlite3.connect(settings.data / "ingot.db", timeout=5)
    try:
        return connection.execute("SELECT 1 FROM instance_settings").fetchone() is not None
    finally:
        connection.close()


def migrate(settings: Settings, revision: str = "head") -> None:
    """Run the missing scripts up to ``revision`` under a lock; raise ``SchemaError``."""
    if _revision(settings) == newest_revision():
        return
    with _exclusive_lock(settings):
        # The previous holder of the lock may have migrated it.
        current = _revision(settings)
        if current == newest_revision():
            return
        if current is not None and current > newest_revision():
            if _is_served_by_this_version(settings):
                return
            raise SchemaError(
                f"The database is at revision {current}, newer than this version of Ingot knows ({newest_revision()}). "
                "Start the newer version again, or restore a backup made before the upgrade."
            )
        if settings.embedded:
            _enable_wal(settings.data / "ingot.db")
        if not (revision in ("head", newest_revision()) and _create_schema_at_once(settings)):
            # Imported only here: Alembic costs time and memory, and most starts have nothing to upgrade.
            from ingot.core.migrations.upgrade import upgrade

            upgrade(settings, SCRIPTS, revision)
        if settings.embedded:
            (settings.data / "ingot.db").chmod(0o600)


def _revision(settings: Settings) -> str | None:
    """Return the revision of a database, or None if no script has run yet."""
    return _embedded_revision(settings) if settings.embedded else _server_revision(settings)


def _embedded_revision(settings: Settings) -> str | None:
    path = settings.data / "ingot.db"
    if not path.exists():
        return None
    connection = sqlite3.connect(path, timeout=5)
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError:  # Without the table, no script has run yet.
        return None
    finally:
        connection.close()
    return None if row is None else row[0]


def _server_revision(settings: Settings) -> str | None:
    import psycopg

    try:
        with psycopg.connect(settings.direct_database, autocommit=True, prepare_threshold=None) as connection:
            if connection.execute("SELECT to_regclass('alembic_version')").fetchone() == (None,):
                return None
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.OperationalError as error:
        raise SchemaError(f"The database does not answer: {str(error).splitlines()[0]}") from error
    return None if row is None else row[0]


def _is_served_by_this_version(settings: Settings) -> bool:
    """Return whether a database that a newer version has migrated can still be served, by a node among newer ones."""
    if settings.embedded:
        return False
    import psycopg

    with psycopg.connect(settings.direct_database, prepare_threshold=None) as connection:
        oldest = read_oldest(connection)
    return oldest is not None and oldest <= newest_revision()


def _create_schema_at_once(settings: Settings) -> bool:
    """Create the newest schema in an empty SQLite database atomically; return False if it does not apply."""
    if not settings.embedded:
        return False
    with NEWEST_SCHEMA_FILE.open() as file:
        if file.readline().split()[-1] != newest_revision():
            return False
        script = file.read()
    connection = sqlite3.connect(settings.data / "ingot.db", timeout=5)
    try:
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
            return False
        connection.executescript(f"BEGIN IMMEDIATE;\n{script}COMMIT;")
    except sqlite3.OperationalError as error:
        raise SchemaError(f"The database does not answer: {error}") from error
    finally:
        connection.close()
    return True


def _enable_wal(path: Path) -> None:
    """Switch on write-ahead logging, so that readers and the writer do not block each other; the file stores this."""
    connection = sqlite3.connect(path, timeout=5)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()


@contextmanager
def _exclusive_lock(settings: Settings) -> Iterator[None]:
    if settings.embedded:
        with (settings.data / ".migrating").open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
        return
    import psycopg

    # The server releases the lock when the transaction ends; a pooler may keep the connection.
    with psycopg.connect(settings.direct_database) as connection:
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        yield
