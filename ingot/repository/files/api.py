"""Reading files over the API."""

from ingot.access.scopes import READING
from ingot.api.answers import encode
from ingot.api.routes import Call, Raw, Routes, Streamed
from ingot.repository.contents import json_with_content, read_path
from ingot.repository.files import queries
from ingot.repository.files.params import GetBlame, GetFile
from ingot.repository.files.queries import File
from ingot.repository.files.views import (
    BlamedLinesView,
    FileView,
    blamed_views,
    file_headers,
    file_view,
    view_headers,
)
from ingot.repository.place import Place, may_read_code, place_in_path

routes = Routes("files")
_SCOPES = READING | {"read_repository"}


def _file(call: Call, place: Place, ref: str) -> File:
    return queries.find_file(place.repository, ref, read_path(call.path["file_path"], "file_path"))


@routes.get(
    "/projects/:id/repository/files/:file_path",
    on=place_in_path,
    may=may_read_code,
    returns=FileView,
    open=True,
    scopes=_SCOPES,
    slashes="file_path",
)
def get_file(call: Call, place: Place, params: GetFile) -> Raw | Streamed:
    """Get a file with its content; the headers tell all but that."""
    file = _file(call, place, params.ref)
    view = file_view(file, params.ref)
    return json_with_content(view, file.blob, view_headers(view))


@routes.get(
    "/projects/:id/repository/files/:file_path/blame",
    on=place_in_path,
    may=may_read_code,
    returns=list[BlamedLinesView],
    open=True,
    scopes=_SCOPES,
    slashes="file_path",
)
def get_blame(call: Call, place: Place, params: GetBlame) -> Raw:
    """List the lines of a file by the commits that they came with."""
    file = _file(call, place, params.ref)
    views = blamed_views(*queries.blame_file(file, params.range))
    return Raw(encode(views), "application/json", file_headers(file, params.ref))
