"""Endpoints of push mirrors."""

from ingot.accounts.instance.mirror_access import require_mirrors_available
from ingot.accounts.instance.outgoing_rules import guard_within
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Invalid, NotFound
from ingot.core.outgoing.guard import SsrfGuard
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.tables import Project
from ingot.repositories.mirrors import queries, service
from ingot.repositories.mirrors.params import CreateMirror, EditMirror
from ingot.repositories.mirrors.tables import RemoteMirror
from ingot.repositories.mirrors.views import MirrorKeyView, RemoteMirrorView, remote_mirror_view

routes = Routes("mirrors")


def _guard(call: Call) -> SsrfGuard:
    return guard_within(call.db, call.settings)


def _mirror(call: Call, project: Project) -> RemoteMirror:
    return queries.find_mirror(call.db, project, path_number(call.path, "mirror_id"))


@routes.get("/projects/:id/remote_mirrors", on=project_in_path, may=may_admin_project, returns=list[RemoteMirrorView])
def list_mirrors(call: Call, project: Project, page: Page) -> Listing[RemoteMirrorView]:
    """List the push mirrors of a project."""
    listing = queries.list_mirrors(call.db, project, page)
    return listing.of([remote_mirror_view(mirror) for mirror in listing.items])


@routes.post("/projects/:id/remote_mirrors", on=project_in_path, may=may_change_project, returns=RemoteMirrorView)
def create_mirror(call: Call, project: Project, params: CreateMirror) -> RemoteMirrorView:
    """Create a push mirror."""
    require_mirrors_available(call.db, call.actor)
    return remote_mirror_view(service.create_mirror(call.db, _guard(call), project, params))


@routes.get(
    "/projects/:id/remote_mirrors/:mirror_id", on=project_in_path, may=may_admin_project, returns=RemoteMirrorView
)
def get_mirror(call: Call, project: Project) -> RemoteMirrorView:
    """Get a push mirror with the result of its last update."""
    return remote_mirror_view(_mirror(call, project))


@routes.get(
    "/projects/:id/remote_mirrors/:mirror_id/public_key",
    on=project_in_path,
    may=may_admin_project,
    returns=MirrorKeyView,
)
def get_mirror_key(call: Call, project: Project) -> MirrorKeyView:
    """Get the public key of a push mirror over SSH."""
    key = _mirror(call, project).public_key
    if key is None:
        raise NotFound("Public Key")
    return MirrorKeyView(key)


@routes.put(
    "/projects/:id/remote_mirrors/:mirror_id", on=project_in_path, may=may_change_project, returns=RemoteMirrorView
)
def edit_mirror(call: Call, project: Project, params: EditMirror) -> RemoteMirrorView:
    """Change a push mirror."""
    return remote_mirror_view(service.edit_mirror(call.db, _guard(call), project, _mirror(call, project), params))


@routes.post(
    "/projects/:id/remote_mirrors/:mirror_id/sync",
    on=project_in_path,
    may=may_change_project,
    returns=None,
    status=204,
)
def update_mirror(call: Call, project: Project) -> None:
    """Start an update of a push mirror, which must be enabled."""
    mirror = _mirror(call, project)
    if not mirror.enabled:
        raise Invalid("Cannot proceed with the push mirroring. Please verify your mirror configuration.")
    service.enqueue_update(call.db, mirror)


@routes.delete("/projects/:id/remote_mirrors/:mirror_id", on=project_in_path, may=may_change_project, returns=None)
def delete_mirror(call: Call, project: Project) -> None:
    """Delete a push mirror."""
    mirror = queries.mirror_or_none(call.db, project, path_number(call.path, "mirror_id"))
    if mirror is not None:
        service.delete_mirror(call.db, mirror)
