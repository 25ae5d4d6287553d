"""Verification at the end of a restore: each project's repository exists, is intact, and matches the record."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.names import NAMESPACES
from ingot.git.bucket.service import forget_repositories
from ingot.git.maintenance.store import DEFAULT_STORAGE, RepositoryStore, key_in
from ingot.maintenance.backups.layout import BackupError, Progress, RepositoryEntry
from ingot.maintenance.backups.repositories import repository_entry
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.default_branch import record_head
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.service import delete_project
from ingot.projects.projects.tables import group_wikis, project_wikis, projects

_MAX_NAMES_LISTED = 5
_LIVE_PROJECTS = select(
    projects.c.repository_key, projects.c.id, projects.c.full_path, projects.c.default_branch
).where(projects.c.namespace_id.is_not(None))
_LIVE_WIKIS = (
    select(project_wikis.c.repository_key, projects.c.id, projects.c.full_path)
    .join(projects, projects.c.id == project_wikis.c.project_id)
    .where(projects.c.namespace_id.is_not(None))
)
_GROUP_WIKIS = select(group_wikis.c.repository_key, namespaces.c.id, namespaces.c.full_path).join(
    namespaces, namespaces.c.id == group_wikis.c.group_id
)
_DELETE_WIKIS = tuple(
    delete(table).where(table.c.repository_key == bindparam("key")) for table in (project_wikis, group_wikis)
)


class _LiveRepository(NamedTuple):
    id: int
    full_path: str
    default_branch: str
    wiki: bool = False


def verify_repositories(
    database: Database, store: RepositoryStore, record: Iterable[RepositoryEntry] | None, progress: Progress
) -> list[str]:
    """Compare rows, repositories and record; raise BackupError that names the projects if they disagree.

    Returns notes about damage that existed when the backup was made. Projects that were deleted while it was made are
    deleted, and default branches are updated where HEAD was changed meanwhile. Without a ``record``, as in format 1,
    repositories are only checked in themselves.
    """
    database.write(_assign_to_default_storage)
    live = database.read(_live_repositories)
    total, problems, notes = len(live), [], []
    entries = (RepositoryEntry(key) for key in list(live)) if record is None else record
    for done, entry in enumerate(entries):
        entry.key = key_in(DEFAULT_STORAGE, entry.key)
        project = live.pop(entry.key, None)
        if project is None:
            problems.append(f"a repository without a project ({entry.key[:8]}…)")
            continue
        progress(f"checking the repository of {project.full_path}", done, total)
        if entry.deleted:
            database.write(partial(_delete_project, project=project, key=entry.key))
            continue
        current = repository_entry(store.path_of(entry.key), entry.key) if store.exists(entry.key) else None
        problems += [f"{project.full_path}: {problem}" for problem in _differences(entry, current, record is not None)]
        notes += [f"{project.full_path} was damaged when the backup was made: {problem}" for problem in entry.troubles]
        if current is not None and not project.wiki and current.head not in (None, project.default_branch):
            head = str(current.head)
            database.write(partial(_update_default_branch, project=project, head=head))
    problems += [f"{project.full_path}: the backup contains no repository for it" for project in live.values()]
    if problems:
        more = f"; and {len(problems) - _MAX_NAMES_LISTED} more" if len(problems) > _MAX_NAMES_LISTED else ""
        raise BackupError(f"Repositories do not match the backup: {'; '.join(problems[:_MAX_NAMES_LISTED])}{more}")
    return notes


def _differences(entry: RepositoryEntry, current: RepositoryEntry | None, recorded: bool) -> Iterator[str]:
    if current is None:
        if entry.there and not entry.troubles:
            yield "there is no repository"
        return
    if recorded and current.head != entry.head:
        yield f"HEAD is {current.head} instead of {entry.head}"
    if recorded and current.refs != entry.refs:
        name = min(name for name, _ in current.refs.items() ^ entry.refs.items())
        yield f"{name} is at {current.refs.get(name, 'nothing')} instead of {entry.refs.get(name, 'nothing')}"
    if not entry.troubles:
        yield from current.troubles


def _live_repositories(db: Connection) -> dict[str, _LiveRepository]:
    """Return projects and wikis by the keys of their repositories."""
    live = {row[0]: _LiveRepository(*row[1:]) for row in db.rows(_LIVE_PROJECTS)}
    wikis = {
        key: _LiveRepository(owner_id, f"{path}.wiki", "", wiki=True)
        for statement in (_LIVE_WIKIS, _GROUP_WIKIS)
        for key, owner_id, path in db.rows(statement)
    }
    return live | wikis


def _assign_to_default_storage(db: Connection) -> None:
    """Change the keys of repositories that were in other storages, which this instance need not have."""
    for table in (projects, project_wikis, group_wikis):
        elsewhere = select(table.c.id, table.c.repository_key).where(table.c.repository_key.like("%:%"))
        for row_id, key in db.rows(elsewhere):
            db.update(table, row_id, repository_key=key_in(DEFAULT_STORAGE, key))
    forget_repositories(db)


def _delete_project(db: Connection, project: _LiveRepository, key: str) -> None:
    if project.wiki:
        for statement in _DELETE_WIKIS:
            db.run(statement, key=key)
        return
    db.lock(NAMESPACES)
    delete_project(db, existing_project(db, project.id))


def _update_default_branch(db: Connection, project: _LiveRepository, head: str) -> None:
    record_head(db, project.id, project.default_branch, head)
