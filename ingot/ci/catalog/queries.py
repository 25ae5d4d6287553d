"""Queries of the CI/CD catalog."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, or_, select

from ingot.ci.catalog.params import ListResources
from ingot.ci.catalog.policy import visible_resources
from ingot.ci.catalog.tables import (
    CatalogComponent,
    CatalogResource,
    CatalogVersion,
    catalog_components,
    catalog_resources,
    catalog_versions,
)
from ingot.core.access.actor import Actor
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains_ignoring_case, in_list, like_pattern
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.policy import belongs_to_scanned_project, has_code
from ingot.projects.projects.tables import project_topics, projects
from ingot.repositories.tags.tables import releases

_resources, _versions, _components = catalog_resources.c, catalog_versions.c, catalog_components.c
_OF_PROJECT = select(catalog_resources).where(_resources.project_id == bindparam("project"))
_PROJECT_OF = select(_resources.project_id).where(_resources.id == bindparam("resource"))
_NEWEST_FIRST = (
    _versions.semver_major.desc(),
    _versions.semver_minor.desc(),
    _versions.semver_patch.desc(),
    (func.coalesce(_versions.semver_prerelease, "~")).desc(),
    _versions.id.desc(),
)
"""By semantic version: a pre-release, whose name has no tilde, comes before its release."""
_VERSION_COLUMNS = (
    *(_versions[name] for name in CatalogVersion.__struct_fields__ if name in _versions),
    releases.c.tag,
    releases.c.released_at,
)
_VERSIONS = select(*_VERSION_COLUMNS).join(releases, releases.c.id == _versions.release_id)
_OF_RESOURCE = _VERSIONS.where(_versions.resource_id == bindparam("resource"))
_NAMED = _OF_RESOURCE.where(releases.c.tag == bindparam("name"))
_BY_RELEASE = select(_versions.id).where(_versions.release_id == bindparam("release"))
_PAGE = list_query(_OF_RESOURCE, _versions.id, *_NEWEST_FIRST)
_NAMED_PAGE = list_query(_NAMED, _versions.id, *_NEWEST_FIRST)
_READMES = select(_versions.id, _versions.readme).where(in_list(_versions.id, "versions"))
_COMPONENTS = select(catalog_components).where(in_list(_components.version_id, "versions")).order_by(_components.name)
_IN_RANGE = _OF_RESOURCE.where(_versions.semver_prerelease.is_(None)).order_by(*_NEWEST_FIRST).limit(1)
_LATEST = {
    0: _IN_RANGE,
    1: _IN_RANGE.where(_versions.semver_major == bindparam("major")),
    2: _IN_RANGE.where(_versions.semver_major == bindparam("major"), _versions.semver_minor == bindparam("minor")),
}
_COMPONENT_AT = (
    select(_components.id)
    .join(catalog_versions, _versions.id == _components.version_id)
    .where(
        _versions.resource_id == bindparam("resource"),
        _versions.sha == bindparam("sha"),
        _components.name == bindparam("name"),
    )
    .order_by(*_NEWEST_FIRST)
    .limit(1)
)
_SORT_COLUMNS: dict[str, ColumnElement[Any]] = {
    "name": func.lower(projects.c.name),
    "created": _resources.created_at,
    "star_count": projects.c.star_count,
    "usage_count": _resources.usage_count,
}


def _latest_release_time() -> ColumnElement[Any]:
    return (
        select(releases.c.released_at)
        .join(catalog_versions, _versions.release_id == releases.c.id)
        .where(_versions.resource_id == _resources.id, _versions.semver_prerelease.is_(None))
        .order_by(*_NEWEST_FIRST)
        .limit(1)
        .scalar_subquery()
    )


_latest_versions = catalog_versions.alias()
_LATEST_OF = _VERSIONS.where(
    _versions.id.in_(
        select(
            select(_latest_versions.c.id)
            .where(
                _latest_versions.c.resource_id == _resources.id,
                _latest_versions.c.semver_prerelease.is_(None),
            )
            .order_by(
                _latest_versions.c.semver_major.desc(),
                _latest_versions.c.semver_minor.desc(),
                _latest_versions.c.semver_patch.desc(),
                _latest_versions.c.id.desc(),
            )
            .limit(1)
            .correlate(catalog_resources)
            .scalar_subquery()
        )
        .select_from(catalog_resources)
        .where(in_list(_resources.id, "resources"))
    )
)


@lru_cache(maxsize=256)
def _list_query(caller: str, filters: frozenset[str], sort: str) -> ListQuery:
    column, _, direction = sort.rpartition("_")
    key = func.coalesce(_latest_release_time(), "") if column == "latest_released_at" else _SORT_COLUMNS[column]
    published = select(_versions.id).where(_versions.resource_id == _resources.id).exists()
    query: Select[Any] = (
        select(catalog_resources).join(projects, projects.c.id == _resources.project_id).where(published, has_code())
    )
    if caller != "all":
        query = query.where(visible_resources(external=caller == "external"))
    if "namespaces" in filters:
        query = query.where(belongs_to_scanned_project(Level.GUEST))
    if "search" in filters:
        found = (contains_ignoring_case(projects.c[name], "search") for name in ("name", "description"))
        query = query.where(or_(*found))
    if "topics" in filters:
        tagged = select(project_topics.c.project_id).where(in_list(project_topics.c.name_key, "topics"))
        query = query.where(projects.c.id.in_(tagged))
    if "groups" in filters:
        below = select(namespace_tree.c.descendant_id).where(in_list(namespace_tree.c.ancestor_id, "groups"))
        query = query.where(projects.c.namespace_id.in_(below))
    order = (key.asc(), _resources.id.asc()) if direction == "asc" else (key.desc(), _resources.id.desc())
    return list_query(query, _resources.id, *order)


def list_resources(db: Connection, actor: Actor, params: ListResources, page: Page) -> Listing[CatalogResource]:
    """List a page of the catalog that the caller may see."""
    values: dict[str, Any] = {}
    filters = set()
    if params.search:
        filters.add("search")
        values["search"] = like_pattern(params.search)
    if params.topics:
        filters.add("topics")
        values["topics"] = [topic.casefold() for topic in params.topics]
    if params.group_ids:
        filters.add("groups")
        values["groups"] = params.group_ids
    if params.scope == "namespaces":
        filters.add("namespaces")
    if not actor.admin or params.scope == "namespaces":
        values |= {"actor": actor.user_id, "today": db.today}
    # The visibility "internal" is not open to visitors either.
    caller = "all" if actor.admin else "user" if actor.known and not actor.external else "external"
    return fetch_page(db, CatalogResource, _list_query(caller, frozenset(filters), params.sort), page, **values)


def resource_or_none(db: Connection, project_id: int) -> CatalogResource | None:
    """Return the catalog resource of a project, or None if the project is none."""
    return db.first(CatalogResource, _OF_PROJECT, project=project_id)


def find_resource(db: Connection, project_id: int) -> CatalogResource:
    """Return the catalog resource of a project; raise NotFound if the project is none."""
    resource = resource_or_none(db, project_id)
    if resource is None:
        raise NotFound("Catalog Resource")
    return resource


def project_of_resource_or_none(db: Connection, resource_id: int) -> int | None:
    """Return the project of a catalog resource, without a permission check."""
    project_id: int | None = db.value(_PROJECT_OF, resource=resource_id)
    return project_id


def list_versions(db: Connection, resource: CatalogResource, name: str, page: Page) -> Listing[CatalogVersion]:
    """List a page of the versions of a resource, the highest first; with a name only this one."""
    if name:
        return fetch_page(db, CatalogVersion, _NAMED_PAGE, page, resource=resource.id, name=name)
    return fetch_page(db, CatalogVersion, _PAGE, page, resource=resource.id)


def version_or_none(db: Connection, resource: CatalogResource, name: str) -> CatalogVersion | None:
    """Return the version with this name."""
    return db.first(CatalogVersion, _NAMED, resource=resource.id, name=name)


def is_published(db: Connection, release_id: int) -> bool:
    """Return whether a release has been published."""
    return db.value(_BY_RELEASE, release=release_id) is not None


def latest_version_or_none(db: Connection, resource: CatalogResource, *within: int) -> CatalogVersion | None:
    """Return the highest version that is no pre-release, within a major version or a major and a minor one."""
    values = dict(zip(("major", "minor"), within, strict=False))
    return db.first(CatalogVersion, _LATEST[len(within)], resource=resource.id, **values)


def latest_versions(db: Connection, resources: Sequence[CatalogResource]) -> dict[int, CatalogVersion]:
    """Return the highest versions that are no pre-releases, by the id of the resource; one statement."""
    ids = [resource.id for resource in resources]
    return {each.resource_id: each for each in db.all(CatalogVersion, _LATEST_OF, resources=ids)} if ids else {}


def components_by_version(db: Connection, version_ids: Collection[int]) -> dict[int, list[CatalogComponent]]:
    """Return the components of versions by the id of the version; one statement."""
    components: dict[int, list[CatalogComponent]] = {}
    for each in db.all(CatalogComponent, _COMPONENTS, versions=list(version_ids)) if version_ids else ():
        components.setdefault(each.version_id, []).append(each)
    return components


def component_at_or_none(db: Connection, resource: CatalogResource, sha: str, name: str) -> int | None:
    """Return the id of the component of the highest version of a commit."""
    component_id: int | None = db.value(_COMPONENT_AT, resource=resource.id, sha=sha, name=name)
    return component_id


def readmes_by_version(db: Connection, version_ids: Collection[int]) -> dict[int, str]:
    """Return the texts of the READMEs of versions by id; one statement."""
    return dict(db.rows(_READMES, versions=list(version_ids)))
