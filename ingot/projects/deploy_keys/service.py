"""State changes of deploy keys; a key without projects is deleted."""

from msgspec import UNSET
from sqlalchemy import bindparam, delete, exists, update

from ingot.accounts.keys.events import KeyRemoved
from ingot.accounts.keys.queries import find_key, key_by_fingerprint_or_none
from ingot.accounts.keys.service import add_key, rename_key
from ingot.accounts.keys.ssh_format import parse_public_key
from ingot.accounts.keys.tables import ssh_keys
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import Invalid, NotFound
from ingot.core.events.bus import emit
from ingot.projects.deploy_keys.params import CreateDeployKey, CreatePublicDeployKey, EditDeployKey
from ingot.projects.deploy_keys.queries import (
    deploy_key_ids,
    deploy_key_project_or_none,
    find_deploy_key,
    find_public_deploy_key,
    may_use_deploy_key,
)
from ingot.projects.deploy_keys.tables import DeployKey, deploy_key_projects
from ingot.projects.projects.tables import Project

_LOCK = (
    update(ssh_keys)
    .where(ssh_keys.c.id == bindparam("key"), ssh_keys.c.user_id.is_(None))
    .values(title=ssh_keys.c.title)
)
_DELETE_UNUSED = delete(ssh_keys).where(
    ssh_keys.c.id == bindparam("key"),
    ssh_keys.c.user_id.is_(None),
    ssh_keys.c.public.is_(False),
    ~exists().where(deploy_key_projects.c.key_id == ssh_keys.c.id),
)


def create_deploy_key(db: Connection, actor: Actor, project: Project, params: CreateDeployKey) -> DeployKey:
    """Add a key to a project: a new one, or one that another project of the caller already has.

    Raises Invalid if the key belongs to a project that the caller does not administer.
    """
    key_id = _deploy_key_by_text(db, params.key)
    if key_id is None:
        db.lock("new deploy keys")
        key_id = _deploy_key_by_text(db, params.key)
    if key_id is None:
        key_id = add_key(db, None, params.title, params.key, params.expires_at).id
    elif deploy_key_project_or_none(db, key_id, project.id) is not None:
        return find_deploy_key(db, project.id, key_id)
    elif not may_use_deploy_key(db, actor, key_id):
        raise Invalid(fingerprint=["has already been taken"])
    _add_to_project(db, actor, project, key_id, can_push=params.can_push)
    return find_deploy_key(db, project.id, key_id)


def create_public_deploy_key(db: Connection, params: CreatePublicDeployKey) -> DeployKey:
    """Add a key that maintainers of all projects can enable."""
    key = add_key(db, None, params.title, params.key, params.expires_at)
    db.update(ssh_keys, key.id, public=True)
    return find_public_deploy_key(db, key.id)


def enable_deploy_key(db: Connection, actor: Actor, project: Project, key_id: int) -> DeployKey:
    """Give a key of another project of the caller read access to a project; raise NotFound for other keys."""
    if deploy_key_project_or_none(db, key_id, project.id) is None:
        if not may_use_deploy_key(db, actor, key_id):
            raise NotFound("Deploy Key")
        _add_to_project(db, actor, project, key_id, can_push=False)
    return find_deploy_key(db, project.id, key_id)


def edit_deploy_key(db: Connection, project: Project, key_id: int, params: EditDeployKey) -> DeployKey:
    """Change a key's title, which is shared by all its projects, or whether it may push to this project."""
    link = deploy_key_project_or_none(db, key_id, project.id)
    if link is None:
        raise NotFound("Deploy Key")
    if params.title is not UNSET:
        rename_key(db, key_id, params.title)
    if params.can_push is not UNSET:
        db.update(deploy_key_projects, link.id, can_push=params.can_push)
    return find_deploy_key(db, project.id, key_id)


def remove_deploy_key(db: Connection, project_id: int, key_id: int) -> None:
    """Remove a key from a project, if it is there; delete the key when no project has it any more."""
    _lock_key(db, key_id)
    link = deploy_key_project_or_none(db, key_id, project_id)
    if link is not None:
        db.delete(deploy_key_projects, link.id)
        key = find_key(db, key_id)
        if db.run_counted(_DELETE_UNUSED, key=key_id):
            emit(db, KeyRemoved(key.id, key.user_id, key.key, key.created_at))


def remove_deploy_keys(db: Connection, project_id: int) -> None:
    """Remove all deploy keys from a project."""
    for key_id in deploy_key_ids(db, project_id):
        remove_deploy_key(db, project_id, key_id)


def _deploy_key_by_text(db: Connection, text: str) -> int | None:
    """Return the id of the deploy key with this text; malformed keys are reported when they are added."""
    try:
        key = key_by_fingerprint_or_none(db, parse_public_key(text).fingerprint_sha256)
    except Invalid:
        return None
    return key.id if key is not None and key.user_id is None else None


def _add_to_project(db: Connection, actor: Actor, project: Project, key_id: int, *, can_push: bool) -> None:
    if not _lock_key(db, key_id):
        raise NotFound("Deploy Key")
    db.insert_row(
        deploy_key_projects,
        key_id=key_id,
        project_id=project.id,
        creator_id=actor.user_id,
        can_push=can_push,
        created_at=db.now,
    )


def _lock_key(db: Connection, key_id: int) -> bool:
    """Lock a key's row until the end of the transaction; return whether it exists.

    Prevents that the key is deleted as unused while another transaction adds it to a project.
    """
    return db.run_counted(_LOCK, key=key_id) > 0
