"""Files that pages of wikis mention, for those who may read the wiki; browsers and programs alike."""

import re

from ingot.core.db.connection import Connection
from ingot.errors import NotFound
from ingot.git.core.errors import MissingRepository
from ingot.git.core.paths import path_encodings, path_error
from ingot.git.core.repository import Repository
from ingot.git.trees.blobs import Blob, read_blob, stream_blob
from ingot.git.trees.entries import FOLDER, LINK, SUBMODULE, entry_or_none
from ingot.projects.projects.api import repository_store
from ingot.projects.uploads.names import inline_content_type
from ingot.repositories.wikis.policy import may_read_wiki
from ingot.repositories.wikis.queries import find_wiki, wiki_tip_or_none
from ingot.web.file_response import stream_as_file
from ingot.web.files.uploads import file_response_headers
from ingot.web.page_routes import BytesResponse, FileResponse, PageResponse, PageRoutes, Visit
from ingot.web.request_auth import authenticated_caller

pages = PageRoutes()
_SECRET = re.compile(rb"[0-9a-f]{32}")


def wiki_path_to_route(path: bytes) -> bytes | None:
    """``/group/…/project/wikis/uploads/secret/file`` as the page below, since a project's path may have any depth."""
    segments = [segment for segment in path.split(b"/") if segment]
    if len(segments) < 6 or segments[0] == b"-":
        return None
    *project, wikis, uploads, secret, file = segments
    if wikis != b"wikis" or uploads != b"uploads" or not _SECRET.fullmatch(secret):
        return None
    if project[-1] == b"-":
        project.pop()
    return b"/-/project/" + b"%2F".join(project) + b"/wikis/uploads/" + secret + b"/" + file


@pages.get("/-/project/:id/wikis/uploads/:secret/:file", open=True)
def show_wiki_file(visit: Visit, db: Connection) -> PageResponse:
    """A file of a wiki's repository that is no page."""
    actor = authenticated_caller(visit, db)
    try:
        place = find_wiki(db, actor, repository_store(visit.settings), visit.path["id"])
    except MissingRepository:
        raise NotFound("Upload") from None
    name = visit.path["file"]
    if place.repository is None or not may_read_wiki(actor, place.access, place):
        raise NotFound("Upload")
    blob = _blob(place.repository, f"uploads/{visit.path['secret']}/{name}")
    shown = inline_content_type(name)
    kind, headers = shown or "application/octet-stream", file_response_headers(name, shown=shown is not None)
    if blob.body is not None:
        return BytesResponse(blob.body, kind, headers)
    return FileResponse(stream_as_file(stream_blob(blob, 0, blob.size)), blob.size, kind, headers)


def _blob(repository: Repository, path: str) -> Blob:
    tip = wiki_tip_or_none(repository)
    if tip is None or path_error(path) is not None:
        raise NotFound("Upload")
    for raw in path_encodings(path):
        entry = entry_or_none(repository, tip, raw)
        if entry is not None and entry.mode not in (FOLDER, LINK, SUBMODULE):
            return read_blob(repository, entry.oid)
    raise NotFound("Upload")
