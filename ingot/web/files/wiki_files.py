"""Files that pages of wikis mention, for those who may read the wiki; browsers and programs alike."""

import re

from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.git.blobs import Blob, read_blob, stream_blob
from ingot.git.entries import FOLDER, LINK, MODULE, entry_at
from ingot.git.faults import MissingRepository
from ingot.git.paths import path_trouble, spellings
from ingot.git.repository import Repository
from ingot.projects.api import store_of
from ingot.projects.uploads.names import shown_as
from ingot.web.callers import caller_of
from ingot.web.files.uploads import file_headers
from ingot.web.pages import File, Pages, Reply, StoredFile, Visit
from ingot.web.sending import as_file
from ingot.wikis.policy import may_read_wiki
from ingot.wikis.queries import find_wiki, tip_of

pages = Pages()
_SECRET = re.compile(rb"[0-9a-f]{32}")


def by_project(path: bytes) -> bytes | None:
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
def show_wiki_file(visit: Visit, db: Connection) -> Reply:
    """A file of a wiki's repository that is no page."""
    actor = caller_of(visit, db)
    try:
        place = find_wiki(db, actor, store_of(visit.settings), visit.path["id"])
    except MissingRepository:
        raise NotFound("Upload") from None
    name = visit.path["file"]
    if place.repository is None or not may_read_wiki(actor, place.here, place):
        raise NotFound("Upload")
    blob = _blob(place.repository, f"uploads/{visit.path['secret']}/{name}")
    shown = shown_as(name)
    kind, headers = shown or "application/octet-stream", file_headers(name, shown=shown is not None)
    if blob.body is not None:
        return File(blob.body, kind, headers)
    return StoredFile(as_file(stream_blob(blob, 0, blob.size)), blob.size, kind, headers)


def _blob(repository: Repository, path: str) -> Blob:
    tip = tip_of(repository)
    if tip is None or path_trouble(path) is not None:
        raise NotFound("Upload")
    for raw in spellings(path):
        entry = entry_at(repository, tip, raw)
        if entry is not None and entry.mode not in (FOLDER, LINK, MODULE):
            return read_blob(repository, entry.oid)
    raise NotFound("Upload")
