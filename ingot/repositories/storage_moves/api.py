"""Endpoints of repository storage moves, for administrators."""

from collections.abc import Sequence

from ingot.core.access.rules import administrators
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.storages import choose_storage
from ingot.projects.projects.tables import Project
from ingot.repositories.storage_moves import queries
from ingot.repositories.storage_moves.params import ScheduleMove, ScheduleMoves
from ingot.repositories.storage_moves.service import schedule_move
from ingot.repositories.storage_moves.tables import StorageMove
from ingot.repositories.storage_moves.views import StorageMoveView, storage_move_views

routes = Routes("repository_storage_moves")


@routes.get("/project_repository_storage_moves", may=administrators, returns=list[StorageMoveView])
def list_all_moves(call: Call, page: Page) -> Listing[StorageMoveView]:
    """List the moves of all repositories, newest first."""
    return _views(call, queries.list_moves(call.db, page))


@routes.get("/project_repository_storage_moves/:move_id", may=administrators, returns=StorageMoveView)
def get_move(call: Call) -> StorageMoveView:
    """Get a move."""
    return _view(call, queries.find_move(call.db, path_number(call.path, "move_id")))


@routes.post("/project_repository_storage_moves", may=administrators, returns=None, status=202)
def schedule_moves(call: Call, params: ScheduleMoves) -> None:
    """Move all repositories of a storage to another one, or to others by weight."""
    storages = repository_store(call.settings).roots
    if params.source_storage_name not in storages:
        raise Invalid(source_storage_name=["does not have a valid value"])
    others = [name for name in storages if name != params.source_storage_name]
    for project_id in queries.projects_on_storage(call.db, params.source_storage_name):
        project = existing_project(call.db, project_id)
        if not queries.has_running_move(call.db, project_id) and project.import_status not in ("scheduled", "started"):
            schedule_move(call.db, project, _destination(call, params.destination_storage_name, others), storages)


@routes.get(
    "/projects/:id/repository_storage_moves", on=project_in_path, may=administrators, returns=list[StorageMoveView]
)
def list_project_moves(call: Call, project: Project, page: Page) -> Listing[StorageMoveView]:
    """List the moves of a project's repository, newest first."""
    return _views(call, queries.list_moves(call.db, page, project.id))


@routes.get(
    "/projects/:id/repository_storage_moves/:move_id",
    on=project_in_path,
    may=administrators,
    returns=StorageMoveView,
)
def get_project_move(call: Call, project: Project) -> StorageMoveView:
    """Get a move of a project's repository."""
    return _view(call, queries.find_move(call.db, path_number(call.path, "move_id"), project.id))


@routes.post("/projects/:id/repository_storage_moves", on=project_in_path, may=administrators, returns=StorageMoveView)
def schedule_project_move(call: Call, project: Project, params: ScheduleMove) -> StorageMoveView:
    """Move a project's repository to another storage."""
    storages = repository_store(call.settings).roots
    others = [name for name in storages if name != queries.storage_of_project(project)]
    destination = _destination(call, params.destination_storage_name, others)
    return _view(call, schedule_move(call.db, project, destination, storages))


def _destination(call: Call, given: str | None, others: Sequence[str]) -> str:
    if given is not None:
        return given
    if not others:
        raise Invalid(destination_storage_name=["can't be the same as source storage"])
    return choose_storage(call.db, repository_store(call.settings), others)


def _views(call: Call, listing: Listing[StorageMove]) -> Listing[StorageMoveView]:
    return listing.of(storage_move_views(call.db, listing.items))


def _view(call: Call, move: StorageMove) -> StorageMoveView:
    return storage_move_views(call.db, [move])[0]
