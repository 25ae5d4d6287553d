"""Response structs of uploads."""

from typing import BinaryIO

from ingot.core.api.views import View
from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.projects.projects.tables import Project
from ingot.projects.uploads.files import UploadFiles
from ingot.projects.uploads.names import file_stem, is_image
from ingot.projects.uploads.queries import upload_or_none
from ingot.projects.uploads.tables import StoredUpload


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


def open_upload(db: Connection, files: UploadFiles, project: Project, secret: str, name: str) -> BinaryIO:
    """Open an uploaded file; its row tells where it lies on the disk, never the request. Raise NotFound if missing."""
    upload = upload_or_none(db, project, secret)
    if upload is None or upload.name != name:
        raise NotFound("Upload")
    try:
        return files.open(upload.project_id, upload.secret, upload.name)
    except FileNotFoundError:
        raise NotFound("Upload") from None
