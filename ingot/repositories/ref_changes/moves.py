"""Exclusion of ref changes while a repository is moved to another storage."""

from sqlalchemy import bindparam, delete, select

from ingot.core.db.connection import Connection
from ingot.core.errors import Unavailable
from ingot.git.core.repository import Repository
from ingot.projects.projects.tables import projects
from ingot.repositories.ref_changes.tables import repository_locks

_PLACE = (
    select(projects.c.repository_key, repository_locks.c.id)
    .outerjoin(repository_locks, repository_locks.c.project_id == projects.c.id)
    .where(projects.c.id == bindparam("project"))
)
_LOCKED = select(repository_locks.c.id).where(repository_locks.c.project_id == bindparam("project"))
_UNLOCK = delete(repository_locks).where(repository_locks.c.project_id == bindparam("locked"))


_MESSAGE = "The repository is being moved to another storage. Please try again in a moment."


class RepositoryMoved(Unavailable):
    """A change of a repository that is being moved, or that was moved after it was opened; a retry succeeds."""


def require_current_place(db: Connection, repository: Repository, project_id: int) -> None:
    """Raise RepositoryMoved if refs of this copy of a repository must not change.

    Must be called first in the transaction of an intent. Where there is only one storage, nothing is checked.
    """
    if not repository.key:
        return
    db.lock(_lock_of(project_id))
    for key, lock in db.rows(_PLACE, project=project_id):
        if lock is not None or key != repository.key:
            raise RepositoryMoved(_MESSAGE)


def require_no_move(db: Connection, repository: Repository, project_id: int) -> None:
    """Raise RepositoryMoved if a project is being moved, whose wiki this is. Nothing is checked with one storage."""
    if repository.key and db.value(_LOCKED, project=project_id) is not None:
        raise RepositoryMoved(_MESSAGE)


def lock_repository(db: Connection, project_id: int) -> None:
    """Refuse new ref changes; all intents that were accepted before are visible after this transaction."""
    db.lock(_lock_of(project_id))
    if db.value(_LOCKED, project=project_id) is None:
        db.insert_row(repository_locks, project_id=project_id, created_at=db.now)


def unlock_repository(db: Connection, project_id: int) -> None:
    """Allow ref changes again."""
    db.lock(_lock_of(project_id))
    db.run(_UNLOCK, locked=project_id)


def _lock_of(project_id: int) -> str:
    return f"place of repository {project_id}"
