"""Writing of a backup while the server runs."""

import fcntl
import glob
import io
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import IO, NamedTuple

import msgspec
from sqlalchemy import Table

from ingot.core.db.clocks import wall_clock
from ingot.core.db.engines import Engine
from ingot.core.migrations.run import newest_revision
from ingot.core.storage.files import FileStorage
from ingot.git.maintenance.store import RepositoryStore
from ingot.maintenance.backups.archive import ArchiveWriter
from ingot.maintenance.backups.layout import (
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
from ingot.maintenance.backups.repositories import add_repositories, live_projects
from ingot.maintenance.backups.snapshot import Snapshot

REPOSITORIES = "repositories"
_encode = msgspec.json.Encoder().encode


class BackupResult(NamedTuple):
    """Result of a backup."""

    manifest: Manifest
    problems: list[str]
    """Problems of repositories that were already damaged and are so in the backup."""


def write_backup(
    engine: Engine,
    tables: Sequence[Table],
    data: Path,
    target: Path,
    version: str,
    progress: Progress,
    storages: Mapping[str, FileStorage] | None = None,
    store: RepositoryStore | None = None,
) -> BackupResult:
    """Write a snapshot of the instance to ``target``, readable only by the owner; on failure no file remains.

    ``storages`` are those of files that may be in a bucket, by the names of their folders. ``store`` is
    that of the repositories, by default the one in the data directory.
    """
    _reject_target(data, target)
    _delete_partials(target)
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w+b") as file:
            # Released when this process exits, so that _delete_partials can tell whether the file is still written.
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            archive = ArchiveWriter(file)
            manifest = Manifest(FORMAT, "", version, "", wall_clock(), [], archive.members)
            projects = _add_tables(archive, manifest, engine, tables, target.parent, progress)
            _add_files(archive, data, progress, storages or {})
            store = store or RepositoryStore(data / REPOSITORIES)
            problems = add_repositories(archive, engine, store, projects, target.parent, progress)
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
    return BackupResult(manifest, problems)


def _delete_partials(target: Path) -> None:
    """Delete the partial files of killed backups with the same target."""
    for leftover in target.parent.glob(f".{glob.escape(target.name)}.*.partial"):
        try:
            with leftover.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                leftover.unlink(missing_ok=True)
        except OSError:  # Another backup is still writing it, or it belongs to another user.
            pass


def _reject_target(data: Path, target: Path) -> None:
    if target.exists() or target.is_symlink():
        raise BackupError(f"{target} already exists; a backup never overwrites a file")
    if any(target.resolve().is_relative_to((data / name).resolve()) for name in FOLDERS):
        raise BackupError(f"{target} is in a folder that is backed up; choose another location")


def _add_tables(
    archive: ArchiveWriter,
    manifest: Manifest,
    engine: Engine,
    tables: Sequence[Table],
    scratch: Path,
    progress: Progress,
) -> dict[str, str]:
    """Add the rows; return the paths of the projects in the snapshot, by the keys of their repositories."""
    with Snapshot(engine) as snapshot:
        if snapshot.revision != newest_revision():
            raise BackupError(
                f"The database is at revision {snapshot.revision}, this version of Ingot at {newest_revision()}. "
                "Write the backup with the version that runs the server."
            )
        manifest.revision, manifest.engine = snapshot.revision, snapshot.engine_name
        for done, table in enumerate(tables):
            progress(f"table {table.name}", done, len(tables))
            # A tar member's length precedes its content, and a table may not fit into memory.
            with tempfile.TemporaryFile(dir=scratch) as rows:
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


def _add_files(archive: ArchiveWriter, data: Path, progress: Progress, storages: Mapping[str, FileStorage]) -> None:
    """Add the folders, after the tables, so that they contain at least the files that the rows reference."""
    # Listed before and after the files on the disk are read: a file may be moved in either direction meanwhile.
    before = {name: list(_keys_in_bucket(storages, name)) for name in FOLDERS}
    for name in FOLDERS:
        if (data / name).is_dir() and name != REPOSITORIES:
            progress(f"folder {name}", 0, 0)
            archive.add_folder(data / name, PurePath(name))
        for key in (*before[name], *_keys_in_bucket(storages, name)):
            if f"{name}/{key}" not in archive.members:
                progress(f"{name}/{key}", 0, 0)
                _add_stored_file(archive, storages[name], name, key)
    archive.add_file(data / SETTINGS, PurePath(SETTINGS))


def _keys_in_bucket(storages: Mapping[str, FileStorage], name: str) -> Iterator[str]:
    bucket = storages[name].bucket if name in storages else None
    return iter(()) if bucket is None else (stored.key for stored in bucket.objects())


def _add_stored_file(archive: ArchiveWriter, storage: FileStorage, name: str, key: str) -> None:
    try:
        with storage.open(key) as file:
            archive.add(f"{name}/{key}", file)
    except FileNotFoundError:  # Deleted meanwhile.
        pass


def _fsync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
