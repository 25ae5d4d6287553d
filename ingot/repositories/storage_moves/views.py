"""Response structs of repository storage moves."""

from collections.abc import Sequence

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.projects.projects.queries import projects_by_ids
from ingot.projects.projects.tables import Project
from ingot.repositories.storage_moves.tables import MoveState, StorageMove


class MovedProjectView(View):
    """The project of a move."""

    id: int
    description: str | None
    name: str
    name_with_namespace: str
    path: str
    path_with_namespace: str
    created_at: Timestamp


class StorageMoveView(View):
    """A move of a repository to another storage."""

    id: int
    created_at: Timestamp
    state: MoveState
    source_storage_name: str
    destination_storage_name: str
    error_message: str | None
    project: MovedProjectView


def storage_move_views(db: Connection, moves: Sequence[StorageMove]) -> list[StorageMoveView]:
    """Return the views of moves."""
    projects = projects_by_ids(db, [move.project_id for move in moves])
    return [_move_view(move, projects[move.project_id]) for move in moves if move.project_id in projects]


def _move_view(move: StorageMove, project: Project) -> StorageMoveView:
    return StorageMoveView(
        move.id,
        move.created_at,
        move.state,
        move.source_storage_name,
        move.destination_storage_name,
        move.error_message,
        MovedProjectView(
            project.id,
            project.description,
            project.name,
            project.full_name,
            project.path,
            project.full_path,
            project.created_at,
        ),
    )
