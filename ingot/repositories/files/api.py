"""Endpoints that read files."""

from ingot.core.access.scopes import READ_SCOPES
from ingot.core.api.responses import encode
from ingot.core.api.routes import Call, RawResponse, Routes, StreamedResponse
from ingot.repositories.content import json_response_with_content, normalize_path, require_json_size
from ingot.repositories.context import RepositoryContext, may_read_code, repository_in_path, repository_state
from ingot.repositories.files import queries
from ingot.repositories.files.params import GetBlame, GetFile
from ingot.repositories.files.queries import RepositoryFile
from ingot.repositories.files.views import (
    BlamedLinesView,
    FileView,
    blame_views,
    file_headers,
    file_view,
    view_headers,
)

routes = Routes("files")
_SCOPES = READ_SCOPES | {"read_repository"}


def _file(call: Call, context: RepositoryContext, ref: str) -> RepositoryFile:
    return queries.find_file(context.repository, ref, normalize_path(call.path["file_path"], "file_path"))


@routes.get(
    "/projects/:id/repository/files/:file_path",
    on=repository_in_path,
    may=may_read_code,
    returns=FileView,
    open=True,
    scopes=_SCOPES,
    slashes="file_path",
    cached=repository_state,
)
def get_file(call: Call, context: RepositoryContext, params: GetFile) -> RawResponse | StreamedResponse:
    """Get a file with its content; the headers contain the metadata."""
    file = _file(call, context, params.ref)
    require_json_size(file.blob)
    view = file_view(file, params.ref)
    return json_response_with_content(view, file.blob, view_headers(view))


@routes.get(
    "/projects/:id/repository/files/:file_path/blame",
    on=repository_in_path,
    may=may_read_code,
    returns=list[BlamedLinesView],
    open=True,
    scopes=_SCOPES,
    slashes="file_path",
)
def get_blame(call: Call, context: RepositoryContext, params: GetBlame) -> RawResponse:
    """List the lines of a file grouped by the commit that last changed them."""
    file = _file(call, context, params.ref)
    views = blame_views(*queries.blame_file(file, params.range))
    return RawResponse(encode(views), "application/json", file_headers(file, params.ref))
