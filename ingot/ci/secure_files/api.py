"""Endpoints of secure files."""

import os
from functools import partial

from ingot.ci.secure_files import policy, queries, service
from ingot.ci.secure_files.details import read_details
from ingot.ci.secure_files.files import secure_file_store_of
from ingot.ci.secure_files.params import CreateSecureFile
from ingot.ci.secure_files.service import MAX_FILE_BYTES, StoredSecureFile
from ingot.ci.secure_files.tables import SecureFile
from ingot.ci.secure_files.views import SecureFileView, secure_file_view
from ingot.core.access.rules import require
from ingot.core.api.params import path_number
from ingot.core.api.request_fields import BadRequest
from ingot.core.api.routes import Call, PrepareContext, RawResponse, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.core.http.content_headers import SANDBOX, content_disposition
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project

routes = Routes("secure_files")
FORM_OVERHEAD_BYTES = 2**20
"""Allowed size of the request body beyond the file itself."""


def _file_in_path(call: Call, project: Project) -> SecureFile:
    return queries.find_secure_file(call.db, project.id, path_number(call.path, "secure_file_id"))


def _store(context: PrepareContext, params: CreateSecureFile) -> StoredSecureFile:
    """Encrypt and store the file before the transaction, after the permission and the name were checked."""

    def check(db: Connection) -> None:
        access, project = find_project(db, context.actor, context.path["id"])
        require(policy.may_change_secure_files(context.actor, access, project))
        service.validate_new_file(db, project, params.name)

    context.database.read(check, ahead_of_change=True)
    if params.file.file.seek(0, os.SEEK_END) > MAX_FILE_BYTES:
        raise BadRequest(413, "413 Request Entity Too Large")
    content, store = params.file.read(), secure_file_store_of(context.settings)
    if not content:
        raise BadRequest(400, "400 (Bad request) the file is empty")
    stored = store.store(context.database.vault, content)
    context.undo.append(partial(store.delete, stored.storage_key))
    return StoredSecureFile(params.name, stored, read_details(params.name, content))


@routes.get(
    "/projects/:id/secure_files",
    on=project_in_path,
    may=policy.may_read_secure_files,
    returns=list[SecureFileView],
    job_token=True,
)
def list_secure_files(call: Call, project: Project, page: Page) -> Listing[SecureFileView]:
    """List the secure files of a project, the newest first."""
    listing = queries.list_secure_files(call.db, project.id, page)
    return listing.of([secure_file_view(file) for file in listing.items])


@routes.get(
    "/projects/:id/secure_files/:secure_file_id",
    on=project_in_path,
    may=policy.may_read_secure_files,
    returns=SecureFileView,
    job_token=True,
)
def get_secure_file(call: Call, project: Project) -> SecureFileView:
    """Get a secure file without its content."""
    return secure_file_view(_file_in_path(call, project))


@routes.get(
    "/projects/:id/secure_files/:secure_file_id/download",
    on=project_in_path,
    may=policy.may_read_secure_files,
    returns=RawResponse,
    job_token=True,
    heavy=True,
)
def download_secure_file(call: Call, project: Project) -> RawResponse:
    """Download the content of a secure file."""
    file = _file_in_path(call, project)
    content = secure_file_store_of(call.settings).read(call.db.vault, file.storage_key)
    headers = (content_disposition("attachment", file.name), SANDBOX)
    return RawResponse(content, "application/octet-stream", headers)


@routes.post(
    "/projects/:id/secure_files",
    on=project_in_path,
    may=policy.may_change_secure_files,
    returns=SecureFileView,
    prepare=_store,
    body_limit=MAX_FILE_BYTES + FORM_OVERHEAD_BYTES,
    job_token=True,
)
def create_secure_file(
    call: Call,
    project: Project,
    params: CreateSecureFile,  # noqa: ARG001 - Stored by prepare.
    stored: StoredSecureFile,
) -> SecureFileView:
    """Upload a secure file of at most 5 MB."""
    return secure_file_view(service.add_secure_file(call.db, project, stored))


@routes.delete(
    "/projects/:id/secure_files/:secure_file_id",
    on=project_in_path,
    may=policy.may_change_secure_files,
    returns=None,
    status=204,
    job_token=True,
)
def delete_secure_file(call: Call, project: Project) -> None:
    """Delete a secure file."""
    service.delete_secure_file(call.db, _file_in_path(call, project))
