"""Destinations of imports: new projects and groups, and those of earlier runs, with the permission to import there."""

from typing import NamedTuple, cast

from sqlalchemy import bindparam, or_, select

from ingot.accounts.instance.settings import Visibility
from ingot.accounts.users.queries import find_user
from ingot.activity.tables import events
from ingot.core.access.actor import Actor
from ingot.core.access.levels import NO_ACCESS
from ingot.core.access.rules import require
from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Invalid, NotFound
from ingot.core.names import NAMESPACES
from ingot.import_export.runs.queries import source_of_project_or_none
from ingot.import_export.runs.service import link_source, set_entity
from ingot.import_export.source import Inventory
from ingot.import_export.tables import ImportEntity, ImportRun
from ingot.projects.groups.policy import may_create_group, may_create_subgroup
from ingot.projects.groups.queries import find_group
from ingot.projects.namespaces.queries import namespace_by_path
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import may_create_in
from ingot.projects.projects.attributes import path_from_name
from ingot.projects.projects.params import CreateProject
from ingot.projects.projects.policy import may_admin_project
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.service import create_project
from ingot.projects.projects.tables import Project, projects

TAKEN = "has already been taken by a project that was not imported from this source"


_USE = (
    select(events.c.id)
    .where(
        events.c.project_id == bindparam("project"), or_(events.c.target_kind.is_not(None), events.c.push.is_not(None))
    )
    .limit(1)
)


class Destination(NamedTuple):
    """Project of an earlier run, which a repeated run continues."""

    project_id: int
    import_id: int


def destination_namespace(db: Connection, actor: Actor, full_path: str) -> Namespace:
    """Return the namespace for an imported project; raise the same error for missing and forbidden ones."""
    namespace = namespace_by_path(db, full_path.strip("/")) if full_path.strip("/") else None
    if namespace is None or not may_create_in(db, actor, namespace):
        raise Invalid(namespace=["is not valid"])
    return namespace


def existing_destination_or_none(
    db: Connection, actor: Actor, entity: ImportEntity, host: str, inventory: Inventory
) -> Destination | None:
    """Return the project that an earlier run created, or None; raise Conflict if the path is taken by another one."""
    namespace = destination_namespace(db, actor, entity.destination_namespace)
    try:
        access, project = find_project(db, actor, f"{namespace.full_path}/{_path(entity, inventory)}")
    except NotFound:
        return None
    require(may_admin_project(actor, access, project))
    return destination_of(db, project, host, inventory.full_path)


def destination_of(db: Connection, project: Project, host: str, source_key: str) -> Destination:
    """Return an existing project as a destination; raise Conflict if it was not imported from this source."""
    source = source_of_project_or_none(db, project.id)
    if source is None or (source.source_host, source.source_key) != (host, source_key):
        raise Conflict(path=[TAKEN])
    return Destination(project.id, source.id)


def is_left_by_failed_import(db: Connection, project: Project) -> bool:
    """Return whether a project is what a failed or canceled import left, and nobody has used it since."""
    return project.import_status in ("failed", "canceled") and db.value(_USE, project=project.id) is None


def create_destination(
    db: Connection,
    actor: Actor,
    run: ImportRun,
    entity: ImportEntity,
    host: str,
    inventory: Inventory,
    key: str,
    branch: str,
    visibility: str | None,
) -> None:
    """Create the project of an entity."""
    db.lock(NAMESPACES)
    namespace = destination_namespace(db, actor, entity.destination_namespace)
    name = inventory.name if entity.destination_name == entity.destination_slug else entity.destination_name
    project = create_imported_project(
        db, actor, namespace, name or inventory.path, _path(entity, inventory), key, branch, visibility
    )
    # Otherwise a copy of a repository without a job would be seen in the project.
    db.update(projects, project.id, import_type=run.source_type)
    import_id = link_source(db, run.source_type, host, inventory.full_path, project_id=project.id)
    set_entity(db, entity, project_id=project.id, import_id=import_id)


def create_imported_project(
    db: Connection,
    actor: Actor,
    namespace: Namespace,
    name: str,
    path: str,
    key: str,
    branch: str,
    visibility: str | None = None,
) -> Project:
    """Create a private project for an import; if another one has its name, the path becomes the name."""
    chosen = cast("Visibility", visibility or "private")
    try:
        params = CreateProject(name=name, path=path, visibility=chosen)
        return create_project(db, actor, params, namespace, key, branch, import_status="scheduled")
    except Invalid as error:
        if "name" not in error.errors or name == path:
            raise
    params = CreateProject(name=path, path=path, visibility=chosen)
    return create_project(db, actor, params, namespace, key, branch, import_status="scheduled")


def _path(entity: ImportEntity, inventory: Inventory) -> str:
    return entity.destination_slug or path_from_name(inventory.path)


def group_parent(db: Connection, actor: Actor, full_path: str) -> Namespace | None:
    """Return the parent of an imported group, None at the top level; raise Invalid if there is none."""
    path, creator = full_path.strip("/"), find_user(db, actor.user_id)
    if not path:
        require(may_create_group(actor, NO_ACCESS, creator))
        return None
    try:
        access, group = find_group(db, actor, path)
    except NotFound as error:
        raise Invalid(namespace=["is not valid"]) from error
    require(may_create_subgroup(actor, access, group, creator))
    return group
