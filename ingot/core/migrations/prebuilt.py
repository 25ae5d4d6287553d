"""Prebuilt database of temporary instances: an empty one with the newest schema, stored in the user's cache folder.

A copy of a file takes less than a millisecond, and running the statements of the schema a tenth of the startup time.
"""

import hashlib
import os
import shutil
import sqlite3
import stat
from pathlib import Path

from ingot.core.migrations.run import NEWEST_SCHEMA_FILE, migrate
from ingot.core.settings import Settings


def create_database(settings: Settings) -> None:
    """Create the database of a new SQLite instance from the stored file, which is written if it does not exist."""
    database, stored = settings.data / "ingot.db", _stored_file()
    if stored is None:
        migrate(settings)
    elif not _copy(stored, database):
        migrate(settings)
        _store(database, stored)


def _stored_file() -> Path | None:
    """Return the path of the file for this schema and version of SQLite; None for a user without a home directory."""
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
    except RuntimeError:  # The database is built at each start.
        return None
    digest = hashlib.sha256(NEWEST_SCHEMA_FILE.read_bytes() + sqlite3.sqlite_version.encode()).hexdigest()
    return folder / "ingot" / f"schema-{digest[:16]}.db"


def _copy(stored: Path, database: Path) -> bool:
    """Copy the stored file; return False if there is none that only this user can have written."""
    try:
        with stored.open("rb") as source:
            status = os.fstat(source.fileno())
            if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return False
            with open(database, "xb", opener=_owner_only) as target:
                try:
                    shutil.copyfileobj(source, target, 2**20)
                except OSError:
                    database.unlink()
                    raise
    except OSError:  # Not stored yet, or it cannot be read.
        return False
    return True


def _owner_only(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _store(database: Path, stored: Path) -> None:
    """Store a copy of a new database in place of those of other versions; without a cache folder, do nothing."""
    temporary = stored.with_name(f".{stored.name}.{os.getpid()}")
    try:
        stored.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        outdated = list(stored.parent.glob("schema-*.db"))
        os.close(_owner_only(str(temporary), os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        source, copy = sqlite3.connect(database), sqlite3.connect(temporary)
        try:
            source.backup(copy)
        finally:
            copy.close()
            source.close()
        temporary.rename(stored)
        for file in outdated:
            file.unlink(missing_ok=True)
    except (OSError, sqlite3.Error):  # The next start creates the schema again.
        temporary.unlink(missing_ok=True)
