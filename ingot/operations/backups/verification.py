"""After the last file of a restore: whether each project's repository is there, whole, and as the record says."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from sqlalchemy import bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.names import NAMESPACES
from ingot.git.maintenance.store import RepositoryStore
from ingot.operations.backups.layout import BackupError, Progress, RepositoryEntry
from ingot.operations.backups.repositories import repository_entry
from ingot.projects.projects.default_branch import record_head
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.service import delete_project
from ingot.projects.projects.tables import project_wikis, projects

_MAX_NAMES_LISTED = 5
_LIVE_PROJECTS = select(
    projects.c.repository_key, projects.c.id, projects.c.full_path, projects.c.default_branch
).where(projects.c.namespace_id.is_not(None))
_LIVE_WIKIS = (
    select(project_wikis.c.repository_key, projects.c.id, projects.c.full_path)
    .join(projects, projects.c.id == project_wikis.c.project_id)
    .where(projects.c.namespace_id.is_not(None))
)
_DELETE_WIKI = delete(project_wikis).where(project_wikis.c.repository_key == bindparam("key"))


class _LiveRepository(NamedTuple):
    id: int
    full_path: str
    default_branch: str
    wiki: bool = False


def verify_repositories(
    database: Database, store: RepositoryStore, record: Iterable[RepositoryEntry] | None, progress: Progress
) -> list[str]:
    """Compare rows, repositories and record with each other; raises where they disagree, naming the projects.

    What was wrong already when the backup was made is given back in words. Projects that were deleted while it was
    made are deleted here too, and rows follow HEAD where it was pointed elsewhere meanwhile. Without a ``record``,
    as in the first format, repositories are checked only in themselves.
    """
    live = database.read(_live_repositories)
    total, wrong, notes = len(live), [], []
    entries = (RepositoryEntry(key) for key in list(live)) if record is None else record
    for done, entry in enumerate(entries):
        project = live.pop(entry.key, None)
        if project is None:
            wrong.append(f"a repository of no project ({entry.key[:8]}…)")
            continue
        progress(f"checking the repository of {project.full_path}", done, total)
        if entry.deleted:
            database.write(partial(_delete_project, gone=project, key=entry.key))
            continue
        now = repository_entry(store.path_of(entry.key), entry.key) if store.exists(entry.key) else None
        wrong += [f"{project.full_path}: {trouble}" for trouble in _differences(entry, now, record is not None)]
        notes += [f"{project.full_path} was damaged when the backup was made: {said}" for said in entry.troubles]
        if now is not None and not project.wiki and now.head not in (None, project.default_branch):
            head = str(now.head)
            database.write(partial(_update_default_branch, project=project, head=head))
    wrong += [f"{project.full_path}: the backup has no repository of it" for project in live.values()]
    if wrong:
        more = f"; and {len(wrong) - _MAX_NAMES_LISTED} more" if len(wrong) > _MAX_NAMES_LISTED else ""
        raise BackupError(f"Repositories are not what the backup says: {'; '.join(wrong[:_MAX_NAMES_LISTED])}{more}")
    return notes


def _differences(entry: RepositoryEntry, now: RepositoryEntry | None, recorded: bool) -> Iterator[str]:
    if now is None:
        if entry.there and not entry.troubles:
            yield "there is no repository"
        return
    if recorded and now.head != entry.head:
        yield f"HEAD is {now.head} instead of {entry.head}"
    if recorded and now.refs != entry.refs:
        name = min(name for name, _ in now.refs.items() ^ entry.refs.items())
        yield f"{name} is at {now.refs.get(name, 'nothing')} instead of {entry.refs.get(name, 'nothing')}"
    if not entry.troubles:
        yield from now.troubles


def _live_repositories(db: Connection) -> dict[str, _LiveRepository]:
    """Projects and their wikis, by the keys of their repositories."""
    live = {row[0]: _LiveRepository(*row[1:]) for row in db.rows(_LIVE_PROJECTS)}
    wikis = {key: _LiveRepository(number, f"{path}.wiki", "", wiki=True) for key, number, path in db.rows(_LIVE_WIKIS)}
    return live | wikis


def _delete_project(db: Connection, gone: _LiveRepository, key: str) -> None:
    if gone.wiki:
        db.run(_DELETE_WIKI, key=key)
        return
    db.lock(NAMESPACES)
    delete_project(db, existing_project(db, gone.id))


def _update_default_branch(db: Connection, project: _LiveRepository, head: str) -> None:
    record_head(db, project.id, project.default_branch, head)
