"""Endpoints of uploads."""

import os
import secrets
import unicodedata

from ingot.accounts.instance.settings import current_settings
from ingot.core.access.rules import require
from ingot.core.api.params import path_number
from ingot.core.api.request_fields import BadRequest
from ingot.core.api.routes import Call, ContentResponse, PrepareContext, Routes
from ingot.core.db.connection import Connection
from ingot.core.db.paging import Listing, Page
from ingot.projects.projects import policy
from ingot.projects.projects.api import project_in_path
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.files import upload_files
from ingot.projects.uploads.names import sanitize_file_name
from ingot.projects.uploads.params import UploadFile
from ingot.projects.uploads.queries import find_named_upload, find_upload, list_uploads
from ingot.projects.uploads.service import UploadedFile, add_upload, delete_upload
from ingot.projects.uploads.views import StoredUploadView, UploadView, stored_upload_views, upload_response, upload_view

MULTIPART_OVERHEAD_BYTES = 2**20
"""Allowed size of the request body beyond the file itself."""

routes = Routes("projects")


def max_upload_bytes(db: Connection) -> int:
    """Return the maximum file size from the instance settings."""
    return current_settings(db).max_attachment_size * 2**20


def _body_limit(db: Connection) -> int:
    return max_upload_bytes(db) + MULTIPART_OVERHEAD_BYTES


def _store_file(context: PrepareContext, params: UploadFile) -> UploadedFile:
    """Store the file before the transaction, after a permission check; the sweep removes files without a row."""

    def find_target(db: Connection) -> tuple[Project, int]:
        access, project = find_project(db, context.actor, context.path["id"])
        require(policy.may_upload(context.actor, access, project))
        return project, max_upload_bytes(db)

    project, max_bytes = context.database.read(find_target, ahead_of_change=True)
    content = params.file.file
    if content.seek(0, os.SEEK_END) > max_bytes:
        raise BadRequest(413, "413 Request Entity Too Large")
    content.seek(0)
    secret, name = secrets.token_hex(16), sanitize_file_name(params.file.filename)
    return UploadedFile(secret, name, upload_files(context.settings).store(project.id, secret, name, content))


@routes.post(
    "/projects/:id/uploads",
    on=project_in_path,
    may=policy.may_upload,
    returns=UploadView,
    prepare=_store_file,
    body_limit=_body_limit,
)
def upload_file(call: Call, project: Project, params: UploadFile, stored: UploadedFile) -> UploadView:  # noqa: ARG001 - Stored by prepare.
    """Upload a file to reference it in a text."""
    return upload_view(project, add_upload(call.db, call.actor, project, stored))


@routes.get("/projects/:id/uploads", on=project_in_path, may=policy.may_admin_project, returns=list[StoredUploadView])
def list_project_uploads(call: Call, project: Project, page: Page) -> Listing[StoredUploadView]:
    """List the uploads of a project, the newest first."""
    listing = list_uploads(call.db, project, page)
    return listing.of(stored_upload_views(call.db, listing.items, call.origin.base))


@routes.get(
    "/projects/:id/uploads/:upload_id",
    on=project_in_path,
    may=policy.may_admin_project,
    returns=ContentResponse,
    heavy=True,
)
def download_upload_by_id(call: Call, project: Project) -> ContentResponse:
    """Download an upload by its id, which is not secret."""
    upload = find_upload(call.db, project, path_number(call.path, "upload_id"))
    return upload_response(upload_files(call.settings), upload)


@routes.get(
    "/projects/:id/uploads/:secret/:filename",
    on=project_in_path,
    may=policy.may_see_project,
    returns=ContentResponse,
    open=True,
    heavy=True,
)
def download_upload_by_name(call: Call, project: Project) -> ContentResponse:
    """Download an upload by its secret and file name."""
    name = unicodedata.normalize("NFC", call.path["filename"])
    return upload_response(upload_files(call.settings), find_named_upload(call.db, project, call.path["secret"], name))


@routes.delete(
    "/projects/:id/uploads/:upload_id", on=project_in_path, may=policy.may_change_project, returns=None, status=204
)
def delete_upload_by_id(call: Call, project: Project) -> None:
    """Delete an upload. Texts that reference it show a broken link."""
    delete_upload(call.db, find_upload(call.db, project, path_number(call.path, "upload_id")))


@routes.delete(
    "/projects/:id/uploads/:secret/:filename",
    on=project_in_path,
    may=policy.may_change_project,
    returns=None,
    status=204,
)
def delete_upload_by_name(call: Call, project: Project) -> None:
    """Delete an upload by its secret and file name."""
    delete_upload(call.db, find_named_upload(call.db, project, call.path["secret"], call.path["filename"]))
