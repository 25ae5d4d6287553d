"""The content of files over the API, also of those that lie beside the repository."""

from functools import partial

from ingot.access.scopes import READING
from ingot.api.routes import Call, Content, Routes
from ingot.errors import NotFound
from ingot.git.commits import decoded
from ingot.lfs.files import lfs_files_of
from ingot.lfs.params import GetRawFile
from ingot.lfs.pointers import named_by
from ingot.lfs.queries import sizes_in_project
from ingot.repository.contents import SANDBOX, Header, blob_content, disposition, read_path
from ingot.repository.files.queries import find_file
from ingot.repository.files.views import file_headers
from ingot.repository.place import Place, may_read_code, place_in_path

routes = Routes("files")


@routes.get(
    "/projects/:id/repository/files/:file_path/raw",
    on=place_in_path,
    may=may_read_code,
    returns=Content,
    open=True,
    scopes=READING | {"read_repository"},
    slashes="file_path",
)
def get_raw_file(call: Call, place: Place, params: GetRawFile) -> Content:
    """Get the content of a file, or a range of it; with ``lfs`` that of the large file which it stands for."""
    file = find_file(place.repository, params.ref, read_path(call.path["file_path"], "file_path"))
    if file.is_module:
        raise NotFound("File")
    name, headers = decoded(file.entry.name), file_headers(file, params.ref)
    oid = named_by(file.blob.body) if params.lfs and place.project.lfs_enabled else None
    return blob_content(file.blob, name, headers) if oid is None else _large_content(call, place, oid, name, headers)


def _large_content(call: Call, place: Place, oid: str, name: str, headers: tuple[Header, ...]) -> Content:
    files = lfs_files_of(call.settings)
    size = files.size_of(oid) if sizes_in_project(call.db, place.project.id, [oid]) else None
    if size is None:
        raise NotFound("File")
    pieces = partial(files.pieces, oid)
    sent = (*headers, disposition("attachment", name), SANDBOX)
    return Content(f'"{oid}"', size, pieces, "application/octet-stream", sent)
