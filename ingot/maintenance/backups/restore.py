"""Restore of a backup into an empty data directory and an empty database."""

import io
import os
import shutil
import tarfile
import tempfile
import tomllib
from pathlib import Path, PurePosixPath
from typing import IO

from ingot.core.db.engine_factory import engine_for
from ingot.core.migrations.run import RESTORING, SCRIPTS, migrate, newest_revision
from ingot.core.settings import Settings
from ingot.git.core.layout import CONFIG
from ingot.git.maintenance.store import RepositoryStore
from ingot.maintenance.backups.archive import checked_members, open_archive, verify_archive
from ingot.maintenance.backups.layout import (
    FORMAT,
    MANIFEST,
    REPOSITORY_RECORD,
    SETTINGS,
    TABLES,
    BackupError,
    Manifest,
    Progress,
    member_name,
)
from ingot.maintenance.backups.repositories import read_record
from ingot.maintenance.backups.target import RestoreTarget
from ingot.maintenance.backups.verification import verify_repositories
from ingot.server.app import open_database

_FIRST_FORMAT_WITH_RECORD = 2
_REPOSITORY_DEPTH = 4
"""Number of parts of the path of a repository in the archive."""
_REPOSITORY_PARTS = (("HEAD",), ("packed-refs",), ("refs",), ("objects",))
_BORROWED_OBJECTS = (("objects", "info", "alternates"), ("objects", "info", "http-alternates"))
"""Files that name other object folders, which may be anywhere on this machine."""


def restore_backup(file: Path, settings: Settings, progress: Progress) -> tuple[Manifest, list[str]]:
    """Restore a backup; return the manifest and notes for the administrator.

    Rows and files are restored together: the single transaction commits after the last file was written. Until every
    repository has been compared with the record, a marker in the data directory prevents a server or a second restore
    from starting.
    """
    try:
        with file.open("rb") as stream:
            progress("checking every file", 0, 0)
            manifest = verify_archive(stream, file, _free_bytes(settings.data))
            _reject_newer_backup(manifest)
            _reject_nonempty_target(settings)
            _write_marker(settings.data)
            migrate(settings, manifest.revision)
            with tempfile.TemporaryFile(dir=settings.data) as record:
                notes = _restore_members(stream, file, manifest, settings, record, progress)
                migrate(settings)
                notes += _verify(settings, manifest, record, progress)
        os.sync()
        (settings.data / RESTORING).unlink()
    except OSError as error:
        raise BackupError(f"The backup could not be restored: {error}") from error
    return manifest, notes


def _free_bytes(data: Path) -> int:
    """Return the free space of the file system that will contain the data directory."""
    existing = next(folder for folder in (data.absolute(), *data.absolute().parents) if folder.is_dir())
    return shutil.disk_usage(existing).free


def _verify(settings: Settings, manifest: Manifest, record: IO[bytes], progress: Progress) -> list[str]:
    record.seek(0)
    entries = read_record(record) if manifest.format >= _FIRST_FORMAT_WITH_RECORD else None
    try:
        database = open_database(settings)
    except (OSError, ValueError) as error:
        raise BackupError(f"The backup contains no valid secret: {error}") from error
    try:
        return verify_repositories(database, RepositoryStore(settings.data / "repositories"), entries, progress)
    except ValueError as error:
        raise BackupError(f"The backup's record names an invalid repository: {error}") from error
    finally:
        database.close()


def _reject_newer_backup(manifest: Manifest) -> None:
    if manifest.format > FORMAT or manifest.revision > newest_revision():
        raise BackupError(
            f"The backup was made by version {manifest.version} (format {manifest.format}, revision "
            f"{manifest.revision}), newer than this one (format {FORMAT}, revision {newest_revision()}). "
            "Restore it with that version or a later one."
        )
    if manifest.format < 1 or not any(SCRIPTS.glob(f"{manifest.revision}_*.py")):
        raise BackupError(f"The backup is at revision {manifest.revision}, which is unknown to this version")


def _reject_nonempty_target(settings: Settings) -> None:
    data = settings.data
    if (data / RESTORING).exists():
        raise BackupError(
            f"An earlier restore into {data} did not finish. Empty it and its database, then restore again"
        )
    if data.exists() and any(data.iterdir()):
        raise BackupError(f"{data} is not empty. Empty it first, or restore into another directory")
    if settings.embedded:
        return
    with RestoreTarget(engine_for(settings.direct_database)) as target:
        if not target.is_empty():
            raise BackupError("The database already contains tables. Drop and recreate it first")


def _write_marker(data: Path) -> None:
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    data.chmod(0o700)
    with (data / RESTORING).open("x") as marker:
        marker.write(
            "A restore into this directory has not finished. If none is running, empty it and restore again.\n"
        )
        marker.flush()
        os.fsync(marker.fileno())


def _restore_members(
    stream: IO[bytes], name: Path, manifest: Manifest, settings: Settings, record: IO[bytes], progress: Progress
) -> list[str]:
    entries = {member_name(entry.name): entry for entry in manifest.tables}
    notes: list[str] = []
    done = 0
    with RestoreTarget(engine_for(settings.direct_database)) as target, open_archive(stream, name) as archive:
        target.begin()
        for member in checked_members(archive):  # Again, since the file may have changed since it was verified.
            if member.name == MANIFEST:
                continue
            done += member.isreg()
            progress(member.name, done, len(manifest.members))
            content = archive.extractfile(member)
            if content is None:
                (settings.data / member.name).mkdir(mode=0o700, parents=True, exist_ok=True)
            elif member.name not in manifest.members:
                raise BackupError(f"{name} has changed since it was verified")
            elif member.name.startswith(f"{TABLES}/"):
                target.insert(entries[member.name], content)
            elif member.name == REPOSITORY_RECORD:
                shutil.copyfileobj(content, record)
            elif member.name == SETTINGS:
                notes += _restore_settings(settings, content.read())
            elif _is_repository_config(member.name):
                # The backup's own configuration could make git run programs.
                _restore_file(settings.data / member.name, member, io.BytesIO(CONFIG))
            elif _is_restored(member.name):
                _restore_file(settings.data / member.name, member, content)
        target.finish(manifest.tables)
    return notes


def _is_repository_config(name: str) -> bool:
    return name.startswith("repositories/") and PurePosixPath(name).parts[_REPOSITORY_DEPTH:] == ("config",)


def _is_restored(name: str) -> bool:
    """Return whether a file is restored; of a repository only refs and objects of its own are, but no hooks."""
    if not name.startswith("repositories/"):
        return True
    inner = PurePosixPath(name).parts[_REPOSITORY_DEPTH:]
    return inner[:1] in _REPOSITORY_PARTS and inner not in _BORROWED_OBJECTS


def _restore_file(path: Path, member: tarfile.TarInfo, content: IO[bytes]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with os.fdopen(os.open(path, flags, (member.mode & 0o700) | 0o600), "wb") as file:
        shutil.copyfileobj(content, file, 2**20)


def _restore_settings(settings: Settings, content: bytes) -> list[str]:
    """Restore ingot.toml under another name if it names another database, which the next start would serve instead."""
    try:
        database_url = str(tomllib.loads(content.decode()).get("database_url", ""))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        database_url = "unreadable"
    differs = database_url != settings.database_url and database_url != ""
    path = settings.data / (f"{SETTINGS}.restored" if differs else SETTINGS)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    if not differs:
        return []
    return [f"The settings in the backup name another database; review {path}, then rename it to {SETTINGS}."]
