"""Response structs of uploads."""

from functools import partial
from typing import BinaryIO

from ingot.accounts.users.views import UserBrief, user_briefs_by_ids
from ingot.core.access.actor import Actor
from ingot.core.api.routes import ContentResponse
from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import NotFound
from ingot.core.http.content_headers import SANDBOX, content_disposition
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.files import UploadFiles
from ingot.projects.uploads.names import file_stem, is_image
from ingot.projects.uploads.queries import find_named_upload
from ingot.projects.uploads.tables import StoredUpload

_ANY_PROJECT = Actor(admin=True)
"""Finds every project; the secret in the address of the upload is checked instead."""


class UploadView(View):
    """Upload, with the Markdown that references it."""

    id: int
    alt: str
    url: str
    """Relative to the project."""
    full_path: str
    """Relative to the server."""
    markdown: str


def upload_view(project: Project, upload: StoredUpload) -> UploadView:
    """Return the view of an upload."""
    image = is_image(upload.name)
    alt = file_stem(upload.name) if image else upload.name
    url = f"/uploads/{upload.secret}/{upload.name}"
    return UploadView(upload.id, alt, url, f"/{project.full_path}{url}", f"{'!' if image else ''}[{alt}]({url})")


class StoredUploadView(View):
    """Upload in the list of all uploads, with its author."""

    id: int
    size: int
    filename: str
    created_at: Timestamp
    uploaded_by: UserBrief | None


def stored_upload_views(db: Connection, uploads: list[StoredUpload], base: str) -> list[StoredUploadView]:
    """Return the views of uploads with their authors, in one statement."""
    authors = user_briefs_by_ids(db, (upload.user_id for upload in uploads), base)
    return [
        StoredUploadView(upload.id, upload.size, upload.name, upload.created_at, authors.get(upload.user_id or 0))
        for upload in uploads
    ]


def open_upload(db: Connection, files: UploadFiles, project: Project, secret: str, name: str) -> BinaryIO:
    """Open an uploaded file; its row tells where it lies on the disk, never the request. Raise NotFound if missing."""
    upload = find_named_upload(db, project, secret, name)
    try:
        return files.open(upload.project_id, upload.secret, upload.name)
    except FileNotFoundError:
        raise NotFound("Upload") from None


def upload_response(files: UploadFiles, upload: StoredUpload) -> ContentResponse:
    """Return a response with an uploaded file, for download; raise NotFound if it was deleted from the storage."""
    place = (upload.project_id, upload.secret, upload.name)
    size = files.size_of(*place)
    if size is None:
        raise NotFound("Upload")
    return ContentResponse(
        f'"{upload.secret}"',
        size,
        partial(files.pieces, *place),
        "application/octet-stream",
        # Permission to see the file can change at any time, so caches must revalidate.
        (content_disposition("attachment", upload.name), SANDBOX, (b"cache-control", b"private, no-cache")),
    )


def project_with_open_images(db: Connection, id_or_path: str) -> Project | None:
    """Return a project if it shows uploaded images to everyone who knows their address."""
    try:
        _, project = find_project(db, _ANY_PROJECT, id_or_path)
    except NotFound:
        return None
    return None if project.options.enforce_auth_checks_on_uploads else project
