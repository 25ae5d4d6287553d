"""Downloads of raw files and archives, with headers that prevent browsers from executing them."""

import re

from ingot.core.access.scopes import READ_SCOPES
from ingot.core.api.routes import ContentResponse
from ingot.core.errors import NotFound
from ingot.core.http.request import Header
from ingot.projects.uploads.names import inline_content_type, is_image
from ingot.repositories.lfs import api as lfs_api
from ingot.repositories.trees import api as trees_api
from ingot.repositories.trees.params import ArchiveExtension
from ingot.repositories.trees.views import ARCHIVE_EXTENSIONS, archive_name
from ingot.web.code.file_kinds import DOCUMENT_ENDING
from ingot.web.code.location import code_location, code_location_in, readable_code
from ingot.web.file_response import stream_as_file
from ingot.web.files.uploads import file_response_headers
from ingot.web.page_routes import BytesResponse, FileResponse, PageResponse, PageRoutes, Visit
from ingot.web.projects.context import ProjectContext, project_context
from ingot.web.request_auth import token_visit

pages = PageRoutes()
_DOWNLOAD_ID = re.compile(r"[a-z0-9]{1,16}")
_RAW_SCOPES = READ_SCOPES | {"read_repository"}
_NO_CACHE = (b"cache-control", b"private, no-cache")


@pages.get("/:path/-/raw/:rest", open=True, slashes="rest")
def show_raw(visit: Visit) -> PageResponse:
    """Return a file's content: text and images inline, PDF documents with ``inline=true``, others as an attachment."""
    location = code_location(token_visit(visit, _RAW_SCOPES))
    if not location.path:
        raise NotFound("File")
    params = {"ref": location.commit, "lfs": "true"}
    content = location.parent.ask(lfs_api.get_raw_file, params, file_path=location.path)
    name = location.path.rpartition("/")[2]
    picture = inline_content_type(name) if is_image(name) else None
    if visit.request.query.get("inline") == "true" and name.lower().endswith(DOCUMENT_ENDING):
        response = _stream_response(content, "application/pdf", file_response_headers(name, shown=True))
        response.is_document = True
        return response
    if visit.request.query.get("inline") == "false":
        return _stream_response(content, "application/octet-stream", file_response_headers(name, shown=False))
    if picture is not None:
        return _stream_response(content, picture, file_response_headers(name, shown=True))
    return _stream_response(
        content, content.content_type, file_response_headers(name, shown=content.content_type.startswith("text/plain"))
    )


@pages.get("/:path/-/archive/:rest", open=True, slashes="rest")
def show_archive(visit: Visit) -> PageResponse:
    """Return an archive of a tree, such as ``master/project-master.zip`` or ``master.tar.gz``."""
    parent = project_context(token_visit(visit))
    rest = visit.request.path["rest"]
    extension = next((each for each in ARCHIVE_EXTENSIONS if rest.endswith(f".{each}")), None)
    if extension is None:
        raise NotFound("Archive")
    code = readable_code(parent)
    try:
        location = code_location_in(parent, code, rest)
    except NotFound:
        location = code_location_in(parent, code, rest.removesuffix(f".{extension}"))
    return _archive_response(location.parent, location.ref, extension, visit)


@pages.get("/:path/-/repository/:file", open=True)
def show_archive_legacy(visit: Visit) -> PageResponse:
    """Return an archive at the URL that older clients use: ``repository/archive.zip?ref=master``."""
    parent = project_context(token_visit(visit))
    name, _, ending = visit.request.path["file"].partition(".")
    extension = next((each for each in ARCHIVE_EXTENSIONS if each == (ending or "tar.gz")), None)
    if name != "archive" or extension is None:
        raise NotFound("Archive")
    location = code_location_in(parent, readable_code(parent), str(visit.request.query.get("ref", "")))
    return _archive_response(location.parent, location.ref, extension, visit)


def _archive_response(parent: ProjectContext, ref: str, extension: ArchiveExtension, visit: Visit) -> PageResponse:
    path = str(visit.request.query.get("path", ""))
    # The URL of a source archive ends with the name that the file gets; for other URLs the server chooses it.
    named = visit.request.path.get("rest", "").endswith(f"/{archive_name(parent.project.path, ref)}.{extension}")
    params = {"sha": ref, "path": path, "format": extension, "append_sha": str(not named).lower()}
    content = parent.ask(trees_api.get_archive, params)
    disposition = [header for header in content.headers if header[0] == b"content-disposition"]
    return _stream_response(content, content.content_type, [*disposition, _NO_CACHE, *_started_cookie(visit)])


def _started_cookie(visit: Visit) -> list[Header]:
    """Return the cookie by which the page's script detects that the download has started: it gets no other signal."""
    download_id = visit.request.query.get("began")
    valid = isinstance(download_id, str) and _DOWNLOAD_ID.fullmatch(download_id)
    return (
        [(b"set-cookie", f"_service_download={download_id}; Path=/; SameSite=Strict; Max-Age=60".encode())]
        if valid
        else []
    )


def _stream_response(content: ContentResponse, kind: str, headers: list[Header]) -> BytesResponse | FileResponse:
    if content.body is not None:
        return BytesResponse(content.body, kind, headers)
    return FileResponse(stream_as_file(content.pieces(0, content.size or 0)), content.size, kind, headers)
