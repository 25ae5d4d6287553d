"""Endpoints of Maven packages, for Maven and Gradle."""

import hmac

from ingot.core.access.rules import anyone
from ingot.core.api.request_fields import read_body
from ingot.core.api.routes import BodyContext, Call, ContentResponse, RawResponse, Routes
from ingot.core.errors import Conflict, Invalid, NotFound
from ingot.packages.access.finders import (
    find_client_project,
    package_group_in_path,
    package_project_in_path,
    writable_project_in_path,
)
from ingot.packages.files.downloads import download_response
from ingot.packages.files.store import ReceivedFile, package_store_of
from ingot.packages.files.uploads import receive_body
from ingot.packages.maven.paths import MavenPath, parse_maven_path
from ingot.packages.records import policy, service
from ingot.packages.records.queries import (
    PackageScope,
    file_or_none,
    files_of,
    package_by_version,
    packages_in_scope,
    project_scope,
    readable_in_group,
)
from ingot.packages.records.tables import PackageFile
from ingot.packages.records.upload_access import allowed_upload_bytes, require_push_to
from ingot.projects.groups.policy import may_see_group
from ingot.projects.namespaces.tables import Namespace
from ingot.projects.projects.tables import Project

routes = Routes("packages")
MAX_CHECKSUM_BYTES = 1024


async def _receive(context: BodyContext) -> ReceivedFile | str:
    """Store the body after the permission was checked; return the text of a checksum."""
    limit = await allowed_upload_bytes(context, lambda settings: settings.maven_max_file_size, "maven")
    path = parse_maven_path(context.path["path"], context.path["file_name"])
    if path.checksum is None:
        return await receive_body(context, limit, ("sha256", "sha1", "md5"))
    pieces = [piece async for piece in read_body(context.receive, context.headers, MAX_CHECKSUM_BYTES)]
    words = b"".join(pieces).decode("ascii", "replace").split()
    return words[0].lower() if words else ""


@routes.put(
    "/projects/:id/packages/maven/:path/:file_name",
    on=writable_project_in_path,
    may=policy.may_write_packages,
    returns=RawResponse,
    instead={204: None},
    open=True,
    package_client=True,
    read_body=_receive,
    slashes="path",
)
def upload_maven_file(call: Call, project: Project, received: ReceivedFile | str) -> RawResponse:
    """Upload a file of a Maven package, or the checksum of one, which is compared with the file."""
    path = parse_maven_path(call.path["path"], call.path["file_name"])
    if not path.name:
        raise Invalid(path=["is invalid"])
    require_push_to(call.db, call.actor, project.id, "maven", path.name)
    if isinstance(received, str):
        return _compare(_file(call, project, path), path, received)
    package = service.find_or_create_package(call.db, call.actor, project, "maven", path.name, path.version)
    try:
        service.add_file(call.db, package, path.file_name, received, replaces=path.replaceable)
    except service.FileExists:
        raise Invalid("400 Bad request - Duplicate package is not allowed") from None
    return RawResponse(b"")


@routes.get(
    "/projects/:id/packages/maven/:path/:file_name",
    on=package_project_in_path,
    may=policy.may_read_packages,
    returns=ContentResponse,
    instead={302: None},
    open=True,
    package_client=True,
    heavy=True,
    slashes="path",
)
def download_maven_file(call: Call, project: Project) -> ContentResponse | RawResponse:
    """Download a file of a Maven package, or its checksum."""
    return _download(call, project_scope(project.id))


@routes.get(
    "/groups/:id/-/packages/maven/:path/:file_name",
    on=package_group_in_path,
    may=may_see_group,
    returns=ContentResponse,
    instead={302: None},
    open=True,
    package_client=True,
    heavy=True,
    slashes="path",
)
def download_group_maven_file(call: Call, group: Namespace) -> ContentResponse | RawResponse:
    """Download a file of a Maven package of a project in a group, or its checksum."""
    return _download(call, readable_in_group(call.db, call.actor, group.id))


@routes.get(
    "/packages/maven/:path/:file_name",
    may=anyone,
    returns=ContentResponse,
    instead={302: None},
    package_client=True,
    heavy=True,
    slashes="path",
)
def download_instance_maven_file(call: Call) -> ContentResponse | RawResponse:
    """Download a file of a Maven package that has the path of its project as its name, or its checksum."""
    path = parse_maven_path(call.path["path"], call.path["file_name"])
    access, project = find_client_project(call.db, call.actor, path.name)
    if not policy.may_read_packages(call.actor, access, project):
        raise NotFound("Package")
    return _download(call, project_scope(project.id))


def _file(call: Call, project: Project, path: MavenPath) -> PackageFile:
    package = package_by_version(call.db, project.id, "maven", path.name, path.version)
    file = None if package is None else file_or_none(call.db, package.id, path.file_name)
    if file is None:
        raise NotFound("Package")
    return file


def _compare(file: PackageFile, path: MavenPath, checksum: str) -> RawResponse:
    """Compare a checksum with that of the stored file; those that are not stored are accepted."""
    expected = {"sha1": file.sha1, "md5": file.md5, "sha256": file.sha256}.get(path.checksum or "")
    if expected is not None and not hmac.compare_digest(expected, checksum):
        raise Conflict("409 Conflict")
    return RawResponse(b"", status=204)


def _download(call: Call, scope: PackageScope) -> ContentResponse | RawResponse:
    path = parse_maven_path(call.path["path"], call.path["file_name"])
    ids = [
        package.id
        for package in packages_in_scope(call.db, scope, "maven", path.name)
        if package.version == path.version
    ]
    files = [file for file in files_of(call.db, ids) if file.file_name == path.file_name]
    if not files:
        raise NotFound("Package")
    file = files[-1]
    if path.checksum is None:
        return download_response(call.db, package_store_of(call.settings), file)
    checksum = {"sha1": file.sha1, "md5": file.md5, "sha256": file.sha256}.get(path.checksum)
    if checksum is None:
        raise NotFound("Package")
    return RawResponse(checksum.encode())
