"""Endpoints of the location of repositories, and of snapshots."""

from ingot.core.access.rules import administrators
from ingot.core.api.routes import Call, Routes, StreamedResponse
from ingot.core.errors import NotFound
from ingot.git.maintenance.snapshots import snapshot_pieces
from ingot.git.maintenance.store import storage_of
from ingot.projects.projects.api import project_in_path, repository_store
from ingot.projects.projects.tables import Project
from ingot.repositories.snapshots.params import GetSnapshot
from ingot.repositories.snapshots.views import ProjectStorageView
from ingot.repositories.wikis.queries import find_wiki

routes = Routes("snapshots")


@routes.get("/projects/:id/storage", on=project_in_path, may=administrators, returns=ProjectStorageView)
def get_storage(call: Call, project: Project) -> ProjectStorageView:
    """Get the location of a project's repository."""
    store = repository_store(call.settings)
    storage = storage_of(project.repository_key)
    path = store.path_of(project.repository_key).relative_to(store.roots[storage])
    return ProjectStorageView(project.id, path.with_suffix("").as_posix(), project.created_at, storage)


@routes.get("/projects/:id/snapshot", on=project_in_path, may=administrators, returns=StreamedResponse, heavy=True)
def get_snapshot(call: Call, project: Project, params: GetSnapshot) -> StreamedResponse:
    """Get the refs and objects of a project's repository or wiki as a tar archive."""
    store = repository_store(call.settings)
    repository = store.open(project.repository_key)
    if params.wiki:
        wiki = find_wiki(call.db, call.actor, store, str(project.id)).repository
        if wiki is None:
            raise NotFound("Wiki")
        repository = wiki
    return StreamedResponse(snapshot_pieces(repository.path), "application/x-tar")
