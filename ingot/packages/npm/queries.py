"""Queries of npm packages and their tags."""

from sqlalchemy import bindparam, select

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.errors import NotFound
from ingot.packages.access.finders import find_client_project
from ingot.packages.records.policy import may_read_packages
from ingot.packages.records.queries import PackageScope, packages_in_scope
from ingot.packages.records.tables import Package, PackageTag, package_tags, packages
from ingot.projects.projects.tables import Project, projects

_BY_NAME = (
    select(packages.c.project_id)
    .join(projects, projects.c.id == packages.c.project_id)
    .where(
        packages.c.package_type == "npm",
        packages.c.name_key == bindparam("name"),
        projects.c.namespace_id.is_not(None),
        projects.c.full_path_key.like(bindparam("prefix"), escape="\\"),
    )
    .order_by(packages.c.id.desc())
    .limit(1)
)
_TAG = select(package_tags).where(
    package_tags.c.project_id == bindparam("project"),
    package_tags.c.package_name == bindparam("package"),
    package_tags.c.name == bindparam("name"),
)


def project_of_package(db: Connection, name: str) -> int | None:
    """Return the project that has a package whose scope is the top-level namespace of the project."""
    scope, _, rest = name.partition("/")
    if not scope.startswith("@") or not rest:
        return None
    escaped = scope[1:].lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    project_id: int | None = db.value(_BY_NAME, name=name, prefix=f"{escaped}/%")
    return project_id


def find_project_of_package(db: Connection, actor: Actor, name: str) -> Project:
    """Return the readable project of a package with a scope; raise NotFound or Unauthenticated."""
    access, project = find_client_project(db, actor, project_of_package(db, name) or 0)
    if not may_read_packages(actor, access, project):
        raise NotFound("Packages")
    return project


def find_versions(db: Connection, scope: PackageScope, name: str) -> list[Package]:
    """Return the versions of a package that a client may install; raise NotFound if there are none."""
    versions = packages_in_scope(db, scope, "npm", name)
    if not versions:
        raise NotFound("Packages")
    return versions


def tag_or_none(db: Connection, project_id: int, package_name: str, name: str) -> PackageTag | None:
    """Return a tag of a package."""
    return db.first(PackageTag, _TAG, project=project_id, package=package_name, name=name)
