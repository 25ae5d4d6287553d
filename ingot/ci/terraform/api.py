"""Endpoints of Terraform states: the HTTP backend of Terraform and OpenTofu."""

from ingot.ci.terraform import policy, queries, service
from ingot.ci.terraform.files import state_store_of
from ingot.ci.terraform.params import LockState, StateLockId
from ingot.ci.terraform.tables import StateVersion
from ingot.ci.terraform.upload import LOCKED, ReceivedState, receive_state
from ingot.ci.terraform.views import StateLockView, TerraformStateView, state_lock_view, state_views
from ingot.core.api.params import path_number
from ingot.core.api.request_fields import BadRequest
from ingot.core.api.routes import AlternateResponse, Call, RawResponse, Routes, StagedCall
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import Failure
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.tables import Project

routes = Routes("terraform_state")
_JSON = "application/json"


def _version_in_path(call: Call, project: Project) -> StateVersion:
    state = queries.find_state(call.db, project.id, call.path["name"])
    return queries.find_version(call.db, state.id, path_number(call.path, "serial"))


def _content(call: Call, version: StateVersion) -> RawResponse:
    return RawResponse(state_store_of(call.settings).read(call.db.vault, version.storage_key), _JSON)


@routes.get(
    "/projects/:id/terraform/state",
    on=project_in_path,
    may=policy.may_read_states,
    returns=list[TerraformStateView],
    package_client=True,
)
def list_states(call: Call, project: Project, page: Page) -> Listing[TerraformStateView]:
    """List the Terraform states of a project by name."""
    listing = queries.list_states(call.db, project.id, page)
    return listing.of(state_views(call.db, listing.items, call.origin.base))


@routes.get(
    "/projects/:id/terraform/state/:name",
    on=project_in_path,
    may=policy.may_read_states,
    returns=RawResponse,
    instead={204: None},
    package_client=True,
    heavy=True,
)
def get_state(call: Call, project: Project) -> RawResponse:
    """Get the latest version of a Terraform state."""
    state = queries.find_state(call.db, project.id, call.path["name"])
    version = queries.latest_version_or_none(call.db, state.id)
    return RawResponse(b"", status=204) if version is None else _content(call, version)


@routes.post(
    "/projects/:id/terraform/state/:name",
    on=project_in_path,
    may=policy.may_change_states,
    returns=RawResponse,
    status=200,
    conflict=422,
    instead={204: None},
    package_client=True,
    staged=True,
    read_body=receive_state,
)
def save_state(stage: StagedCall, project: Project, params: StateLockId, received: ReceivedState) -> RawResponse:
    """Add a version to a Terraform state; the state is created if it does not exist."""
    if not received.content:
        return RawResponse(b"", status=204)
    store = state_store_of(stage.settings)
    file = store.store(stage.database.vault, received.content)

    def write(db: Connection) -> None:
        name = stage.path["name"]
        service.add_version(db, stage.actor, project, name, params.lock_id, received.serial, file)

    try:
        stage.database.write(write)
    except Failure as error:  # Nothing was recorded, so the file has no row.
        store.delete(file.storage_key)
        if isinstance(error, service.StateLocked):
            raise BadRequest(423, LOCKED) from error
        raise
    return RawResponse(b"")


@routes.delete(
    "/projects/:id/terraform/state/:name",
    on=project_in_path,
    may=policy.may_change_states,
    returns=None,
    conflict=423,
    package_client=True,
)
def delete_state(call: Call, project: Project) -> None:
    """Delete a Terraform state with its versions, unless it is locked."""
    service.delete_state(call.db, project, call.path["name"])


@routes.post(
    "/projects/:id/terraform/state/:name/lock",
    on=project_in_path,
    may=policy.may_change_states,
    returns=StateLockView,
    status=200,
    instead={409: StateLockView},
    package_client=True,
)
def lock_state(call: Call, project: Project, params: LockState) -> StateLockView | AlternateResponse:
    """Lock a Terraform state; if it is locked already, the response with status 409 describes its lock."""
    name = call.path["name"]
    state = service.lock_state(call.db, call.actor, project, name, params)
    if state is None:
        return AlternateResponse(409, state_lock_view(call.db, queries.find_state(call.db, project.id, name)))
    return state_lock_view(call.db, state)


@routes.delete(
    "/projects/:id/terraform/state/:name/lock",
    on=project_in_path,
    may=policy.may_change_states,
    returns=None,
    package_client=True,
)
def unlock_state(call: Call, project: Project, params: StateLockId) -> None:
    """Unlock a Terraform state; a call without the id of the lock removes any lock."""
    service.unlock_state(call.db, project, call.path["name"], params.lock_id)


@routes.get(
    "/projects/:id/terraform/state/:name/versions/:serial",
    on=project_in_path,
    may=policy.may_read_states,
    returns=RawResponse,
    package_client=True,
    heavy=True,
)
def get_state_version(call: Call, project: Project) -> RawResponse:
    """Get a version of a Terraform state."""
    return _content(call, _version_in_path(call, project))


@routes.delete(
    "/projects/:id/terraform/state/:name/versions/:serial",
    on=project_in_path,
    may=policy.may_change_states,
    returns=None,
    status=204,
    conflict=423,
    package_client=True,
)
def delete_state_version(call: Call, project: Project, params: StateLockId) -> None:
    """Delete a version of a Terraform state, unless somebody else has locked it."""
    version = _version_in_path(call, project)
    service.delete_version(call.db, project, call.path["name"], version, params.lock_id)
