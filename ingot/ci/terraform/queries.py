"""Queries of Terraform states."""

from collections.abc import Collection, Sequence

from sqlalchemy import bindparam, func, select

from ingot.ci.terraform.tables import StateVersion, TerraformState, terraform_state_versions, terraform_states
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.errors import NotFound

_BATCH = 500
_PATH = select(terraform_states.c.project_id, terraform_states.c.name).where(terraform_states.c.id == bindparam("id"))
_versions = terraform_state_versions.c
_IN_PROJECT = select(terraform_states).where(terraform_states.c.project_id == bindparam("project"))
_BY_NAME = _IN_PROJECT.where(terraform_states.c.name == bindparam("name"))
_PAGE = list_query(_IN_PROJECT, terraform_states.c.id, terraform_states.c.name, terraform_states.c.id)
_OF_STATE = select(terraform_state_versions).where(_versions.state_id == bindparam("state"))
_BY_SERIAL = _OF_STATE.where(_versions.serial == bindparam("serial"))
_LATEST = _OF_STATE.order_by(_versions.serial.desc()).limit(1)
_KEYS = select(_versions.storage_key).where(_versions.state_id == bindparam("state"))
_last = (
    select(_versions.state_id, func.max(_versions.serial).label("serial"))
    .where(in_list(_versions.state_id, "states"))
    .group_by(_versions.state_id)
    .subquery()
)
_LATEST_OF_STATES = select(terraform_state_versions).join(
    _last, (_last.c.state_id == _versions.state_id) & (_last.c.serial == _versions.serial)
)
_EXISTING_KEYS = select(_versions.storage_key).where(in_list(_versions.storage_key, "keys"))
_RECORDED = (
    select(_versions.id, _versions.storage_key, _versions.stored_size)
    .where(_versions.id > bindparam("after"))
    .order_by(_versions.id)
    .limit(_BATCH)
)


def list_states(db: Connection, project_id: int, page: Page) -> Listing[TerraformState]:
    """List a page of the states of a project by name."""
    return fetch_page(db, TerraformState, _PAGE, page, project=project_id)


def state_or_none(db: Connection, project_id: int, name: str) -> TerraformState | None:
    """Return the state of this name."""
    return db.first(TerraformState, _BY_NAME, project=project_id, name=name)


def find_state(db: Connection, project_id: int, name: str) -> TerraformState:
    """Return the state of this name; raise NotFound otherwise."""
    state = state_or_none(db, project_id, name)
    if state is None:
        raise NotFound("Terraform State")
    return state


def path_of_state(db: Connection, state_id: int) -> tuple[int, str] | None:
    """Return the project and the name of a state; None if it does not exist."""
    rows = db.rows(_PATH, id=state_id)
    return (rows[0][0], rows[0][1]) if rows else None


def latest_version_or_none(db: Connection, state_id: int) -> StateVersion | None:
    """Return the version with the highest serial."""
    return db.first(StateVersion, _LATEST, state=state_id)


def latest_versions(db: Connection, state_ids: Sequence[int]) -> dict[int, StateVersion]:
    """Return the versions with the highest serials, by the id of the state."""
    if not state_ids:
        return {}
    return {version.state_id: version for version in db.all(StateVersion, _LATEST_OF_STATES, states=list(state_ids))}


def version_or_none(db: Connection, state_id: int, serial: int) -> StateVersion | None:
    """Return the version with this serial."""
    return db.first(StateVersion, _BY_SERIAL, state=state_id, serial=serial)


def find_version(db: Connection, state_id: int, serial: int) -> StateVersion:
    """Return the version with this serial; raise NotFound otherwise."""
    version = version_or_none(db, state_id, serial)
    if version is None:
        raise NotFound("Terraform State Version")
    return version


def storage_keys(db: Connection, state_id: int) -> list[str]:
    """Return the storage keys of all versions of a state."""
    return [key for (key,) in db.rows(_KEYS, state=state_id)]


def existing_keys(db: Connection, keys: Collection[str]) -> set[str]:
    """Return those of these storage keys that have a row."""
    return {key for (key,) in db.rows(_EXISTING_KEYS, keys=list(keys))}


def recorded_versions(db: Connection, after: int) -> list[tuple[int, str, int]]:
    """List the next versions with their ids, storage keys and sizes in the storage."""
    return [(version_id, key, size) for version_id, key, size in db.rows(_RECORDED, after=after)]
