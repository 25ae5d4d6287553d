"""Endpoints of generic packages."""

import re
from urllib.parse import quote

from ingot.core.api.routes import BodyContext, Call, ContentResponse, Routes
from ingot.core.errors import Invalid, NotFound
from ingot.packages.access.finders import package_project_in_path, writable_project_in_path
from ingot.packages.files.downloads import download_response
from ingot.packages.files.store import ReceivedFile, package_store_of
from ingot.packages.files.uploads import receive_body
from ingot.packages.generic.params import UploadGenericFile
from ingot.packages.records import policy, service
from ingot.packages.records.queries import file_or_none, package_by_version
from ingot.packages.records.upload_access import allowed_upload_bytes, require_push_to
from ingot.packages.records.views import MessageView, StoredFileView, stored_file_view
from ingot.projects.projects.tables import Project

routes = Routes("packages")
MAX_LENGTH = 255
_NAME = re.compile(r"[A-Za-z0-9.\-_+]+")
_VERSION = re.compile(r"(?!\.)(?!.*\.\.)[\w.+~^@/-]+(?<!/)(?<!@)")
_FILE_NAME = re.compile(r"[A-Za-z0-9.\-_+~@ ()/%,=]+")


async def _receive(context: BodyContext) -> ReceivedFile:
    """Store the body after the permission was checked."""
    name, _, _ = package_path(context.path)
    limit = await allowed_upload_bytes(
        context, lambda settings: settings.generic_packages_max_file_size, "generic", name
    )
    return await receive_body(context, limit, ("sha256",))


def package_path(path: dict[str, str]) -> tuple[str, str, str]:
    """Return name, version and file name in a path; raise Invalid for a malformed one."""
    name, version, file_name = path["package_name"], path["package_version"], path["file_name"].strip("/")
    parts = file_name.split("/")
    for field, value, pattern in (
        ("package_name", name, _NAME),
        ("package_version", version, _VERSION),
        ("file_name", file_name, _FILE_NAME),
    ):
        if not pattern.fullmatch(value) or len(value) > MAX_LENGTH or value in (".", ".."):
            raise Invalid(**{field: ["is invalid"]})
    if any(part in ("", ".", "..") or part.startswith(("~", "@")) for part in parts):
        raise Invalid(file_name=["is invalid"])
    return name, version, file_name


@routes.put(
    "/projects/:id/packages/generic/:package_name/:package_version/:file_name",
    on=writable_project_in_path,
    may=policy.may_write_packages,
    returns=MessageView | StoredFileView,
    status=201,
    open=True,
    package_client=True,
    slashes="file_name",
    read_body=_receive,
)
def upload_generic_file(
    call: Call, project: Project, params: UploadGenericFile, received: ReceivedFile
) -> MessageView | StoredFileView:
    """Upload a file of a generic package."""
    name, version, file_name = package_path(call.path)
    require_push_to(call.db, call.actor, project.id, "generic", name)
    package = service.find_or_create_package(
        call.db, call.actor, project, "generic", name, version, status=params.status
    )
    try:
        file = service.add_file(call.db, package, file_name, received)
    except service.FileExists:
        raise Invalid("400 Bad request - Duplicate package is not allowed") from None
    if params.select is None:
        return MessageView("201 Created")
    path = f"{quote(name)}/{quote(version)}/{quote(file_name)}"
    return stored_file_view(file, f"{call.origin.base}/api/v4/projects/{project.id}/packages/generic/{path}")


@routes.get(
    "/projects/:id/packages/generic/:package_name/:package_version/:file_name",
    on=package_project_in_path,
    may=policy.may_read_packages,
    returns=ContentResponse,
    instead={302: None},
    open=True,
    package_client=True,
    slashes="file_name",
    heavy=True,
)
def download_generic_file(call: Call, project: Project) -> ContentResponse:
    """Download a file of a generic package."""
    name, version, file_name = package_path(call.path)
    package = package_by_version(call.db, project.id, "generic", name, version)
    file = None if package is None else file_or_none(call.db, package.id, file_name)
    if file is None:
        raise NotFound("Package" if package is None else "Package File")
    return download_response(call.db, package_store_of(call.settings), file)
