"""State changes of repository storage moves."""

from collections.abc import Collection

from sqlalchemy import bindparam, update

from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid
from ingot.core.jobs.queue import enqueue
from ingot.git.maintenance.store import key_in, storage_of
from ingot.projects.projects.tables import Project, project_wikis, projects
from ingot.repositories.ref_changes.moves import lock_repository, unlock_repository
from ingot.repositories.storage_moves.queries import find_move, has_running_move
from ingot.repositories.storage_moves.tables import StorageMove, repository_storage_moves

MOVE_REPOSITORY = "move_repository"
_MAX_MESSAGE_LENGTH = 500
_MOVE_WIKI = (
    update(project_wikis)
    .where(project_wikis.c.repository_key == bindparam("old_key"))
    .values(repository_key=bindparam("new_key"))
)


def schedule_move(
    db: Connection, project: Project, destination: str, storages: Collection[str], *, by_job: bool = True
) -> StorageMove:
    """Schedule the move of a project's repository; raise Invalid if it cannot be moved there.

    Without ``by_job``, the caller moves it itself.
    """
    source = storage_of(project.repository_key)
    if destination not in storages:
        raise Invalid(destination_storage_name=["is not included in the list"])
    if destination == source:
        raise Invalid(destination_storage_name=["can't be the same as source storage"])
    if has_running_move(db, project.id):
        raise Invalid(project=["is already being moved"])
    if project.import_status in ("scheduled", "started"):
        raise Invalid(project=["is being imported"])
    columns = {"source_storage_name": source, "destination_storage_name": destination, "created_at": db.now}
    move_id = db.insert(repository_storage_moves, project_id=project.id, state="scheduled", **columns)
    if by_job:
        enqueue(db, MOVE_REPOSITORY, move_id)
    return find_move(db, move_id)


def move_to_storage(db: Connection, project: Project, storage: str, storages: Collection[str]) -> None:
    """Schedule the move of a project's repository because its attribute ``repository_storage`` was changed."""
    if storage not in storages:
        raise Invalid(repository_storage=["is not included in the list"])
    schedule_move(db, project, storage, storages)


def begin_move(db: Connection, move: StorageMove) -> None:
    """Refuse ref changes until the move has ended; those whose intent is committed are completed."""
    lock_repository(db, move.project_id)
    db.update(repository_storage_moves, move.id, state="started")


def finish_move(db: Connection, move: StorageMove, key: str, wiki_key: str | None = None) -> None:
    """Make the copies the repositories of the project and its wiki, and allow ref changes again."""
    unlock_repository(db, move.project_id)
    db.update(projects, move.project_id, repository_key=key)
    if wiki_key is not None:
        db.run(_MOVE_WIKI, old_key=wiki_key, new_key=key_in(move.destination_storage_name, wiki_key))
    db.update(repository_storage_moves, move.id, state="finished")


def fail_move(db: Connection, move: StorageMove, message: str) -> None:
    """Record why a repository was not moved, and allow ref changes again."""
    unlock_repository(db, move.project_id)
    db.update(
        repository_storage_moves, move.id, state="failed", error_message=message[:_MAX_MESSAGE_LENGTH] or "failed"
    )
