"""Pages of the packages of projects and groups."""

from collections.abc import Callable
from typing import Any

from ingot.core.api.params import number_or_none
from ingot.core.db.paging import Listing
from ingot.core.errors import NotFound
from ingot.packages.records import api as packages_api
from ingot.packages.records.views import PackageView
from ingot.web.form_errors import REQUEST_ERRORS, error_messages
from ingot.web.issues.group_context import ProjectOrGroupContext, group_context
from ingot.web.packages.instructions import install_commands
from ingot.web.packages.sections import packages_page
from ingot.web.page_routes import LocalRedirect, PageResponse, PageRoutes, TemplateResponse, Visit, text_field
from ingot.web.projects.context import ProjectContext, project_context

pages = PageRoutes()
TYPES = {"generic": "Generic", "pypi": "Python", "npm": "npm", "maven": "Maven"}


@pages.get("/:path/-/packages", open=True)
def show_packages(visit: Visit) -> PageResponse:
    """List the packages, newest first."""
    parent = project_context(visit)
    context = _listed(parent, packages_api.list_packages) | {"layout": "project.html"}
    return packages_page(parent, "packages/packages.html", "packages", context)


@pages.get("/groups/:path/-/packages", open=True)
def show_group_packages(visit: Visit) -> PageResponse:
    """List the packages of the projects in a group and its subgroups, newest first."""
    parent = group_context(visit)
    context = _listed(parent, packages_api.list_group_packages) | {"layout": "issues/group.html"}
    return packages_page(parent, "packages/packages.html", "packages", context)


def _listed(parent: ProjectOrGroupContext, endpoint: Callable[..., Listing[PackageView]]) -> dict[str, Any]:
    query = parent.visit.request.query
    name, kind = (text_field(query, field) for field in ("search", "type"))
    params = {"sort": "desc", "page": parent.visit.request.page, "per_page": 20, "package_name": name}
    if kind in TYPES:
        params["package_type"] = kind
    return {"packages": parent.ask(endpoint, params), "types": TYPES, "search": name, "kind": kind}


@pages.get("/:path/-/packages/:package", open=True)
def show_package(visit: Visit) -> PageResponse:
    """Show a package with its files and how to install it."""
    return _page(project_context(visit))


@pages.delete("/:path/-/packages/:package", notice="Package deleted.")
def delete_package(visit: Visit) -> PageResponse:
    """Delete a package."""
    parent = project_context(visit)
    try:
        parent.ask(packages_api.delete_package, package_id=_package_id(visit))
    except REQUEST_ERRORS as error:
        return _page(parent, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/packages")


@pages.delete("/:path/-/packages/:package/files/:file", notice="File deleted.")
def delete_package_file(visit: Visit) -> PageResponse:
    """Delete a file of a package."""
    parent = project_context(visit)
    package_id, file_id = _package_id(visit), visit.request.path["file"]
    if number_or_none(file_id) is None:
        raise NotFound("File")
    try:
        parent.ask(packages_api.delete_package_file, package_id=package_id, package_file_id=file_id)
    except REQUEST_ERRORS as error:
        return _page(parent, error_messages(error))
    return LocalRedirect(f"{parent.url}/-/packages/{package_id}")


def _package_id(visit: Visit) -> str:
    number = visit.request.path["package"]
    if number_or_none(number) is None:
        raise NotFound("Package")
    return number


def _page(parent: ProjectContext, errors: list[str] | None = None) -> TemplateResponse:
    number = _package_id(parent.visit)
    package: PackageView = parent.ask(packages_api.get_package, package_id=number)
    params = {"page": parent.visit.request.page, "per_page": 50}
    files = parent.ask(packages_api.list_package_files, params, package_id=number)
    context = {
        "package": package,
        "files": files,
        "kind": TYPES[package.package_type],
        "commands": install_commands(package, parent, files.items),
        "may_delete": parent.may(packages_api.delete_package, package_id=number),
        "errors": errors or [],
    }
    return packages_page(parent, "packages/package.html", "packages", context, 422 if errors else 200)
