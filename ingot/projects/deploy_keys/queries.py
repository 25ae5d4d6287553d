"""Queries of deploy keys."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, bindparam, exists, func, select

from ingot.accounts.keys.ports import KeyProject
from ingot.accounts.keys.tables import ssh_keys
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.paging import Listing, Page, fetch_page, list_query
from ingot.core.db.schema import Record
from ingot.core.errors import NotFound
from ingot.projects.deploy_keys.tables import DeployKey, DeployKeyProject, deploy_key_projects
from ingot.projects.projects.policy import belongs_to_project, projects_of_actor
from ingot.projects.projects.tables import projects


def _keys(can_push: ColumnElement[bool]) -> Select[Any]:
    shown = ("id", "title", "key", "fingerprint_sha256", "fingerprint_md5", "created_at", "expires_at", "last_used_at")
    return select(*(ssh_keys.c[name] for name in shown), can_push)


_links = deploy_key_projects
_PROJECTS_TO_ADMINISTER = select(projects.c.id).where(
    belongs_to_project(Level.MASTER), projects.c.namespace_id.is_not(None)
)
_OF_SOME_PROJECTS = and_(_links.c.key_id == ssh_keys.c.id, in_list(_links.c.project_id, "projects"))
_LIST_OF_PROJECTS = list_query(
    _keys(exists().where(_OF_SOME_PROJECTS, _links.c.can_push)).where(exists().where(_OF_SOME_PROJECTS)),
    ssh_keys.c.id,
    ssh_keys.c.id.asc(),
)
_OF_PROJECT = (
    _keys(_links.c.can_push)
    .join(_links, _links.c.key_id == ssh_keys.c.id)
    .where(_links.c.project_id == bindparam("project"))
)
_ONE_OF_PROJECT = _OF_PROJECT.where(ssh_keys.c.id == bindparam("key"))
_LIST = list_query(_OF_PROJECT, ssh_keys.c.id, ssh_keys.c.id.asc())
_CAN_PUSH_ANYWHERE = exists().where(_links.c.key_id == ssh_keys.c.id, _links.c.can_push)
_ALL_KEYS = _keys(_CAN_PUSH_ANYWHERE).where(ssh_keys.c.user_id.is_(None))
_LIST_ALL = list_query(_ALL_KEYS, ssh_keys.c.id, ssh_keys.c.id.asc())
_LIST_PUBLIC = list_query(_ALL_KEYS.where(ssh_keys.c.public), ssh_keys.c.id, ssh_keys.c.id.asc())
_PUBLIC_KEY = _ALL_KEYS.where(ssh_keys.c.public, ssh_keys.c.id == bindparam("key"))
_current_links = deploy_key_projects.alias()
_ENABLED = exists().where(_current_links.c.key_id == ssh_keys.c.id, _current_links.c.project_id == bindparam("project"))
_AVAILABLE = (
    select(ssh_keys.c.id, ssh_keys.c.title, ssh_keys.c.fingerprint_sha256, func.min(projects.c.full_path))
    .join(_links, _links.c.key_id == ssh_keys.c.id)
    .join(projects, projects.c.id == _links.c.project_id)
    .where(~_ENABLED, projects.c.namespace_id.is_not(None))
    .group_by(ssh_keys.c.id, ssh_keys.c.title, ssh_keys.c.fingerprint_sha256)
    .order_by(ssh_keys.c.title, ssh_keys.c.id)
    .limit(100)
)
_AVAILABLE_TO_ACTOR = _AVAILABLE.where(_links.c.project_id.in_(projects_of_actor(Level.MASTER).scalar_subquery()))
_LINK = select(_links).where(_links.c.key_id == bindparam("key"), _links.c.project_id == bindparam("project"))
_LINKS_OF_KEYS = select(_links).where(in_list(_links.c.key_id, "keys")).order_by(_links.c.id)
_LINKS_OF_KEY = (
    select(_links)
    .join(projects, projects.c.id == _links.c.project_id)
    .where(_links.c.key_id == bindparam("key"), projects.c.namespace_id.is_not(None))
    .order_by(_links.c.id)
)
_KEYS_OF_PROJECT = select(_links.c.key_id).where(_links.c.project_id == bindparam("project")).order_by(_links.c.key_id)
_IN_ANY = select(_links.c.id).where(_links.c.key_id == bindparam("key")).limit(1)
_IN_PROJECT_OF_ACTOR = _IN_ANY.where(_links.c.project_id.in_(projects_of_actor(Level.MASTER).scalar_subquery()))


class AvailableDeployKey(Record, frozen=True):
    """Deploy key of other projects, with the path of one of them."""

    id: int
    title: str
    fingerprint: str
    full_path: str


def list_available_deploy_keys(db: Connection, actor: Actor, project_id: int) -> list[AvailableDeployKey]:
    """List at most 100 deploy keys of the caller's other projects that this project does not have."""
    if actor.admin:
        return db.all(AvailableDeployKey, _AVAILABLE, project=project_id)
    return db.all(AvailableDeployKey, _AVAILABLE_TO_ACTOR, project=project_id, actor=actor.user_id, today=db.today)


def list_all_deploy_keys(db: Connection, page: Page, *, public: bool = False) -> Listing[DeployKey]:
    """List the deploy keys of all projects, or only those that all projects can enable, the oldest first."""
    return fetch_page(db, DeployKey, _LIST_PUBLIC if public else _LIST_ALL, page)


def find_public_deploy_key(db: Connection, key_id: int) -> DeployKey:
    """Return a deploy key that all projects can enable; raise NotFound if there is none."""
    key = db.first(DeployKey, _PUBLIC_KEY, key=key_id)
    if key is None:
        raise NotFound("Deploy Key")
    return key


def list_deploy_keys(db: Connection, project_id: int, page: Page) -> Listing[DeployKey]:
    """List the deploy keys of a project, the oldest first."""
    return fetch_page(db, DeployKey, _LIST, page, project=project_id)


def shared_project_ids(db: Connection, *user_ids: int) -> list[int]:
    """Return the ids of the projects of which all these users are masters."""
    today = db.today
    ids_by_user = [
        {project_id for (project_id,) in db.rows(_PROJECTS_TO_ADMINISTER, actor=user_id, today=today)}
        for user_id in user_ids
    ]
    return sorted(set.intersection(*ids_by_user))


def list_deploy_keys_of_projects(db: Connection, project_ids: Sequence[int], page: Page) -> Listing[DeployKey]:
    """List the deploy keys of some projects, the oldest first; they can push if they can in one of these projects."""
    return fetch_page(db, DeployKey, _LIST_OF_PROJECTS, page, projects=list(project_ids))


def find_deploy_key(db: Connection, project_id: int, key_id: int) -> DeployKey:
    """Return a deploy key of a project; raise NotFound if there is none."""
    key = db.first(DeployKey, _ONE_OF_PROJECT, project=project_id, key=key_id)
    if key is None:
        raise NotFound("Deploy Key")
    return key


def deploy_key_project_or_none(db: Connection, key_id: int, project_id: int) -> DeployKeyProject | None:
    """Return the permission of a key in a project."""
    return db.first(DeployKeyProject, _LINK, key=key_id, project=project_id)


def projects_of_key(db: Connection, key_id: int) -> list[KeyProject]:
    """Return the permissions of a key in all projects, in the order in which they were granted."""
    links = db.all(DeployKeyProject, _LINKS_OF_KEY, key=key_id)
    return [KeyProject(link.id, link.key_id, link.project_id, link.created_at, bool(link.can_push)) for link in links]


def links_of_keys(db: Connection, key_ids: Sequence[int]) -> list[DeployKeyProject]:
    """Return the permissions of keys in all projects, in one statement."""
    return db.all(DeployKeyProject, _LINKS_OF_KEYS, keys=list(key_ids))


def deploy_key_ids(db: Connection, project_id: int) -> list[int]:
    """Return the ids of all deploy keys of a project."""
    return [key_id for (key_id,) in db.rows(_KEYS_OF_PROJECT, project=project_id)]


def may_use_deploy_key(db: Connection, actor: Actor, key_id: int) -> bool:
    """Check whether the deploy key is public, or the caller is a master of a project that has it."""
    if db.first(DeployKey, _PUBLIC_KEY, key=key_id) is not None:
        return True
    if actor.admin:
        return db.value(_IN_ANY, key=key_id) is not None
    return db.value(_IN_PROJECT_OF_ACTOR, key=key_id, actor=actor.user_id, today=db.today) is not None
