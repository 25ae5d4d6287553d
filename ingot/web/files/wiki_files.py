"""Files attached to wiki pages, for browsers and API clients."""

import re

from ingot.core.db.connection import Connection
from ingot.projects.projects.api import repository_store
from ingot.projects.uploads.names import inline_content_type
from ingot.repositories.wikis.owners import OwnerKind
from ingot.repositories.wikis.views import wiki_file
from ingot.web.file_response import stream_as_file
from ingot.web.files.uploads import file_response_headers
from ingot.web.page_routes import BytesResponse, FileResponse, PageResponse, PageRoutes, Visit
from ingot.web.request_auth import authenticated_caller

pages = PageRoutes()
_SECRET = re.compile(rb"[0-9a-f]{32}")


def wiki_path_to_route(path: bytes) -> bytes | None:
    """Convert ``/group/…/project/wikis/uploads/secret/file`` to a route below; the path may have any depth.

    Files of a group's wiki are below ``/groups/group/…/-``.
    """
    segments = [segment for segment in path.split(b"/") if segment]
    if len(segments) < 6 or segments[0] == b"-":
        return None
    *owner, wikis, uploads, secret, file = segments
    if wikis != b"wikis" or uploads != b"uploads" or not _SECRET.fullmatch(secret):
        return None
    if owner[-1] == b"-":
        owner.pop()
    kind = b"group" if owner[0] == b"groups" else b"project"
    full_path = b"%2F".join(owner[1:] if kind == b"group" else owner)
    return b"/-/" + kind + b"/" + full_path + b"/wikis/uploads/" + secret + b"/" + file


@pages.get("/-/project/:id/wikis/uploads/:secret/:file", open=True)
def show_wiki_file(visit: Visit, db: Connection) -> PageResponse:
    """Return a file of a project's wiki, for users with permission to read the wiki."""
    return _wiki_file(visit, db, "project")


@pages.get("/-/group/:id/wikis/uploads/:secret/:file", open=True)
def show_group_wiki_file(visit: Visit, db: Connection) -> PageResponse:
    """Return a file of a group's wiki, for users with permission to read the wiki."""
    return _wiki_file(visit, db, "group")


def _wiki_file(visit: Visit, db: Connection, kind: OwnerKind) -> PageResponse:
    name, path = visit.request.path["file"], visit.request.path
    actor, store = authenticated_caller(visit, db), repository_store(visit.settings)
    file = wiki_file(db, actor, store, kind, path["id"], f"uploads/{path['secret']}/{name}")
    shown = inline_content_type(name)
    content_type, headers = shown or "application/octet-stream", file_response_headers(name, shown=shown is not None)
    if file.body is not None:
        return BytesResponse(file.body, content_type, headers)
    return FileResponse(stream_as_file(file.pieces()), file.size, content_type, headers)
