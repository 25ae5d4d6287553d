"""Queries of packages and their files."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, bindparam, func, select

from ingot.ci.job_tokens.queries import allows_jobs
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.expressions import contains, in_list, like_pattern, one_of
from ingot.core.db.paging import Listing, ListQuery, Page, fetch_page, list_query
from ingot.core.errors import NotFound
from ingot.packages.records import policy
from ingot.packages.records.params import ListGroupPackages, ListPackageFiles, ListPackages
from ingot.packages.records.tables import (
    Package,
    PackageFile,
    PackageProtectionRule,
    PackageTag,
    PackageType,
    package_files,
    package_protection_rules,
    package_tags,
    packages,
)
from ingot.projects.namespaces.tables import namespace_tree
from ingot.projects.projects.tables import projects

_LISTED = ("default", "deprecated", "error")
_IN_PROJECT = packages.c.project_id == bindparam("project")
_BY_ID = select(packages).where(_IN_PROJECT, packages.c.id == bindparam("package"))
_BY_VERSION = select(packages).where(
    _IN_PROJECT,
    packages.c.package_type == bindparam("type"),
    packages.c.name_key == bindparam("name"),
    packages.c.version == bindparam("version"),
)
_VERSIONS = (
    select(packages)
    .where(
        _IN_PROJECT,
        packages.c.package_type == bindparam("type"),
        packages.c.name_key == bindparam("name"),
        packages.c.version != "",
    )
    .order_by(packages.c.id.desc())
    .limit(bindparam("most"))
)
_FILES = select(package_files).where(in_list(package_files.c.package_id, "packages")).order_by(package_files.c.id)
_FILE = select(package_files).where(
    package_files.c.package_id == bindparam("package"), package_files.c.file_name == bindparam("name")
)
_FILE_BY_ID = select(package_files).where(
    package_files.c.package_id == bindparam("package"), package_files.c.id == bindparam("file")
)
_TAGS = select(package_tags).where(in_list(package_tags.c.package_id, "packages")).order_by(package_tags.c.name)
_KEYS = select(package_files.c.storage_key).where(in_list(package_files.c.storage_key, "keys"))
_PATHS = select(projects.c.id, projects.c.full_path).where(in_list(projects.c.id, "projects"))
_RULES = select(package_protection_rules).where(
    package_protection_rules.c.project_id == bindparam("project"),
    package_protection_rules.c.package_type == bindparam("type"),
)
_RECORDED = (
    select(package_files.c.id, package_files.c.storage_key, package_files.c.size)
    .where(package_files.c.id > bindparam("after"))
    .order_by(package_files.c.id)
    .limit(500)
)
MAX_VERSIONS = 1000
"""Versions of a package that responses list."""
_ORDERS = {
    "created_at": packages.c.id,
    "name": packages.c.name_key,
    "version": packages.c.version,
    "type": packages.c.package_type,
    "project_path": projects.c.full_path_key,
}


class PackageScope(NamedTuple):
    """The packages that a client may read: those of a project or of a group."""

    condition: str
    values: dict[str, Any]


def in_scope(scope: str) -> ColumnElement[bool]:
    """Return the condition that a package is in a scope; projects are joined."""
    if scope == "project":
        return _IN_PROJECT
    direct = projects.c.namespace_id == bindparam("group")
    below = projects.c.namespace_id.in_(
        select(namespace_tree.c.descendant_id).where(namespace_tree.c.ancestor_id == bindparam("group"))
    )
    owner, _, caller = scope.partition(" ")
    within = {"group": below, "direct": direct, "instance": projects.c.namespace_id.is_not(None)}[owner]
    if caller == "all":
        return within & policy.packages_enabled()
    visible = within & policy.visible_packages(external=caller.startswith("external"))
    return visible & (allows_jobs() | policy.public_packages()) if caller.endswith("job") else visible


def group_scope(db: Connection, actor: Actor, group_id: int, *, reads_all: bool, owner: str = "group") -> PackageScope:
    """Return the packages below a group that the caller may read; all of them for administrators and deploy tokens."""
    if actor.admin or reads_all:
        return PackageScope(f"{owner} all", {"group": group_id})
    caller = "external" if actor.external else "user"
    values = {"group": group_id, "actor": actor.user_id, "today": db.today}
    if actor.job is None:
        return PackageScope(f"{owner} {caller}", values)
    return PackageScope(f"{owner} {caller} job", {**values, "job_project": actor.job.project_id})


def readable_in_group(db: Connection, actor: Actor, group_id: int) -> PackageScope:
    """Return the packages that a client may read below a group; all of them with a deploy token of the group."""
    reads_all = actor.deploy_token is not None and actor.deploy_token.group_id is not None
    return group_scope(db, actor, group_id, reads_all=reads_all)


def project_scope(project_id: int) -> PackageScope:
    """Return the packages of a project."""
    return PackageScope("project", {"project": project_id})


@lru_cache(maxsize=128)
def _list_query(scope: str, filters: frozenset[str], order_by: str, ascending: bool) -> ListQuery:
    conditions = {
        "type": packages.c.package_type == bindparam("type"),
        "search": contains(func.lower(packages.c.name), "pattern"),
        "version": packages.c.version == bindparam("version"),
        "versioned": packages.c.version != "",
        "status": packages.c.status == bindparam("status"),
        "listed": one_of(packages.c.status, *_LISTED),
    }
    matching = select(packages).where(in_scope(scope), *(conditions[name] for name in sorted(filters)))
    if scope != "project":
        matching = matching.join(projects, projects.c.id == packages.c.project_id)
    column = _ORDERS[order_by]
    order = [column] if order_by == "created_at" else [column, packages.c.id]
    return list_query(matching, packages.c.id, *(each.asc() if ascending else each.desc() for each in order))


def list_packages(
    db: Connection, scope: PackageScope, params: ListPackages | ListGroupPackages, page: Page
) -> Listing[Package]:
    """List the packages of a project or group."""
    values = dict(scope.values)
    filters = set()
    if params.package_type:
        filters.add("type")
        values["type"] = params.package_type
    if params.package_name:
        filters.add("search")
        values["pattern"] = like_pattern(params.package_name.lower())
    if params.package_version:
        filters.add("version")
        values["version"] = params.package_version
    elif not params.include_versionless:
        filters.add("versioned")
    if params.status:
        values["status"] = params.status
    filters.add("status" if params.status else "listed")
    query = _list_query(scope.condition, frozenset(filters), params.order_by, params.sort == "asc")
    return fetch_page(db, Package, query, page, **values)


@lru_cache(maxsize=32)
def _scope_query(scope: str, named: bool) -> Any:
    statement = (
        select(packages)
        .join(projects, projects.c.id == packages.c.project_id)
        .where(
            in_scope(scope),
            packages.c.package_type == bindparam("type"),
            one_of(packages.c.status, "default", "hidden", "deprecated"),
        )
        .order_by(packages.c.name_key, packages.c.id)
        .limit(bindparam("most"))
    )
    return statement.where(packages.c.name_key == bindparam("name")) if named else statement


def packages_in_scope(
    db: Connection,
    scope: PackageScope,
    package_type: PackageType,
    name_key: str | None = None,
    most: int = MAX_VERSIONS,
) -> list[Package]:
    """Return the packages of a type, with a name if one is given, that a client may install.

    Of a version that several projects of a group have, return only the one that was published first: otherwise everyone
    who may publish in one of the projects could replace the packages of all others.
    """
    named = {} if name_key is None else {"name": name_key}
    statement = _scope_query(scope.condition, name_key is not None)
    found = db.all(Package, statement, type=package_type, most=most, **named, **scope.values)
    first: dict[tuple[str, str], Package] = {}
    for package in found:
        first.setdefault((package.name_key, package.version), package)
    return list(first.values())


@lru_cache(maxsize=32)
def _file_in_scope_query(scope: str) -> Any:
    return (
        select(package_files)
        .join(packages, packages.c.id == package_files.c.package_id)
        .join(projects, projects.c.id == packages.c.project_id)
        .where(
            in_scope(scope),
            packages.c.package_type == bindparam("type"),
            package_files.c.sha256 == bindparam("sha256"),
            package_files.c.file_name == bindparam("name"),
        )
        .limit(1)
    )


def file_in_scope(
    db: Connection, scope: PackageScope, package_type: PackageType, sha256: str, name: str
) -> PackageFile:
    """Return a file by its name and digest that a client may read; raise NotFound if there is none."""
    statement = _file_in_scope_query(scope.condition)
    file = db.first(PackageFile, statement, type=package_type, sha256=sha256, name=name, **scope.values)
    if file is None:
        raise NotFound("Package")
    return file


def package_or_none(db: Connection, project_id: int, package_id: int) -> Package | None:
    """Return a package of a project."""
    return db.first(Package, _BY_ID, project=project_id, package=package_id)


def find_package(db: Connection, project_id: int, package_id: int) -> Package:
    """Return a package of a project; raise NotFound if there is none."""
    package = package_or_none(db, project_id, package_id)
    if package is None:
        raise NotFound("Package")
    return package


def package_by_version(
    db: Connection, project_id: int, package_type: PackageType, name_key: str, version: str
) -> Package | None:
    """Return the package of a project with a name and version."""
    return db.first(Package, _BY_VERSION, project=project_id, type=package_type, name=name_key, version=version)


def versions_of(db: Connection, package: Package) -> list[Package]:
    """Return all versions of a package, newest first."""
    return db.all(
        Package,
        _VERSIONS,
        project=package.project_id,
        type=package.package_type,
        name=package.name_key,
        most=MAX_VERSIONS,
    )


@lru_cache(maxsize=8)
def _file_query(order_by: str, ascending: bool) -> ListQuery:
    column = package_files.c[order_by]
    order = [column] if order_by == "id" else [column, package_files.c.id]
    matching = select(package_files).where(package_files.c.package_id == bindparam("package"))
    return list_query(matching, package_files.c.id, *(each.asc() if ascending else each.desc() for each in order))


def list_files(db: Connection, package: Package, params: ListPackageFiles, page: Page) -> Listing[PackageFile]:
    """List the files of a package."""
    return fetch_page(db, PackageFile, _file_query(params.order_by, params.sort == "asc"), page, package=package.id)


def files_of(db: Connection, package_ids: Sequence[int]) -> list[PackageFile]:
    """Return the files of packages."""
    return db.all(PackageFile, _FILES, packages=list(package_ids)) if package_ids else []


def file_or_none(db: Connection, package_id: int, name: str) -> PackageFile | None:
    """Return a file of a package by its name."""
    return db.first(PackageFile, _FILE, package=package_id, name=name)


def file_by_id_or_none(db: Connection, package_id: int, file_id: int) -> PackageFile | None:
    """Return a file of a package by its id."""
    return db.first(PackageFile, _FILE_BY_ID, package=package_id, file=file_id)


def tags_of(db: Connection, package_ids: Sequence[int]) -> list[PackageTag]:
    """Return the tags of packages."""
    return db.all(PackageTag, _TAGS, packages=list(package_ids)) if package_ids else []


def existing_file_keys(db: Connection, keys: Sequence[str]) -> set[str]:
    """Return those of these storage keys that a file of a package has."""
    return {key for (key,) in db.rows(_KEYS, keys=list(keys))}


def recorded_files(db: Connection, after: int) -> list[tuple[int, str, int]]:
    """List the next files with their ids, storage keys and sizes."""
    return [(row_id, key, size) for row_id, key, size in db.rows(_RECORDED, after=after)]


def project_paths(db: Connection, project_ids: Sequence[int]) -> dict[int, str]:
    """Return the full paths of projects."""
    return dict(db.rows(_PATHS, projects=list(project_ids))) if project_ids else {}


def rules_of_type(db: Connection, project_id: int, package_type: str) -> list[PackageProtectionRule]:
    """Return the protection rules of a project for a type of packages."""
    return db.all(PackageProtectionRule, _RULES, project=project_id, type=package_type)
