"""Endpoints of Python packages, for pip and twine."""

from ingot.core.api.routes import Call, ContentResponse, RawResponse, Routes
from ingot.core.errors import Invalid, NotFound
from ingot.packages.access.finders import (
    package_group_in_path,
    package_project_in_path,
    writable_project_in_path,
)
from ingot.packages.files.downloads import download_response
from ingot.packages.files.store import package_store_of
from ingot.packages.pypi.simple_index import files_page, index_page, normalized_name
from ingot.packages.pypi.uploads import PythonUpload, receive_python_file
from ingot.packages.records import policy, service
from ingot.packages.records.queries import (
    PackageScope,
    file_in_scope,
    files_of,
    packages_in_scope,
    project_scope,
    readable_in_group,
)
from ingot.packages.records.upload_access import require_push_to
from ingot.packages.records.views import MessageView
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project

routes = Routes("packages")
MAX_INDEXED = 20_000
_HTML = "text/html; charset=utf-8"


@routes.post(
    "/projects/:id/packages/pypi",
    on=writable_project_in_path,
    may=policy.may_write_packages,
    returns=MessageView,
    open=True,
    package_client=True,
    read_body=receive_python_file,
)
def upload_python_file(call: Call, project: Project, upload: PythonUpload) -> MessageView:
    """Upload a file of a Python package."""
    require_push_to(call.db, call.actor, project.id, "pypi", upload.name)
    package = service.find_or_create_package(
        call.db,
        call.actor,
        project,
        "pypi",
        upload.name,
        upload.version,
        name_key=upload.name_key,
        properties={"requires_python": upload.requires_python} if upload.requires_python else None,
    )
    try:
        service.add_file(call.db, package, upload.file_name, upload.received)
    except service.FileExists:
        raise Invalid("400 Bad request - Validation failed: File name has already been taken") from None
    return MessageView("201 Created")


@routes.get(
    "/projects/:id/packages/pypi/simple",
    on=package_project_in_path,
    may=policy.may_read_packages,
    returns=RawResponse,
    open=True,
    package_client=True,
)
def get_python_index(call: Call, project: Project) -> RawResponse:
    """Get the names of the Python packages of a project as a page for pip."""
    return _index(call, project_scope(project.id), _project_url(call, project), project.full_name)


@routes.get(
    "/projects/:id/packages/pypi/simple/:package_name",
    on=package_project_in_path,
    may=policy.may_read_packages,
    returns=RawResponse,
    open=True,
    package_client=True,
)
def get_python_package(call: Call, project: Project) -> RawResponse:
    """Get the files of a Python package of a project as a page for pip."""
    return _files(call, project_scope(project.id), _project_url(call, project))


@routes.get(
    "/projects/:id/packages/pypi/files/:sha256/:file_identifier",
    on=package_project_in_path,
    may=policy.may_read_packages,
    returns=ContentResponse,
    instead={302: None},
    open=True,
    package_client=True,
    heavy=True,
)
def download_python_file(call: Call, project: Project) -> ContentResponse:
    """Download a file of a Python package."""
    return _download(call, project_scope(project.id))


@routes.get(
    "/groups/:id/-/packages/pypi/simple",
    on=package_group_in_path,
    may=may_see_group,
    returns=RawResponse,
    open=True,
    package_client=True,
)
def get_group_python_index(call: Call, group: Namespace) -> RawResponse:
    """Get the names of the Python packages of a group as a page for pip."""
    return _index(call, readable_in_group(call.db, call.actor, group.id), _group_url(call, group), group.full_name)


@routes.get(
    "/groups/:id/-/packages/pypi/simple/:package_name",
    on=package_group_in_path,
    may=may_see_group,
    returns=RawResponse,
    open=True,
    package_client=True,
)
def get_group_python_package(call: Call, group: Namespace) -> RawResponse:
    """Get the files of a Python package of a group as a page for pip."""
    return _files(call, readable_in_group(call.db, call.actor, group.id), _group_url(call, group))


@routes.get(
    "/groups/:id/-/packages/pypi/files/:sha256/:file_identifier",
    on=package_group_in_path,
    may=may_see_group,
    returns=ContentResponse,
    instead={302: None},
    open=True,
    package_client=True,
    heavy=True,
)
def download_group_python_file(call: Call, group: Namespace) -> ContentResponse:
    """Download a file of a Python package of a group."""
    return _download(call, readable_in_group(call.db, call.actor, group.id))


def _index(call: Call, scope: PackageScope, url: str, title: str) -> RawResponse:
    found = packages_in_scope(call.db, scope, "pypi", most=MAX_INDEXED)
    return RawResponse(index_page(found, url, title), _HTML)


def _files(call: Call, scope: PackageScope, url: str) -> RawResponse:
    name = call.path["package_name"]
    found = {package.id: package for package in packages_in_scope(call.db, scope, "pypi", normalized_name(name))}
    if not found:
        raise NotFound("Package")
    return RawResponse(files_page(found, files_of(call.db, list(found)), url, name), _HTML)


def _download(call: Call, scope: PackageScope) -> ContentResponse:
    file = file_in_scope(call.db, scope, "pypi", call.path["sha256"], call.path["file_identifier"])
    return download_response(call.db, package_store_of(call.settings), file)


def _project_url(call: Call, project: Project) -> str:
    return f"{call.origin.base}/api/v4/projects/{project.id}/packages/pypi"


def _group_url(call: Call, group: Namespace) -> str:
    return f"{call.origin.base}/api/v4/groups/{group.id}/-/packages/pypi"
