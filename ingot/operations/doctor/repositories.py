"""Checks of the repositories: each project has one, whole and configured by us, and crashes left nothing behind."""

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.jobs.tables import jobs
from ingot.git.core.repository import Repository
from ingot.git.maintenance.housekeeping import list_temporary, remove_temporary
from ingot.git.maintenance.integrity import find_problems, has_our_config, restore_config
from ingot.git.maintenance.store import RepositoryStore
from ingot.git.writing.head import can_be_head, head_or_none
from ingot.operations.doctor.findings import DoctorFinding
from ingot.projects.projects.default_branch import head_job_key, record_head
from ingot.projects.projects.jobs import delete_unused_repository, is_repository_in_use
from ingot.projects.projects.tables import project_wikis, projects

STALE_LOCK_SECONDS = 600
"""git holds a lock for moments, and whoever calls the doctor may be waiting for one."""
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
_IS_LIVE = select(projects.c.id).where(projects.c.id == bindparam("project"), projects.c.namespace_id.is_not(None))
_JOB = select(jobs.c.id).where(jobs.c.unique_key == bindparam("key"))


class _LiveProject(NamedTuple):
    id: int
    full_path: str
    default_branch: str | None
    """Nothing for a wiki: no row says which one it is."""
    key: str
    import_status: str


def check_repositories(database: Database, root: Path) -> Iterator[DoctorFinding]:
    """All repositories, those of projects first."""
    store = RepositoryStore(root)
    live = [_LiveProject(*row) for row in database.read(lambda db: db.rows(_LIVE_PROJECTS))]
    wikis = database.read(lambda db: db.rows(_LIVE_WIKIS))
    live += [_LiveProject(number, f"{path}.wiki", None, key, "none") for number, path, key in wikis]
    for project in live:
        yield from _check_project(database, store, project)
    known = {project.key for project in live}
    for key in sorted(store.keys()):
        path = store.path_of(key)
        if key not in known and _age(path) > STALE_SECONDS and not is_repository_in_use(database, key):
            yield DoctorFinding(
                f"The repository {path} is no project's", partial(delete_unused_repository, database, store, key)
            )


def _check_project(database: Database, store: RepositoryStore, project: _LiveProject) -> Iterator[DoctorFinding]:
    path = store.path_of(project.key)
    if not path.is_dir():
        # A project may have been deleted since, and an import makes its repository where there is none.
        waits = project.import_status in ("scheduled", "started")
        if not waits and database.read(lambda db: _is_live(db, project)):
            yield DoctorFinding(f"{project.full_path} has no repository: bring {path} back from a backup")
        return
    for left in list_temporary(path, None, STALE_SECONDS, STALE_LOCK_SECONDS):
        what = left.relative_to(path)
        said = f"{what} was left behind in the repository of {project.full_path}"
        yield DoctorFinding(said, partial(remove_temporary, left))
    if not has_our_config(path):
        said = f"git is configured otherwise than by us in the repository of {project.full_path}"
        yield DoctorFinding(said, partial(restore_config, path))
    if project.default_branch is not None:
        yield from _check_head(database, Repository(path), project, project.default_branch)
    for trouble in find_problems(path, deep=False):
        if trouble != _NO_HEAD or project.default_branch is None:
            yield DoctorFinding(f"The repository of {project.full_path} is damaged, {path}: {trouble}")


def _check_head(
    database: Database, repository: Repository, project: _LiveProject, branch: str
) -> Iterator[DoctorFinding]:
    """HEAD is the truth, and the row says what it says, unless a job is about to change it."""
    head = head_or_none(repository)
    if head is None:
        mend = partial(repository.set_head, branch)
        good = can_be_head(repository, branch)
        yield DoctorFinding(f"{_NO_HEAD} in the repository of {project.full_path}", mend if good else None)
    elif head != branch and not database.read(lambda db: _has_pending_job(db, project)):
        said = f"The default branch of {project.full_path} is {head}, but its row says {branch}"
        yield DoctorFinding(
            said, partial(database.write, partial(_update_default_branch, project=project, branch=branch, head=head))
        )


def _is_live(db: Connection, project: _LiveProject) -> bool:
    return db.value(_IS_LIVE, project=project.id) is not None


def _has_pending_job(db: Connection, project: _LiveProject) -> bool:
    waits = project.import_status in ("scheduled", "started")
    return waits or db.value(_JOB, key=head_job_key(project.id)) is not None


def _update_default_branch(db: Connection, project: _LiveProject, branch: str, head: str) -> None:
    record_head(db, project.id, branch, head)


def _age(path: Path) -> float:
    try:
        status = path.stat()
    except FileNotFoundError:
        return 0.0
    return time.time() - max(status.st_mtime, status.st_ctime)
