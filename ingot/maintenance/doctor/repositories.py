"""Checks of repositories: each project has one that is intact and configured, without leftovers of crashes."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Unavailable
from ingot.core.jobs.tables import jobs
from ingot.git.core.errors import DamagedRepository
from ingot.git.core.repository import Repository
from ingot.git.maintenance.housekeeping import list_temporary, remove_temporary
from ingot.git.maintenance.integrity import find_problems, has_our_config, restore_config
from ingot.git.maintenance.store import RepositoryStore, storage_of
from ingot.git.writing.head import can_be_head, head_or_none
from ingot.maintenance.doctor.findings import DoctorFinding
from ingot.projects.namespaces.tables import namespaces
from ingot.projects.projects.default_branch import head_job_key, record_head
from ingot.projects.projects.jobs import delete_unused_repository, is_repository_in_use
from ingot.projects.projects.tables import group_wikis, project_wikis, projects

STALE_LOCK_SECONDS = 600
"""Shorter than STALE_SECONDS, because git holds locks only briefly and a stale lock blocks pushes."""
STALE_SECONDS = 3600
_NO_HEAD = "HEAD cannot be read"
_LIVE_PROJECTS = (
    select(
        projects.c.id,
        projects.c.full_path,
        projects.c.default_branch,
        projects.c.repository_key,
        projects.c.import_status,
    )
    .where(projects.c.namespace_id.is_not(None))
    .order_by(projects.c.id)
)
_LIVE_WIKIS = (
    select(projects.c.id, projects.c.full_path, project_wikis.c.repository_key)
    .join(projects, projects.c.id == project_wikis.c.project_id)
    .where(projects.c.namespace_id.is_not(None))
    .order_by(projects.c.id)
)
_GROUP_WIKIS = (
    select(namespaces.c.id, namespaces.c.full_path, group_wikis.c.repository_key)
    .join(namespaces, namespaces.c.id == group_wikis.c.group_id)
    .order_by(namespaces.c.id)
)
_HAS_WIKI = select(group_wikis.c.id).where(group_wikis.c.repository_key == bindparam("key"))
_IS_LIVE = select(projects.c.id).where(projects.c.id == bindparam("project"), projects.c.namespace_id.is_not(None))
_JOB = select(jobs.c.id).where(jobs.c.unique_key == bindparam("key"))


class _LiveProject(NamedTuple):
    id: int
    full_path: str
    default_branch: str | None
    """None for a wiki, whose branch is not stored in a row."""
    key: str
    import_status: str


def check_repositories(database: Database, store: RepositoryStore, *, contents: bool) -> Iterator[DoctorFinding]:
    """Check all repositories, those of projects first; ``contents`` reads and compares all their objects."""
    unavailable = {storage for storage in store.roots if not store.is_available(storage)}
    for storage in sorted(unavailable):
        root = store.roots[storage]
        yield DoctorFinding(f"The repository storage {storage} is not available: check that {root} is mounted")
    if store.has_bucket:
        yield from map(DoctorFinding, store.in_bucket.problems())
    live = [_LiveProject(*row) for row in database.read(lambda db: db.rows(_LIVE_PROJECTS))]
    wikis = database.read(lambda db: [*db.rows(_LIVE_WIKIS), *db.rows(_GROUP_WIKIS)])
    live += [_LiveProject(owner_id, f"{path}.wiki", None, key, "none") for owner_id, path, key in wikis]
    for project in live:
        if storage_of(project.key) not in store.roots:
            yield DoctorFinding(
                f"{project.full_path} is in the repository storage {storage_of(project.key)}, which is not configured"
            )
        elif storage_of(project.key) not in unavailable:
            yield from _check_project(database, store, project, contents=contents)
    live_keys = {project.key for project in live}
    for key in sorted(store.keys()):
        path = store.path_of(key)
        if key not in live_keys and _age(path) > STALE_SECONDS and not is_repository_in_use(database, key):
            yield DoctorFinding(
                f"The repository {path} belongs to no project", partial(delete_unused_repository, database, store, key)
            )


def _check_project(
    database: Database, store: RepositoryStore, project: _LiveProject, *, contents: bool
) -> Iterator[DoctorFinding]:
    if store.is_in_bucket(project.key):
        yield from _check_stored(database, store, project, contents=contents)
        return
    path = store.path_of(project.key)
    if not path.is_dir():
        # The project may have been deleted meanwhile, and a running import creates the repository itself.
        importing = project.import_status in ("scheduled", "started")
        if not importing and database.read(lambda db: _is_live(db, project)):
            yield DoctorFinding(f"{project.full_path} has no repository: restore {path} from a backup")
        return
    for leftover in list_temporary(path, time.time(), STALE_SECONDS, STALE_LOCK_SECONDS):
        name = leftover.relative_to(path)
        problem = f"{name} was left behind in the repository of {project.full_path}"
        yield DoctorFinding(problem, partial(remove_temporary, leftover))
    if not has_our_config(path):
        problem = f"The git configuration of the repository of {project.full_path} was changed"
        yield DoctorFinding(problem, partial(restore_config, path))
    if project.default_branch is not None:
        yield from _check_head(database, Repository(path), project, project.default_branch)
    for error in find_problems(path, deep=False, contents=contents):
        if error != _NO_HEAD or project.default_branch is None:
            yield DoctorFinding(f"The repository of {project.full_path} is damaged, {path}: {error}")


def _check_stored(
    database: Database, store: RepositoryStore, project: _LiveProject, *, contents: bool
) -> Iterator[DoctorFinding]:
    """Check a repository in the bucket; its objects only with ``contents``, because they may have to be downloaded."""
    if not store.exists(project.key):
        if database.read(lambda db: _is_live(db, project)):
            yield DoctorFinding(f"{project.full_path} has no repository in the bucket: restore it from a backup")
        return
    if not contents:
        return
    try:
        path = store.open(project.key).path
    except (DamagedRepository, Unavailable) as error:  # Reported as a problem.
        yield DoctorFinding(f"The repository of {project.full_path} cannot be read from the bucket: {error}")
        return
    for problem in find_problems(path, deep=False, contents=True):
        yield DoctorFinding(f"The repository of {project.full_path} is damaged: {problem}")


def _check_head(
    database: Database, repository: Repository, project: _LiveProject, branch: str
) -> Iterator[DoctorFinding]:
    """Compare HEAD, which is authoritative, with the row, unless a pending job is about to change it."""
    head = head_or_none(repository)
    if head is None:
        repair = partial(repository.set_head, branch)
        repairable = can_be_head(repository, branch)
        yield DoctorFinding(f"{_NO_HEAD} in the repository of {project.full_path}", repair if repairable else None)
    elif head != branch and not database.read(lambda db: _has_pending_job(db, project)):
        problem = f"HEAD of {project.full_path} is {head}, but the recorded default branch is {branch}"
        yield DoctorFinding(
            problem, partial(database.write, partial(_update_default_branch, project=project, branch=branch, head=head))
        )


def _is_live(db: Connection, project: _LiveProject) -> bool:
    return (db.value(_IS_LIVE, project=project.id) or db.value(_HAS_WIKI, key=project.key)) is not None


def _has_pending_job(db: Connection, project: _LiveProject) -> bool:
    importing = project.import_status in ("scheduled", "started")
    return importing or db.value(_JOB, key=head_job_key(project.id)) is not None


def _update_default_branch(db: Connection, project: _LiveProject, branch: str, head: str) -> None:
    record_head(db, project.id, branch, head)


def _age(path: Path) -> float:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0.0
    return time.time() - max(status.st_mtime, status.st_ctime)
