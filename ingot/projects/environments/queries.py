"""Queries of environments and deployments."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import bindparam, func, select

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.db.times import Timestamp
from ingot.core.errors import Invalid, NotFound
from ingot.projects.environments.params import ListDeployments, ListEnvironments
from ingot.projects.environments.protection.queries import has_rule
from ingot.projects.environments.tables import Deployment, Environment, deployments, environments
from ingot.projects.projects.tables import Project, projects

MIN_SEARCH_LENGTH = 3

_IN_PROJECT = select(environments).where(environments.c.project_id == bindparam("project"))
_BY_ID = _IN_PROJECT.where(environments.c.id == bindparam("environment"))
_BY_NAME = _IN_PROJECT.where(environments.c.name == bindparam("name"))
_BY_SLUG = _IN_PROJECT.where(environments.c.slug == bindparam("slug"))
_BY_URL = _IN_PROJECT.where(environments.c.external_url == bindparam("url"))
_ENVIRONMENT_CONDITIONS = {
    "name": environments.c.name == bindparam("name"),
    "search": contains(environments.c.name_key, "pattern"),
    "state": environments.c.state == bindparam("state"),
}
_STOPPED_REVIEW_APPS = (
    _IN_PROJECT.where(
        environments.c.state == "stopped",
        environments.c.name.startswith("review/"),
        environments.c.created_at < bindparam("before"),
        environments.c.auto_delete_at.is_(None),
        ~has_rule(),
    )
    .order_by(environments.c.created_at, environments.c.id)
    .limit(bindparam("count"))
)

_DEPLOYMENTS = (
    select(
        deployments,
        environments.c.name,
        environments.c.slug,
        environments.c.external_url,
        environments.c.created_at,
        environments.c.updated_at,
        users.c.username,
        users.c.name,
        users.c.state,
        users.c.avatar_id,
        users.c.avatar_file,
        users.c.bot,
    )
    .join(environments, environments.c.id == deployments.c.environment_id)
    .outerjoin(users, users.c.id == deployments.c.user_id)
    .where(deployments.c.project_id == bindparam("project"))
)
_DEPLOYMENT = _DEPLOYMENTS.where(deployments.c.id == bindparam("deployment"))
_LAST_DEPLOYMENT = (
    _DEPLOYMENTS.where(deployments.c.environment_id == bindparam("environment"), deployments.c.status == "success")
    .order_by(deployments.c.id.desc())
    .limit(1)
)
_NEWEST_IDS = (
    select(func.max(deployments.c.id))
    .where(in_list(deployments.c.environment_id, "environments"))
    .group_by(deployments.c.environment_id)
)
_NEWEST_DEPLOYMENTS = _DEPLOYMENTS.where(deployments.c.id.in_(_NEWEST_IDS))
_DEPLOYMENT_CONDITIONS = {
    "environment": environments.c.name == bindparam("environment"),
    "status": deployments.c.status == bindparam("status"),
    "updated_after": deployments.c.updated_at >= bindparam("updated_after"),
    "updated_before": deployments.c.updated_at <= bindparam("updated_before"),
    "finished_after": deployments.c.finished_at >= bindparam("finished_after"),
    "finished_before": deployments.c.finished_at <= bindparam("finished_before"),
}
# The row lock serializes the numbering of deployments in a project; concurrent requests would get the same iid.
_LOCK_PROJECT = select(projects.c.id).where(projects.c.id == bindparam("project")).with_for_update()
_LAST_IID = select(func.max(deployments.c.iid)).where(deployments.c.project_id == bindparam("project"))


@lru_cache(maxsize=16)
def _environment_query(filters: frozenset[str]) -> ListQuery:
    matching = _IN_PROJECT.where(*(_ENVIRONMENT_CONDITIONS[name] for name in sorted(filters)))
    return list_query(matching, environments.c.id, environments.c.id.asc())


def list_environments(db: Connection, project: Project, params: ListEnvironments, page: Page) -> Listing[Environment]:
    """List a project's environments; raise Invalid for a combination of filters that GitLab refuses."""
    if params.name and params.search:
        raise Invalid("400 (Bad request) name and search cannot be used together")
    if params.search and len(params.search) < MIN_SEARCH_LENGTH:
        raise Invalid(f"400 (Bad request) search must have at least {MIN_SEARCH_LENGTH} characters")
    filters: set[str] = set()
    values: dict[str, Any] = {"project": project.id}
    if params.name:
        filters.add("name")
        values["name"] = params.name
    if params.search:
        filters.add("search")
        values["pattern"] = like_pattern(params.search)
    if params.states is not None:
        filters.add("state")
        values["state"] = params.states
    return fetch_page(db, Environment, _environment_query(frozenset(filters)), page, **values)


def environment_or_none(db: Connection, project: Project, environment_id: int) -> Environment | None:
    """Return an environment of a project."""
    return db.first(Environment, _BY_ID, project=project.id, environment=environment_id)


def find_environment(db: Connection, project: Project, environment_id: int) -> Environment:
    """Return an environment of a project; raise NotFound if there is none."""
    environment = environment_or_none(db, project, environment_id)
    if environment is None:
        raise NotFound("Environment")
    return environment


def environment_by_name_or_none(db: Connection, project: Project, name: str) -> Environment | None:
    """Return the environment with exactly this name."""
    return db.first(Environment, _BY_NAME, project=project.id, name=name)


def environment_by_slug_or_none(db: Connection, project: Project, slug: str) -> Environment | None:
    """Return the environment with this slug."""
    return db.first(Environment, _BY_SLUG, project=project.id, slug=slug)


def environment_by_url_or_none(db: Connection, project: Project, url: str) -> Environment | None:
    """Return the environment with this external URL."""
    return db.first(Environment, _BY_URL, project=project.id, url=url)


def stopped_review_apps(db: Connection, project: Project, before: Timestamp, limit: int) -> list[Environment]:
    """Return stopped, unprotected environments of the folder ``review`` from before a time, oldest first."""
    return db.all(Environment, _STOPPED_REVIEW_APPS, project=project.id, before=before, count=limit)


@lru_cache(maxsize=256)
def _deployment_query(filters: frozenset[str], order_by: str, sort: str) -> ListQuery:
    matching = _DEPLOYMENTS.where(*(_DEPLOYMENT_CONDITIONS[name] for name in sorted(filters)))
    columns = [deployments.c[order_by], deployments.c.id]
    order = [column.asc() if sort == "asc" else column.desc() for column in columns]
    return list_query(matching, deployments.c.id, *order)


def list_deployments(db: Connection, project: Project, params: ListDeployments, page: Page) -> Listing[Deployment]:
    """List a project's deployments."""
    filters = {name: getattr(params, name) for name in _DEPLOYMENT_CONDITIONS}
    values = {name: value for name, value in filters.items() if value}
    query = _deployment_query(frozenset(values), params.order_by, params.sort)
    return fetch_page(db, Deployment, query, page, project=project.id, **values)


def find_deployment(db: Connection, project: Project, deployment_id: int) -> Deployment:
    """Return a deployment of a project; raise NotFound if there is none."""
    deployment = db.first(Deployment, _DEPLOYMENT, project=project.id, deployment=deployment_id)
    if deployment is None:
        raise NotFound("Deployment")
    return deployment


def last_deployment_or_none(db: Connection, project: Project, environment: Environment) -> Deployment | None:
    """Return the last successful deployment of an environment."""
    return db.first(Deployment, _LAST_DEPLOYMENT, project=project.id, environment=environment.id)


def newest_deployments(db: Connection, project: Project, environment_ids: Sequence[int]) -> list[Deployment]:
    """Return the newest deployment of each environment, also if it runs or has failed."""
    return db.all(Deployment, _NEWEST_DEPLOYMENTS, project=project.id, environments=list(environment_ids))


def next_iid(db: Connection, project: Project) -> int:
    """Return the iid of the project's next deployment; holds a row lock until the transaction ends."""
    db.value(_LOCK_PROJECT, project=project.id)
    last: int | None = db.value(_LAST_IID, project=project.id)
    return (last or 0) + 1
