"""State changes of the CI/CD catalog."""

from collections.abc import Collection, Sequence

import msgspec
from sqlalchemy import bindparam, delete, func, select, update

from ingot.ci.catalog.queries import find_resource, is_published, resource_or_none
from ingot.ci.catalog.semver import SemanticVersion
from ingot.ci.catalog.tables import (
    CatalogResource,
    ComponentInput,
    catalog_component_usages,
    catalog_components,
    catalog_resources,
    catalog_versions,
)
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import in_list
from ingot.core.db.times import add_duration, day_of
from ingot.core.errors import Conflict
from ingot.projects.projects.tables import Project
from ingot.repositories.tags.queries import find_release
from ingot.repositories.tags.tables import Release

USAGE_DAYS = 30
_BATCH = 500
_usages, _components, _versions = catalog_component_usages.c, catalog_components.c, catalog_versions.c
_USED_ON = select(_usages.id, _usages.used_on).where(
    _usages.component_id == bindparam("component"), _usages.project_id == bindparam("project")
)
_EXISTING = select(_components.id).where(in_list(_components.id, "components")).order_by(_components.id)
_PROJECTS_OF_COMPONENT = select(func.count()).where(_usages.component_id == _components.id).scalar_subquery()
_PROJECTS_OF_RESOURCE = (
    select(func.count(_usages.project_id.distinct()))
    .join(catalog_components, _components.id == _usages.component_id)
    .join(catalog_versions, _versions.id == _components.version_id)
    .where(_versions.resource_id == catalog_resources.c.id)
    .correlate(catalog_resources)
    .scalar_subquery()
)
_COUNT_COMPONENTS = update(catalog_components).values(usage_count=_PROJECTS_OF_COMPONENT)
_COUNT_RESOURCES = update(catalog_resources).values(usage_count=_PROJECTS_OF_RESOURCE)
_COUNT = (
    _COUNT_COMPONENTS.where(in_list(_components.id, "components")),
    _COUNT_RESOURCES.where(
        catalog_resources.c.id.in_(
            select(_versions.resource_id)
            .join(catalog_components, _components.version_id == _versions.id)
            .where(in_list(_components.id, "components"))
        )
    ),
)
_COUNT_AGAIN = (
    _COUNT_COMPONENTS.where(_components.usage_count > 0),
    _COUNT_RESOURCES.where(catalog_resources.c.usage_count > 0),
)
_EXPIRED = (
    select(_usages.id, _usages.component_id)
    .where(_usages.used_on < bindparam("before"))
    .order_by(_usages.id)
    .limit(_BATCH)
)
_DELETE_USAGES = delete(catalog_component_usages).where(in_list(_usages.id, "usages"))


class ComponentSpec(msgspec.Struct, frozen=True):
    """A component as its file describes it."""

    name: str
    description: str | None
    inputs: Sequence[ComponentInput]


def create_resource(db: Connection, project: Project) -> CatalogResource:
    """Make a project a catalog resource; raise Conflict if it is one."""
    db.lock(f"catalog {project.id}")
    if resource_or_none(db, project.id) is not None:
        raise Conflict("The project is a catalog resource already")
    db.insert_row(catalog_resources, project_id=project.id, usage_count=0, created_at=db.now)
    return find_resource(db, project.id)


def delete_resource(db: Connection, project: Project) -> None:
    """Remove a project from the catalog, with its versions; its releases stay."""
    db.delete(catalog_resources, find_resource(db, project.id).id)


def add_version(
    db: Connection,
    actor: Actor,
    project: Project,
    release: Release,
    sha: str,
    semver: SemanticVersion,
    readme: str,
    components: Sequence[ComponentSpec],
) -> None:
    """Record a version of a release; raise Conflict if it has been published."""
    db.lock(f"catalog {project.id}")
    resource = resource_or_none(db, project.id)
    if resource is None:
        raise Conflict("Project is not a catalog resource")
    release = find_release(db, project.id, release.tag)
    if is_published(db, release.id):
        raise Conflict("Release has already been published")
    version_id = db.insert(
        catalog_versions,
        resource_id=resource.id,
        release_id=release.id,
        published_by_id=actor.user_id,
        sha=sha,
        semver_major=semver.major,
        semver_minor=semver.minor,
        semver_patch=semver.patch,
        semver_prerelease=semver.prerelease,
        readme=readme,
        created_at=db.now,
    )
    for each in components:
        inputs = msgspec.json.encode(each.inputs).decode()
        columns = {"name": each.name, "description": each.description, "inputs": inputs}
        db.insert_row(catalog_components, version_id=version_id, usage_count=0, **columns)


def record_usages(db: Connection, project_id: int, component_ids: Collection[int]) -> None:
    """Record that a pipeline of a project includes components; once a day nothing else than a read remains."""
    changed = []
    # A version may have been withdrawn since the configuration was read.
    for (component_id,) in db.rows(_EXISTING, components=sorted(component_ids)) if component_ids else ():
        rows = db.rows(_USED_ON, component=component_id, project=project_id)
        if not rows:
            columns = {"component_id": component_id, "project_id": project_id, "used_on": db.today}
            db.insert_row(catalog_component_usages, **columns)
            changed.append(component_id)
        elif rows[0][1] != db.today:
            db.update(catalog_component_usages, rows[0][0], used_on=db.today)
    _count(db, changed)


def expire_usages(db: Connection) -> bool:
    """Delete a batch of usages that are older than 30 days; return whether more may be left."""
    rows = db.rows(_EXPIRED, before=day_of(add_duration(db.now, days=-USAGE_DAYS)))
    if rows:
        db.run(_DELETE_USAGES, usages=[row[0] for row in rows])
        _count(db, sorted({row[1] for row in rows}))
    return len(rows) == _BATCH


def count_usages_again(db: Connection) -> None:
    """Correct the counts of components whose users or versions were deleted."""
    for statement in _COUNT_AGAIN:
        db.run(statement)


def _count(db: Connection, component_ids: Sequence[int]) -> None:
    for statement in _COUNT if component_ids else ():
        db.run(statement, components=component_ids)
