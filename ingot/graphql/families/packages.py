"""Packages."""

from collections.abc import Collection, Sequence
from typing import Any

from msgspec import UNSET
from sqlalchemy import select

from ingot.core.db.expressions import in_list
from ingot.graphql.connections import ConnectionPage, connection_of, listed
from ingot.graphql.context import QueryContext
from ingot.graphql.global_ids import to_global_id
from ingot.graphql.loaders import load_projects
from ingot.graphql.params import given
from ingot.graphql.resolvers import Arguments, Resolvers
from ingot.packages.records.tables import packages
from ingot.packages.records.views import PackageView

resolvers = Resolvers()
resolvers.rename("Package", _links="links")
_UPDATED = select(packages.c.id, packages.c.updated_at).where(in_list(packages.c.id, "ids"))
_ORDERS = {
    "CREATED": "created_at",
    "NAME": "name",
    "VERSION": "version",
    "TYPE": "type",
    "PROJECT_PATH": "project_path",
}
_TYPES = ("GENERIC", "MAVEN", "NPM", "PYPI")


def _params(arguments: Arguments) -> dict[str, Any]:
    column, _, direction = (arguments.get("sort") or "CREATED_DESC").rpartition("_")
    params = given(
        arguments,
        package_name="packageName",
        package_version="packageVersion",
        include_versionless="includeVersionless",
    )
    params |= {"order_by": _ORDERS[column], "sort": direction.lower()}
    for name, argument in (("package_type", "packageType"), ("status", "status")):
        if arguments.get(argument):
            params[name] = arguments[argument].lower()
    return params


def _has_no_such_type(arguments: Arguments) -> bool:
    return arguments.get("packageType") is not None and arguments["packageType"] not in _TYPES


@resolvers.single("Project.packages")
def list_project_packages(context: QueryContext, project: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the packages of a project."""
    if _has_no_such_type(arguments):
        return connection_of([], arguments)
    page = listed(context, "GET /projects/:id/packages", arguments, _params(arguments), id=project.id)
    for package in page.nodes:
        package.project_id = project.id  # Only lists of groups contain it.
    return page


@resolvers.single("Group.packages")
def list_group_packages(context: QueryContext, group: Any, arguments: Arguments) -> ConnectionPage:
    """Return a page of the packages of the projects in a group."""
    if _has_no_such_type(arguments):
        return connection_of([], arguments)
    return listed(context, "GET /groups/:id/packages", arguments, _params(arguments), id=group.id)


@resolvers.value("Package.id")
def package_id(_: QueryContext, package: PackageView) -> str:
    """Return the global id."""
    return to_global_id("Packages::Package", package.id)


@resolvers.value("PackageTag.id")
def tag_id(_: QueryContext, tag: Any) -> str:
    """Return the global id."""
    return to_global_id("Packages::Tag", tag.id)


@resolvers.batch("Package.project")
def find_projects(context: QueryContext, listed_packages: Sequence[PackageView], _: Arguments) -> list[Any]:
    """Return the projects of packages."""
    found = load_projects(context, {package.project_id for package in listed_packages if package.project_id})
    return [found.get(package.project_id) if package.project_id else None for package in listed_packages]


@resolvers.batch("Package.updatedAt")
def updated_at(context: QueryContext, listed_packages: Sequence[PackageView], _: Arguments) -> list[Any]:
    """Return the times of the last changes, which REST responses do not contain."""

    def fetch(missing: Collection[int]) -> dict[int, Any]:
        return dict(context.read(lambda db: db.rows(_UPDATED, ids=sorted(missing))))

    times = context.load("updates of packages", [package.id for package in listed_packages], fetch)
    return [times[package.id] for package in listed_packages]


@resolvers.batch("Package.tags")
def list_tags(_: QueryContext, listed_packages: Sequence[PackageView], arguments: Arguments) -> list[ConnectionPage]:
    """Return the tags of packages."""
    return [connection_of(package.tags, arguments) for package in listed_packages]


@resolvers.value("Package.userPermissions")
def find_permissions(_: QueryContext, package: PackageView) -> dict[str, bool]:
    """Return whether the caller may delete a package."""
    return {"destroy_package": package.links.delete_api_path is not UNSET}
