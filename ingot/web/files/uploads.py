"""Uploaded files, for those who may see the project; browsers and programs alike."""

import os
import re
import unicodedata
from urllib.parse import quote

from ingot.core.db.connection import Connection
from ingot.core.http.request import Header
from ingot.projects.projects import api as projects_api
from ingot.projects.uploads.files import upload_files
from ingot.projects.uploads.names import inline_content_type
from ingot.projects.uploads.views import open_upload
from ingot.web.page_routes import FileResponse, PageResponse, PageRoutes, Visit
from ingot.web.request_auth import client_of

pages = PageRoutes()
_SECRET = re.compile(rb"[0-9a-f]{32}")


def upload_path_to_route(path: bytes) -> bytes | None:
    """``/group/…/project/uploads/secret/file`` as the page below, since a project's path may have any depth."""
    segments = [segment for segment in path.split(b"/") if segment]
    if len(segments) < 5 or segments[0] == b"-":
        return None
    *project, uploads, secret, file = segments
    if uploads != b"uploads" or not _SECRET.fullmatch(secret):
        return None
    return b"/-/project/" + b"%2F".join(project) + b"/uploads/" + secret + b"/" + file


@pages.get("/-/project/:id/uploads/:secret/:file", open=True)
def show_upload(visit: Visit, db: Connection) -> PageResponse:
    """An uploaded file, for those who may see the project."""
    found = client_of(visit, db).find(projects_api.get_project, {"id": visit.request.path["id"]})
    name = unicodedata.normalize("NFC", visit.request.path["file"])
    file = open_upload(db, upload_files(visit.settings), found.project, visit.request.path["secret"], name)
    shown = inline_content_type(name)
    headers = file_response_headers(name, shown=shown is not None)
    return FileResponse(file, os.fstat(file.fileno()).st_size, shown or "application/octet-stream", headers)


def file_response_headers(name: str, *, shown: bool) -> list[Header]:
    """What is said with a file: what it is called, and whether a browser may show it."""
    return [
        (b"content-disposition", _disposition("inline" if shown else "attachment", name)),
        # Whether somebody may see it can change at any moment.
        (b"cache-control", b"private, no-cache"),
    ]


def _disposition(kind: str, name: str) -> bytes:
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "._-+") else "_" for sign in name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}".encode()
