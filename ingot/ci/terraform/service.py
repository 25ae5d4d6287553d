"""State changes of Terraform states."""

import msgspec

from ingot.ci.encrypted_files.store import EncryptedFile
from ingot.ci.terraform.params import LOCK_FIELDS, LockState
from ingot.ci.terraform.queries import find_state, state_or_none, storage_keys, version_or_none
from ingot.ci.terraform.tables import StateVersion, TerraformState, terraform_state_versions, terraform_states
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid, too_long_message
from ingot.core.jobs.queue import enqueue
from ingot.projects.projects.tables import Project

DELETE_STATE_FILES = "delete_terraform_states"
MAX_LENGTH = 255
MAX_INFO_LENGTH = 1024
"""Length of each field that describes a lock."""
_LOCKED = "The state is locked"


class StateLocked(Conflict):
    """A change of a state that is locked, by a caller who does not hold its lock."""


def lock_state(db: Connection, actor: Actor, project: Project, name: str, params: LockState) -> TerraformState | None:
    """Lock a state, which need not exist; return None if it is locked already."""
    info = msgspec.structs.asdict(params)
    for field, value in info.items():
        limit = MAX_LENGTH if field == "lock_id" else MAX_INFO_LENGTH
        if len(value) > limit:
            raise Invalid(**{LOCK_FIELDS[field]: [too_long_message(limit)]})
    if not params.lock_id:
        raise Invalid(ID=["can't be blank"])
    state = _find_or_create(db, project, name)
    if state.lock_id is not None:
        return None
    columns = {
        "lock_id": params.lock_id,
        "lock_info": msgspec.json.encode(info).decode(),
        "locked_by_id": actor.user_id,
        "locked_at": db.now,
    }
    db.update(terraform_states, state.id, **columns)
    return find_state(db, project.id, name)


def unlock_state(db: Connection, project: Project, name: str, lock_id: str | None) -> None:
    """Unlock a state; raise Conflict if it has another lock, unless no lock is named."""
    _hold(db, project, name)
    state = find_state(db, project.id, name)
    if lock_id is not None and lock_id != state.lock_id:
        raise Conflict(_LOCKED if state.lock_id is not None else "The state is not locked")
    db.update(terraform_states, state.id, lock_id=None, lock_info=None, locked_by_id=None, locked_at=None)


def require_lock(state: TerraformState | None, lock_id: str | None) -> None:
    """Raise StateLocked unless the state is not locked or the caller holds its lock."""
    if state is not None and state.lock_id is not None and state.lock_id != lock_id:
        raise StateLocked(_LOCKED)


def add_version(
    db: Connection, actor: Actor, project: Project, name: str, lock_id: str | None, serial: int, file: EncryptedFile
) -> None:
    """Record a version; raise StateLocked, or Conflict if the serial exists."""
    state = _find_or_create(db, project, name)
    require_lock(state, lock_id)
    if version_or_none(db, state.id, serial) is not None:
        raise Conflict(f"Version {serial} of the state already exists")
    db.insert(
        terraform_state_versions,
        state_id=state.id,
        serial=serial,
        created_by_id=actor.user_id,
        job_id=None if actor.job is None else actor.job.id,
        storage_key=file.storage_key,
        size=file.size,
        stored_size=file.stored_size,
        created_at=db.now,
    )
    db.update(terraform_states, state.id, updated_at=db.now)


def delete_state(db: Connection, project: Project, name: str) -> None:
    """Delete a state with its versions; raise StateLocked if it is locked."""
    _hold(db, project, name)
    state = find_state(db, project.id, name)
    require_lock(state, None)
    enqueue(db, DELETE_STATE_FILES, storage_keys(db, state.id))
    db.delete(terraform_states, state.id)


def delete_version(db: Connection, project: Project, name: str, version: StateVersion, lock_id: str | None) -> None:
    """Delete a version; a job deletes the stored file after the commit. Raise StateLocked if the state is locked."""
    _hold(db, project, name)
    require_lock(find_state(db, project.id, name), lock_id)
    db.delete(terraform_state_versions, version.id)
    enqueue(db, DELETE_STATE_FILES, [version.storage_key])


def require_valid_name(name: str) -> None:
    """Raise Invalid for a name that a new state cannot have."""
    if len(name) > MAX_LENGTH:
        raise Invalid(name=[too_long_message(MAX_LENGTH)])
    # Browsers remove "." and ".." from addresses, so that pages could not unlock or delete such a state.
    if not name.isprintable() or name in (".", ".."):
        raise Invalid(name=["is invalid"])


def _find_or_create(db: Connection, project: Project, name: str) -> TerraformState:
    require_valid_name(name)
    _hold(db, project, name)
    state = state_or_none(db, project.id, name)
    if state is None:
        db.insert(terraform_states, project_id=project.id, name=name, created_at=db.now, updated_at=db.now)
        state = find_state(db, project.id, name)
    return state


def _hold(db: Connection, project: Project, name: str) -> None:
    db.lock(f"terraform state {project.id} {name}")
