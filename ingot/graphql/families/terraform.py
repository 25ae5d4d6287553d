"""Terraform states."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from ingot.ci.terraform.queries import latest_versions
from ingot.ci.terraform.tables import StateVersion
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.graphql.connections import ConnectionPage, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import load_users
from ingot.graphql.resolvers import Arguments, Resolvers

resolvers = Resolvers()
STATE_MODEL = "Terraform::State"
_VERSION_MODEL = "Terraform::StateVersion"
_STATES = "GET /projects/:id/terraform/state"


class ProjectState(msgspec.Struct):
    """A state with its project."""

    project_id: int
    state_id: int
    name: str
    locked_at: Timestamp | None
    locked_by_id: int | None
    created_at: Timestamp
    updated_at: Timestamp


class ProjectStateVersion(msgspec.Struct):
    """The latest version of a state with the state."""

    state: ProjectState
    version: StateVersion


resolvers.types[ProjectState] = "TerraformState"
resolvers.types[ProjectStateVersion] = "TerraformStateVersion"


def _of_project(project_id: int, view: Any) -> ProjectState:
    locked_by_id = None if view.locked_by is None else view.locked_by.id
    return ProjectState(project_id, view.id, view.name, view.locked_at, locked_by_id, view.created_at, view.updated_at)


@resolvers.single("Project.terraformStates")
def list_terraform_states(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage | None:
    """Return a page of the states of a project; null if the caller may not read them."""
    if not context.allows(_STATES, id=project.id):
        return None
    page = listed(context, _STATES, arguments, id=project.id)
    page.nodes = [_of_project(project.id, each) for each in page.nodes]
    return page


@resolvers.single("Project.terraformState")
def find_terraform_state(context: QueryContext, project: Any, arguments: Arguments) -> ProjectState | None:
    """Return a state by its name."""
    if not context.allows(_STATES, id=project.id):
        return None
    params: dict[str, Any] = {"page": 1, "per_page": 100}
    while True:
        listing = context.call(_STATES, params, id=project.id)
        found = next((each for each in listing.items if each.name == arguments["name"]), None)
        if found is not None or len(listing.items) < params["per_page"]:
            return None if found is None else _of_project(project.id, found)
        params["page"] += 1


@resolvers.value("TerraformState.id")
def state_id(_: QueryContext, state: ProjectState) -> str:
    """Return the global id."""
    return to_global_id(STATE_MODEL, state.state_id)


@resolvers.value("TerraformState.deletedAt")
def deleted_at(_: QueryContext, state: ProjectState) -> None:
    """Return null: a deleted state does not exist any more."""


@resolvers.batch("TerraformState.lockedByUser")
def users_with_locks(context: QueryContext, states: Sequence[ProjectState], _: Arguments) -> list[Any]:
    """Return the users who hold the locks of states."""
    found = load_users(context, {each.locked_by_id for each in states if each.locked_by_id is not None})
    return [found.get(each.locked_by_id) if each.locked_by_id is not None else None for each in states]


@resolvers.batch("TerraformState.latestVersion")
def versions_of_states(
    context: QueryContext, states: Sequence[ProjectState], _: Arguments
) -> list[ProjectStateVersion | None]:
    """Return the latest versions of states, whose readers may read them too."""
    versions = context.read(lambda db: latest_versions(db, [each.state_id for each in states]))
    return [
        None if each.state_id not in versions else ProjectStateVersion(each, versions[each.state_id]) for each in states
    ]


@resolvers.value("TerraformStateVersion.id")
def version_id(_: QueryContext, latest: ProjectStateVersion) -> str:
    """Return the global id."""
    return to_global_id(_VERSION_MODEL, latest.version.id)


@resolvers.value("TerraformStateVersion.serial")
def version_serial(_: QueryContext, latest: ProjectStateVersion) -> int:
    """Return the number of the version."""
    return latest.version.serial


@resolvers.value("TerraformStateVersion.createdAt")
def version_created_at(_: QueryContext, latest: ProjectStateVersion) -> str:
    """Return when the version was uploaded."""
    return latest.version.created_at


@resolvers.value("TerraformStateVersion.updatedAt")
def version_updated_at(_: QueryContext, latest: ProjectStateVersion) -> str:
    """Return when the version was uploaded: versions never change."""
    return latest.version.created_at


@resolvers.value("TerraformStateVersion.downloadPath")
def version_path(_: QueryContext, latest: ProjectStateVersion) -> str:
    """Return the path of the content in the REST API."""
    name = quote(latest.state.name, safe="")
    return f"/api/v4/projects/{latest.state.project_id}/terraform/state/{name}/versions/{latest.version.serial}"


@resolvers.batch("TerraformStateVersion.createdByUser")
def creators_of_versions(context: QueryContext, latest: Sequence[ProjectStateVersion], _: Arguments) -> list[Any]:
    """Return the users who uploaded versions."""
    ids = [each.version.created_by_id for each in latest]
    found = load_users(context, {each for each in ids if each is not None})
    return [None if each is None else found.get(each) for each in ids]


@resolvers.single("TerraformStateVersion.job", call="GET /projects/:id/jobs/:job_id")
def job_of_version(context: QueryContext, latest: ProjectStateVersion, _: Arguments) -> Any:
    """Return the job that uploaded a version; null if there was none or the caller may not see it."""
    route, path = "GET /projects/:id/jobs/:job_id", {"id": latest.state.project_id, "job_id": latest.version.job_id}
    if latest.version.job_id is None or not context.allows(route, **path):
        return None
    try:
        return context.call(route, **path)
    except NotFound:
        return None
