"""Endpoint of the raw content of files, including LFS objects."""

from functools import partial

from ingot.core.access.scopes import READ_SCOPES
from ingot.core.api.routes import Call, ContentResponse, Routes
from ingot.core.errors import NotFound
from ingot.core.http.content_headers import SANDBOX, content_disposition
from ingot.core.http.request import Header
from ingot.git.history.commits import decode_text
from ingot.repositories.content import blob_response, normalize_path
from ingot.repositories.context import RepositoryContext, may_read_code, repository_in_path
from ingot.repositories.files.queries import find_file
from ingot.repositories.files.views import file_headers
from ingot.repositories.lfs.files import lfs_files_of
from ingot.repositories.lfs.params import GetRawFile
from ingot.repositories.lfs.pointers import parse_pointer
from ingot.repositories.lfs.queries import sizes_in_project

routes = Routes("files")


@routes.get(
    "/projects/:id/repository/files/:file_path/raw",
    on=repository_in_path,
    may=may_read_code,
    returns=ContentResponse,
    open=True,
    scopes=READ_SCOPES | {"read_repository"},
    slashes="file_path",
)
def get_raw_file(call: Call, context: RepositoryContext, params: GetRawFile) -> ContentResponse:
    """Get the raw content of a file, or a range of it; with ``lfs`` the object that an LFS pointer references."""
    file = find_file(context.repository, params.ref, normalize_path(call.path["file_path"], "file_path"))
    if file.is_submodule:
        raise NotFound("File")
    name, headers = decode_text(file.entry.name), file_headers(file, params.ref)
    oid = parse_pointer(file.blob.body) if params.lfs and context.project.lfs_enabled else None
    return blob_response(file.blob, name, headers) if oid is None else _lfs_content(call, context, oid, name, headers)


def _lfs_content(
    call: Call, context: RepositoryContext, oid: str, name: str, headers: tuple[Header, ...]
) -> ContentResponse:
    files = lfs_files_of(call.settings)
    size = files.size_of(oid) if sizes_in_project(call.db, context.project.id, [oid]) else None
    if size is None:
        raise NotFound("File")
    pieces = partial(files.pieces, oid)
    all_headers = (*headers, content_disposition("attachment", name), SANDBOX)
    return ContentResponse(f'"{oid}"', size, pieces, "application/octet-stream", all_headers)
