"""Letting keys into projects, and out again; a key that opens nothing any more is gone."""

from msgspec import UNSET
from sqlalchemy import bindparam, delete, exists, update

from ingot.access.actor import Actor
from ingot.db.connection import Connection
from ingot.deploy_keys.params import CreateDeployKey, EditDeployKey
from ingot.deploy_keys.queries import find_deploy_key, keys_of_project, knows_deploy_key, link_or_none
from ingot.deploy_keys.tables import DeployKey, deploy_key_projects
from ingot.errors import Invalid, NotFound
from ingot.events.bus import emit
from ingot.projects.tables import Project
from ingot.users.keys.events import KeyRemoved
from ingot.users.keys.parsing import parse_public_key
from ingot.users.keys.queries import find_key, key_by_fingerprint
from ingot.users.keys.service import add_key, rename_key
from ingot.users.keys.tables import ssh_keys

_HOLD = (
    update(ssh_keys)
    .where(ssh_keys.c.id == bindparam("key"), ssh_keys.c.user_id.is_(None))
    .values(title=ssh_keys.c.title)
)
_DROP_UNUSED = delete(ssh_keys).where(
    ssh_keys.c.id == bindparam("key"),
    ssh_keys.c.user_id.is_(None),
    ~exists().where(deploy_key_projects.c.key_id == ssh_keys.c.id),
)


def create_deploy_key(db: Connection, actor: Actor, project: Project, wanted: CreateDeployKey) -> DeployKey:
    """Let a key into a project: a new one, or one that the caller knows from another project of theirs."""
    known = _deploy_key_like(db, wanted.key)
    if known is None:
        known = add_key(db, None, wanted.title, wanted.key, wanted.expires_at).id
    elif link_or_none(db, known, project.id) is not None:
        return find_deploy_key(db, project.id, known)
    elif not knows_deploy_key(db, actor, known):
        raise Invalid(fingerprint=["has already been taken"])
    _link(db, actor, project, known, can_push=wanted.can_push)
    return find_deploy_key(db, project.id, known)


def enable_deploy_key(db: Connection, actor: Actor, project: Project, key_id: int) -> DeployKey:
    """Let in a key that the caller knows from another project of theirs; it may read."""
    if link_or_none(db, key_id, project.id) is None:
        if not knows_deploy_key(db, actor, key_id):
            raise NotFound("Deploy Key")
        _link(db, actor, project, key_id, can_push=False)
    return find_deploy_key(db, project.id, key_id)


def edit_deploy_key(db: Connection, project: Project, key_id: int, wanted: EditDeployKey) -> DeployKey:
    """Change a key's title, which all its projects show, or whether it may push to this one."""
    link = link_or_none(db, key_id, project.id)
    if link is None:
        raise NotFound("Deploy Key")
    if wanted.title is not UNSET:
        rename_key(db, key_id, wanted.title)
    if wanted.can_push is not UNSET:
        db.update(deploy_key_projects, link.id, can_push=wanted.can_push)
    return find_deploy_key(db, project.id, key_id)


def drop_deploy_key(db: Connection, project_id: int, key_id: int) -> None:
    """Let a key into a project no more; none is no error."""
    _hold(db, key_id)
    link = link_or_none(db, key_id, project_id)
    if link is not None:
        db.delete(deploy_key_projects, link.id)
        key = find_key(db, key_id)
        if db.run(_DROP_UNUSED, key=key_id):
            emit(db, KeyRemoved(key.id, key.user_id, key.key, key.created_at))


def drop_deploy_keys(db: Connection, project_id: int) -> None:
    """Let no key into a project any more."""
    for key_id in keys_of_project(db, project_id):
        drop_deploy_key(db, project_id, key_id)


def _deploy_key_like(db: Connection, text: str) -> int | None:
    """The deploy key that a text spells, if there is one; what is no key at all is refused where it is added."""
    try:
        known = key_by_fingerprint(db, parse_public_key(text).fingerprint_sha256)
    except Invalid:
        return None
    return known.id if known is not None and known.user_id is None else None


def _link(db: Connection, actor: Actor, project: Project, key_id: int, *, can_push: bool) -> None:
    if not _hold(db, key_id):
        raise NotFound("Deploy Key")
    db.insert(
        deploy_key_projects,
        key_id=key_id,
        project_id=project.id,
        creator_id=actor.user_id,
        can_push=can_push,
        created_at=db.now,
    )


def _hold(db: Connection, key_id: int) -> bool:
    """Lock a key's row until the end, so that it is not dropped as unused while somebody lets it in elsewhere."""
    return db.run(_HOLD, key=key_id) > 0
