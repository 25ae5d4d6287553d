"""Repositories in a backup: each is copied, checked and recorded, and checked again when it is restored."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePath
from time import monotonic
from typing import IO
from urllib.parse import quote

import msgspec
from sqlalchemy import select

from ingot.core.db.engines import Engine
from ingot.core.errors import Unavailable
from ingot.git.core.errors import MissingRepository
from ingot.git.core.repository import Repository
from ingot.git.maintenance.backup_copy import copy_repository
from ingot.git.maintenance.integrity import find_problems
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.head import head_or_none
from ingot.maintenance.backups.archive import ArchiveWriter
from ingot.maintenance.backups.layout import REPOSITORY_RECORD, BackupError, Progress, RepositoryEntry
from ingot.maintenance.backups.snapshot import Snapshot
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.tables import group_wikis, project_wikis, projects

_LIVE_PROJECTS = select(projects.c.repository_key, projects.c.full_path).where(projects.c.namespace_id.is_not(None))
_LIVE_WIKIS = (
    select(project_wikis.c.repository_key, projects.c.full_path)
    .join(projects, projects.c.id == project_wikis.c.project_id)
    .where(projects.c.namespace_id.is_not(None))
)
_GROUP_WIKIS = select(group_wikis.c.repository_key, namespaces.c.full_path).join(
    namespaces, namespaces.c.id == group_wikis.c.group_id
)
_HEARTBEAT_SECONDS = 60.0
_encode = msgspec.json.Encoder().encode
_decoder = msgspec.json.Decoder(RepositoryEntry)


def live_projects(snapshot: Snapshot) -> dict[str, str]:
    """Return the full paths of all projects and wikis, by the keys of their repositories."""
    wikis = [*snapshot.rows(_LIVE_WIKIS), *snapshot.rows(_GROUP_WIKIS)]
    return dict(snapshot.rows(_LIVE_PROJECTS)) | {key: f"{path}.wiki" for key, path in wikis}


def add_repositories(
    archive: ArchiveWriter,
    engine: Engine,
    store: RepositoryStore,
    paths: dict[str, str],
    scratch: Path,
    progress: Progress,
) -> list[str]:
    """Add the repository of each project and the record of their contents; return their problems."""
    problems: list[str] = []
    with tempfile.TemporaryFile(dir=scratch) as record:
        missing: list[RepositoryEntry] = []
        for done, (key, full_path) in enumerate(paths.items()):
            progress(f"repository of {full_path}", done, len(paths))
            entry = _add_repository(archive, store, key)
            if not entry.there:
                missing.append(entry)
                continue
            problems += [f"{full_path}: {problem}" for problem in entry.troubles]
            record.write(_encode(entry) + b"\n")
        for entry in _explain_missing(missing, engine):
            problems += [f"{paths[entry.key]}: {problem}" for problem in entry.troubles]
            record.write(_encode(entry) + b"\n")
        archive.add(REPOSITORY_RECORD, record)
    return problems


def repository_entry(path: Path, key: str) -> RepositoryEntry:
    """Return the current state of a repository with its problems."""
    repository = Repository(path)
    refs = {quote(name): oid for name, oid in repository.refs().items()}
    return RepositoryEntry(key, head_or_none(repository), refs, find_problems(path, deep=True))


def read_record(record: IO[bytes]) -> Iterator[RepositoryEntry]:
    """Yield the entries of a record."""
    for line in record:
        try:
            yield _decoder.decode(line)
        except msgspec.DecodeError as error:
            raise BackupError(f"The backup's record of repositories cannot be read: {error}") from error


def _add_repository(archive: ArchiveWriter, store: RepositoryStore, key: str) -> RepositoryEntry:
    try:
        path = store.open(key).path
    except (MissingRepository, Unavailable):  # The backup records that it is missing.
        return RepositoryEntry(key, there=False)
    with store.scratch_folder() as folder:
        try:
            copy_repository(path, folder)
        except MissingRepository:  # The backup records that it is missing.
            return RepositoryEntry(key, there=False)
        entry = repository_entry(folder, key)
        archive.beat = _Heartbeat(folder)
        # Independent of its storage: a restore puts all repositories into the default one.
        archive.add_folder(folder, PurePath(store.root.name, *path.parts[-3:]))
    return entry


def _explain_missing(missing: list[RepositoryEntry], engine: Engine) -> Iterator[RepositoryEntry]:
    """Complete the entries of missing repositories: either the project was deleted meanwhile, or it is a problem."""
    if not missing:
        return
    with Snapshot(engine) as snapshot:
        still_live = live_projects(snapshot)
    for entry in missing:
        entry.deleted = entry.key not in still_live
        entry.troubles = [] if entry.deleted else ["there is no repository"]
        yield entry


class _Heartbeat:
    """Touches a scratch folder while it is archived, so that the store's cleanup does not remove it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next = monotonic() + _HEARTBEAT_SECONDS

    def __call__(self) -> None:
        if monotonic() >= self._next and self._folder.exists():
            os.utime(self._folder)
            self._next = monotonic() + _HEARTBEAT_SECONDS
