"""Files as they are, and whole trees packed: never as something that a browser would run."""

import re
from typing import Any

from ingot.api.routes import Content
from ingot.db.connection import Connection
from ingot.errors import NotFound
from ingot.http.request import Header
from ingot.projects.uploads.names import is_picture, shown_as
from ingot.repository.trees.params import Spelling
from ingot.repository.trees.views import SPELLINGS
from ingot.web.code.where import code_of, where_in, where_of
from ingot.web.files.uploads import file_headers
from ingot.web.pages import File, Pages, Reply, StoredFile, Visit
from ingot.web.projects.place import place_of
from ingot.web.sending import as_file

pages = Pages()
_MARK = re.compile(r"[a-z0-9]{1,16}")
_KEPT_BY_NOBODY = (b"cache-control", b"private, no-cache")


@pages.get("/:path/-/raw/:rest", open=True, slashes="rest")
def show_raw(visit: Visit, db: Connection) -> Reply:
    """A file's content: text as text, pictures as such, all else to be saved; ``inline=false`` saves in any case."""
    where = where_of(visit, db)
    if not where.path:
        raise NotFound("File")
    asked = {"ref": where.commit, "lfs": "true"}
    content = where.place.get("/repository/files/:file_path/raw", asked, file_path=where.path)
    name = where.path.rpartition("/")[2]
    picture = shown_as(name) if is_picture(name) else None
    if visit.query.get("inline") == "false":
        return _sent(content, "application/octet-stream", file_headers(name, shown=False))
    if picture is not None:
        return _sent(content, picture, file_headers(name, shown=True))
    return _sent(content, content.content_type, file_headers(name, shown=content.content_type.startswith("text/plain")))


@pages.get("/:path/-/archive/:rest", open=True, slashes="rest")
def show_archive(visit: Visit, db: Connection) -> Reply:
    """A tree in one file, such as ``master/project-master.zip`` or ``master.tar.gz``."""
    place = place_of(visit)
    rest = visit.path["rest"]
    spelling = next((each for each in SPELLINGS if rest.endswith(f".{each}")), None)
    if spelling is None:
        raise NotFound("Archive")
    code = code_of(place, db)
    try:
        where = where_in(place, code, rest)
    except NotFound:
        where = where_in(place, code, rest.removesuffix(f".{spelling}"))
    return _archive(where.place, where.ref, spelling, visit)


@pages.get("/:path/-/repository/:file", open=True)
def show_archive_as_before(visit: Visit, db: Connection) -> Reply:
    """The same at the address that older programs know: ``repository/archive.zip?ref=master``."""
    place = place_of(visit)
    name, _, ending = visit.path["file"].partition(".")
    spelling = next((each for each in SPELLINGS if each == (ending or "tar.gz")), None)
    if name != "archive" or spelling is None:
        raise NotFound("Archive")
    where = where_in(place, code_of(place, db), str(visit.query.get("ref", "")))
    return _archive(where.place, where.ref, spelling, visit)


def _archive(place: Any, ref: str, spelling: Spelling, visit: Visit) -> Reply:
    asked = {"sha": ref, "path": str(visit.query.get("path", ""))}
    content = place.get(f"/repository/archive.{spelling}", asked)
    said = [header for header in content.headers if header[0] == b"content-disposition"]
    return _sent(content, content.content_type, [*said, _KEPT_BY_NOBODY, *_begun(visit)])


def _begun(visit: Visit) -> list[Header]:
    """What tells the page that the download has begun: nothing else reaches a script from there."""
    mark = visit.query.get("began")
    known = isinstance(mark, str) and _MARK.fullmatch(mark)
    return [(b"set-cookie", f"_service_download={mark}; Path=/; SameSite=Strict; Max-Age=60".encode())] if known else []


def _sent(content: Content, kind: str, headers: list[tuple[bytes, bytes]]) -> Reply:
    if content.body is not None:
        return File(content.body, kind, headers)
    return StoredFile(as_file(content.pieces(0, content.size or 0)), content.size, kind, headers)
