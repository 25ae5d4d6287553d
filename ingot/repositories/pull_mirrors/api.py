"""Endpoints of pull mirrors."""

from ingot.accounts.instance.mirror_access import require_mirrors_available
from ingot.accounts.instance.outgoing_rules import guard_within
from ingot.core.api.routes import Call, Routes
from ingot.core.errors import Invalid
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.policy import may_admin_project, may_change_project
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.setting_records import record_project_changes
from ingot.projects.projects.tables import Project
from ingot.repositories.pull_mirrors import service
from ingot.repositories.pull_mirrors.params import ConfigurePullMirror
from ingot.repositories.pull_mirrors.queries import find_pull_mirror
from ingot.repositories.pull_mirrors.views import PullMirrorView, pull_mirror_view

routes = Routes("pull_mirrors")


@routes.get("/projects/:id/mirror/pull", on=project_in_path, may=may_admin_project, returns=PullMirrorView)
def get_pull_mirror(call: Call, project: Project) -> PullMirrorView:
    """Get the pull mirror of a project with the result of its last update."""
    return pull_mirror_view(find_pull_mirror(call.db, project), project)


@routes.put("/projects/:id/mirror/pull", on=project_in_path, may=may_change_project, returns=PullMirrorView)
def configure_pull_mirror(call: Call, project: Project, params: ConfigurePullMirror) -> PullMirrorView:
    """Create or change the pull mirror of a project."""
    require_mirrors_available(call.db, call.actor)
    guard = guard_within(call.db, call.settings)
    mirror = service.configure_pull_mirror(call.db, guard, call.actor.user_id, project, params)
    edited = existing_project(call.db, project.id)
    record_project_changes(call, project, edited)
    return pull_mirror_view(mirror, edited)


@routes.post(
    "/projects/:id/mirror/pull", on=project_in_path, may=may_change_project, returns=PullMirrorView, status=200
)
def start_pull(call: Call, project: Project) -> PullMirrorView:
    """Start an update of the pull mirror of a project."""
    mirror = find_pull_mirror(call.db, project)
    if not mirror.enabled:
        raise Invalid("The project is not mirrored")
    service.enqueue_pull(call.db, mirror)
    return pull_mirror_view(mirror, project)
