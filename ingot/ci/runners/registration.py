"""Registration tokens of the instance, of groups and of projects.

Until they are reset, the tokens of the instance and of groups are derived from the instance's secret, and that of a
project is the one which was created with the project. The derived token of a group begins with the group's id.
"""

import hmac
import secrets
from typing import NamedTuple

from ingot.accounts.instance.access_settings import access_settings
from ingot.accounts.instance.all_settings import cached_all_settings
from ingot.ci.runners.queries import (
    is_group,
    registration_token_by_digest,
    registration_token_of,
    unlisted_project_tokens,
)
from ingot.ci.runners.tables import registration_tokens
from ingot.core.api.params import number_or_none
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Denied, Unavailable
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project, projects

_INSTANCE = "instance"
_GROUP_PREFIX = "GR-"
_TOKEN_BYTES = 20
_DERIVED_LENGTH = 40
_BATCH_SIZE = 2000
"""Projects whose tokens are entered in one transaction; takes 50 milliseconds."""
_MAX_BATCHES = 10


class RunnerOwner(NamedTuple):
    """The instance, group or project for which a registration token is valid."""

    project_id: int | None = None
    group_id: int | None = None


def instance_registration_token(db: Connection) -> str:
    """Return the token with which runners of the instance register."""
    stored = registration_token_of(db, _INSTANCE)
    if stored is not None:
        return db.vault.unseal(stored.sealed_token)
    return db.vault.derive("runner registration", _INSTANCE.encode())[:_DERIVED_LENGTH]


def group_registration_token(db: Connection, group_id: int) -> str:
    """Return the token with which runners of a group register."""
    stored = registration_token_of(db, f"group {group_id}")
    return db.vault.unseal(stored.sealed_token) if stored is not None else _derived_group_token(db, group_id)


def _derived_group_token(db: Connection, group_id: int) -> str:
    derived = db.vault.derive("runner registration", f"group {group_id}".encode())[:_DERIVED_LENGTH]
    return f"{_GROUP_PREFIX}{group_id}-{derived}"


def shown_instance_token(db: Connection) -> str | None:
    """Return the token with which runners of the instance register; None if registration tokens are disabled."""
    return instance_registration_token(db) if access_settings(db).allow_runner_registration_token else None


def shown_group_token(db: Connection, group_id: int) -> str | None:
    """Return the token with which runners of a group register; None if registration tokens are disabled."""
    return group_registration_token(db, group_id) if access_settings(db).allow_runner_registration_token else None


def reset_registration_token(db: Connection, owner: Project | Namespace | None) -> str:
    """Replace the registration token of a project, a group or, for None, the instance; return the new one.

    Raises Denied if registration tokens are disabled.
    """
    if not access_settings(db).allow_runner_registration_token:
        raise Denied
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    if isinstance(owner, Project):
        db.update(projects, owner.id, runners_token=db.vault.seal(token))
        _store_token(db, f"project {owner.id}", token, project_id=owner.id)
    elif owner is not None:
        _store_token(db, f"group {owner.id}", token, group_id=owner.id)
    else:
        _store_token(db, _INSTANCE, token)
    return token


def owner_of_registration_token(database: Database, token: str) -> RunnerOwner:
    """Return the owner of a registration token; raise Denied for an unknown one.

    The tokens of projects are encrypted in the projects' rows, which cannot be searched, so the tokens of projects
    that were created since the last search are entered among the registration tokens first.
    """
    for _ in range(_MAX_BATCHES):
        owner = database.read(lambda db: _known_owner(db, token))
        if owner is not None:
            return owner
        if not database.read(lambda db: unlisted_project_tokens(db, 1)):
            raise Denied
        database.write(_enter_project_tokens)
    raise Unavailable("The tokens of projects are being entered")


def may_have_runners(db: Connection, owner: RunnerOwner) -> bool:
    """Return whether the settings let the owner register and create runners; the instance always may."""
    registrars = cached_all_settings(db).valid_runner_registrars
    return (owner.project_id is None or "project" in registrars) and (owner.group_id is None or "group" in registrars)


def require_registration_allowed(db: Connection, owner: RunnerOwner) -> None:
    """Raise Denied if the settings do not let runners register with the owner's registration token."""
    if not (access_settings(db).allow_runner_registration_token and may_have_runners(db, owner)):
        raise Denied("Runner registration is not allowed")


def _known_owner(db: Connection, token: str) -> RunnerOwner | None:
    stored = registration_token_by_digest(db, db.vault.digest(token))
    if stored is not None:
        return RunnerOwner(stored.project_id, stored.group_id)
    if hmac.compare_digest(token.encode(), instance_registration_token(db).encode()):
        return RunnerOwner()
    return _group_of_derived_token(db, token)


def _group_of_derived_token(db: Connection, token: str) -> RunnerOwner | None:
    """Return the group whose token has not been reset, if the token is that of a group."""
    group_id = number_or_none(token.removeprefix(_GROUP_PREFIX).partition("-")[0])
    if group_id is None or not token.startswith(_GROUP_PREFIX) or not is_group(db, group_id):
        return None
    expected = group_registration_token(db, group_id)
    return RunnerOwner(group_id=group_id) if hmac.compare_digest(token.encode(), expected.encode()) else None


def _enter_project_tokens(db: Connection) -> None:
    for project_id, sealed in unlisted_project_tokens(db, _BATCH_SIZE):
        _store_token(db, f"project {project_id}", db.vault.unseal(sealed), project_id=project_id)


def _store_token(
    db: Connection, place: str, token: str, *, project_id: int | None = None, group_id: int | None = None
) -> None:
    sealed, digest = db.vault.seal(token), db.vault.digest(token)
    stored = registration_token_of(db, place)
    if stored is not None:
        db.update(registration_tokens, stored.id, sealed_token=sealed, token_digest=digest)
        return
    db.insert(
        registration_tokens,
        place=place,
        project_id=project_id,
        group_id=group_id,
        sealed_token=sealed,
        token_digest=digest,
    )
