"""Writes a backup while the server runs."""

import fcntl
import glob
import io
import os
import secrets
import tempfile
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import IO, NamedTuple

import msgspec
from sqlalchemy import Table

from ingot.core.db.database import wall_clock
from ingot.core.db.engines import Engine
from ingot.core.migrations.run import newest_revision
from ingot.operations.backups.archive import ArchiveWriter
from ingot.operations.backups.layout import (
    FOLDERS,
    FORMAT,
    MANIFEST,
    SETTINGS,
    BackupError,
    Manifest,
    Progress,
    TableEntry,
    column_kind,
    member_name,
)
from ingot.operations.backups.repositories import add_repositories, live_projects
from ingot.operations.backups.snapshot import Snapshot

REPOSITORIES = "repositories"
_encode = msgspec.json.Encoder().encode


class BackupResult(NamedTuple):
    """What came of a backup."""

    manifest: Manifest
    troubles: list[str]
    """Projects whose repositories were damaged before, and are so in the backup."""


def write_backup(
    engine: Engine, tables: Sequence[Table], data: Path, target: Path, version: str, progress: Progress
) -> BackupResult:
    """Write ``target`` whole or not at all, readable for nobody else; what it holds is one moment of the database."""
    _reject_target(data, target)
    _delete_partials(target)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w+b") as file:
            # It ends with this process, and so tells whether somebody still writes.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            archive = ArchiveWriter(file)
            manifest = Manifest(FORMAT, "", version, "", wall_clock(), [], archive.members)
            projects = _add_tables(archive, manifest, engine, tables, target.parent, progress)
            _add_files(archive, data, progress)
            troubles = add_repositories(archive, engine, data / REPOSITORIES, projects, target.parent, progress)
            archive.add(MANIFEST, io.BytesIO(msgspec.json.format(_encode(manifest), indent=1)))
            archive.close()
            file.flush()
            os.fsync(file.fileno())
        _reject_target(data, target)
        partial.rename(target)
        _fsync_folder(target.parent)
    except OSError as error:
        raise BackupError(f"The backup could not be written: {error}") from error
    finally:
        partial.unlink(missing_ok=True)
    return BackupResult(manifest, troubles)


def _delete_partials(target: Path) -> None:
    """Remove what earlier backups of the same name left when they were killed."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        try:
            with left.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink(missing_ok=True)
        except OSError:  # Another one is being written at this moment, or it is not ours.
            pass


def _reject_target(data: Path, target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise BackupError(f"{target} exists already; a backup never replaces a file")
    if any(target.resolve().is_relative_to((data / name).resolve()) for name in FOLDERS):
        raise BackupError(f"{target} would lie among the files to be saved; choose a place outside of them")


def _add_tables(
    archive: ArchiveWriter,
    manifest: Manifest,
    engine: Engine,
    tables: Sequence[Table],
    room: Path,
    progress: Progress,
) -> dict[str, str]:
    """Add the rows; gives the projects of that moment, by the keys of their repositories."""
    with Snapshot(engine) as snapshot:
        if snapshot.revision != newest_revision():
            raise BackupError(
                f"The database is at revision {snapshot.revision}, this version of Ingot at {newest_revision()}. "
                "Make the backup with the version that serves it."
            )
        manifest.revision, manifest.engine = snapshot.revision, snapshot.engine_name
        for done, table in enumerate(tables):
            progress(f"table {table.name}", done, len(tables))
            # The archive must know a member's length before its content, and a table may not fit into memory.
            with tempfile.TemporaryFile(dir=room) as rows:
                manifest.tables.append(_write_rows(snapshot, table, rows))
                archive.add(member_name(table.name), rows)
        return live_projects(snapshot)


def _write_rows(snapshot: Snapshot, table: Table, rows: IO[bytes]) -> TableEntry:
    columns = {str(column.name): column_kind(column) for column in table.columns}
    count = 0
    for batch in snapshot.batches(table):
        rows.writelines(_encode(dict(zip(columns, row, strict=True))) + b"\n" for row in batch)
        count += len(batch)
    return TableEntry(str(table.name), columns, count, snapshot.last_id(table))


def _add_files(archive: ArchiveWriter, data: Path, progress: Progress) -> None:
    """Folders are copied after the tables were, so that they hold at least what the rows speak of."""
    for name in FOLDERS:
        if (data / name).is_dir() and name != REPOSITORIES:
            progress(f"folder {name}", 0, 0)
            archive.add_folder(data / name, PurePath(name))
    archive.add_file(data / SETTINGS, PurePath(SETTINGS))


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
