"""Endpoints of packages and their files."""

from ingot.core.access.levels import Access
from ingot.core.api.params import path_number
from ingot.core.api.routes import Call, ContentResponse, Routes
from ingot.core.db.paging import Listing, Page
from ingot.core.errors import NotFound
from ingot.packages.files.downloads import download_response
from ingot.packages.files.store import package_store_of
from ingot.packages.records import policy, queries, service
from ingot.packages.records.params import ListGroupPackages, ListPackageFiles, ListPackages
from ingot.packages.records.rules import require_deletion_allowed
from ingot.packages.records.tables import PackageFile
from ingot.packages.records.views import PackageFileView, PackageView, file_view, package_view, package_views
from ingot.projects.groups.api import group_in_path
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

routes = Routes("packages")


@routes.get(
    "/projects/:id/packages",
    on=project_in_path,
    may=policy.may_read_packages,
    returns=list[PackageView],
    open=True,
    job_token=True,
)
def list_packages(call: Call, project: Project, params: ListPackages, page: Page) -> Listing[PackageView]:
    """List the packages of a project."""
    listing = queries.list_packages(call.db, queries.project_scope(project.id), params, page)
    deletable = _may_delete(call, project)
    return listing.of(package_views(call.db, call.actor, listing.items, call.origin.base, deletable=deletable))


@routes.get("/groups/:id/packages", on=group_in_path, may=may_see_group, returns=list[PackageView], open=True)
def list_group_packages(call: Call, group: Namespace, params: ListGroupPackages, page: Page) -> Listing[PackageView]:
    """List the packages of the projects in a group and its subgroups."""
    owner = "direct" if params.exclude_subgroups else "group"
    scope = queries.group_scope(call.db, call.actor, group.id, reads_all=False, owner=owner)
    listing = queries.list_packages(call.db, scope, params, page)
    return listing.of(package_views(call.db, call.actor, listing.items, call.origin.base, in_group=True))


@routes.get(
    "/projects/:id/packages/:package_id",
    on=project_in_path,
    may=policy.may_read_packages,
    returns=PackageView,
    open=True,
    job_token=True,
)
def get_package(call: Call, project: Project) -> PackageView:
    """Get a package with its other versions."""
    package = queries.find_package(call.db, project.id, path_number(call.path, "package_id"))
    return package_view(call.db, call.actor, package, call.origin.base, deletable=_may_delete(call, project))


@routes.delete(
    "/projects/:id/packages/:package_id",
    on=project_in_path,
    may=policy.may_delete_packages,
    returns=None,
    status=204,
    job_token=True,
)
def delete_package(call: Call, project: Project) -> None:
    """Delete a package and its files."""
    package = queries.find_package(call.db, project.id, path_number(call.path, "package_id"))
    require_deletion_allowed(call.db, call.actor, _access(call, project), package)
    service.delete_package(call.db, package)


@routes.get(
    "/projects/:id/packages/:package_id/package_files",
    on=project_in_path,
    may=policy.may_read_packages,
    returns=list[PackageFileView],
    open=True,
    job_token=True,
)
def list_package_files(call: Call, project: Project, params: ListPackageFiles, page: Page) -> Listing[PackageFileView]:
    """List the files of a package."""
    package = queries.find_package(call.db, project.id, path_number(call.path, "package_id"))
    listing = queries.list_files(call.db, package, params, page)
    return listing.of([file_view(file) for file in listing.items])


@routes.get(
    "/projects/:id/packages/:package_id/package_files/:package_file_id/download",
    on=project_in_path,
    may=policy.may_read_packages,
    returns=ContentResponse,
    instead={302: None},
    open=True,
    job_token=True,
    heavy=True,
)
def download_package_file(call: Call, project: Project) -> ContentResponse:
    """Download a file of a package."""
    file = _find_file(call, project)
    return download_response(call.db, package_store_of(call.settings), file)


@routes.delete(
    "/projects/:id/packages/:package_id/package_files/:package_file_id",
    on=project_in_path,
    may=policy.may_delete_packages,
    returns=None,
    status=204,
    job_token=True,
)
def delete_package_file(call: Call, project: Project) -> None:
    """Delete a file of a package."""
    package = queries.find_package(call.db, project.id, path_number(call.path, "package_id"))
    require_deletion_allowed(call.db, call.actor, _access(call, project), package)
    service.delete_file(call.db, _find_file(call, project))


def _find_file(call: Call, project: Project) -> PackageFile:
    package = queries.find_package(call.db, project.id, path_number(call.path, "package_id"))
    file = queries.file_by_id_or_none(call.db, package.id, path_number(call.path, "package_file_id"))
    if file is None:
        raise NotFound("Package File")
    return file


def _access(call: Call, project: Project) -> Access:
    access, _ = find_project(call.db, call.actor, project.id)
    return access


def _may_delete(call: Call, project: Project) -> bool:
    return policy.may_delete_packages(call.actor, _access(call, project), project)
