"""Uploaded files of projects, for browsers and API clients."""

import os
import re
import unicodedata
from urllib.parse import quote

from ingot.core.db.connection import Connection
from ingot.core.http.request import Header
from ingot.projects.projects import api as projects_api
from ingot.projects.uploads.files import upload_files
from ingot.projects.uploads.names import inline_content_type, is_image
from ingot.projects.uploads.views import open_upload, project_with_open_images
from ingot.web.page_routes import FileResponse, PageResponse, PageRoutes, Visit
from ingot.web.request_auth import client_of

pages = PageRoutes()
_SECRET = re.compile(rb"[0-9a-f]{32}")


def upload_path_to_route(path: bytes) -> bytes | None:
    """Convert ``/group/…/project/uploads/secret/file`` to the route below; the path may have any depth."""
    segments = [segment for segment in path.split(b"/") if segment]
    if len(segments) < 5 or segments[0] == b"-":
        return None
    *project, uploads, secret, file = segments
    if uploads != b"uploads" or not _SECRET.fullmatch(secret):
        return None
    return b"/-/project/" + b"%2F".join(project) + b"/uploads/" + secret + b"/" + file


@pages.get("/-/project/:id/uploads/:secret/:file", open=True)
def show_upload(visit: Visit, db: Connection) -> PageResponse:
    """Return an uploaded file, for users with permission to see the project, unless it shows images to everyone."""
    name = unicodedata.normalize("NFC", visit.request.path["file"])
    project = project_with_open_images(db, visit.request.path["id"]) if is_image(name) else None
    if project is None:
        project = client_of(visit, db).find(projects_api.get_project, {"id": visit.request.path["id"]}).project
    file = open_upload(db, upload_files(visit.settings), project, visit.request.path["secret"], name)
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    shown = inline_content_type(name)
    headers = file_response_headers(name, shown=shown is not None)
    return FileResponse(file, size, shown or "application/octet-stream", headers)


def file_response_headers(name: str, *, shown: bool) -> list[Header]:
    """Return the Content-Disposition and Cache-Control headers of a file; ``shown`` displays it inline."""
    return [
        (b"content-disposition", _disposition("inline" if shown else "attachment", name)),
        # Permission to see the file can change at any time, so caches must revalidate.
        (b"cache-control", b"private, no-cache"),
    ]


def _disposition(kind: str, name: str) -> bytes:
    plain = "".join(
        character if character.isascii() and (character.isalnum() or character in "._-+") else "_" for character in name
    )
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}".encode()
