"""Endpoints of trees, blobs and archives."""

from ingot.core.api.routes import Call, ContentResponse, RawResponse, Routes, StreamedResponse
from ingot.core.db.paging import Listing, Page
from ingot.core.http.transfer_slots import caller_of
from ingot.repositories.content import blob_response, json_response_with_content, normalize_path, require_json_size
from ingot.repositories.context import RepositoryContext, may_read_code, repository_in_path, repository_state
from ingot.repositories.trees import queries
from ingot.repositories.trees.archive_cache import archive_cache
from ingot.repositories.trees.params import ArchiveExtension, GetArchive, GetArchiveAs, ListTree
from ingot.repositories.trees.views import BlobView, TreeEntryView, archive_response, blob_view, entry_view

routes = Routes("trees")


@routes.get(
    "/projects/:id/repository/tree",
    on=repository_in_path,
    may=may_read_code,
    returns=list[TreeEntryView],
    open=True,
    cached=repository_state,
)
def list_tree(call: Call, context: RepositoryContext, params: ListTree, page: Page) -> Listing[TreeEntryView]:  # noqa: ARG001 - The kernel passes the call to every handler.
    """List the entries of a folder of a repository."""
    path = normalize_path(params.path or "", "path")
    listing = queries.list_entries(context.repository, params, path if path != "." else "", page)
    return listing.of([entry_view(entry) for entry in listing.items])


@routes.get(
    "/projects/:id/repository/blobs/:sha",
    on=repository_in_path,
    may=may_read_code,
    returns=BlobView,
    open=True,
    cached=repository_state,
)
def get_blob(call: Call, context: RepositoryContext) -> RawResponse | StreamedResponse:
    """Get a blob by its id."""
    blob = queries.find_blob(context.repository, call.path["sha"])
    require_json_size(blob)
    return json_response_with_content(blob_view(blob), blob)


@routes.get(
    "/projects/:id/repository/blobs/:sha/raw",
    on=repository_in_path,
    may=may_read_code,
    returns=ContentResponse,
    open=True,
)
def get_raw_blob(call: Call, context: RepositoryContext) -> ContentResponse:
    """Get the raw content of a blob by its id, or a range of it."""
    blob = queries.find_blob(context.repository, call.path["sha"])
    return blob_response(blob, blob.oid)


@routes.get(
    "/projects/:id/repository/archive", on=repository_in_path, may=may_read_code, returns=ContentResponse, open=True
)
def get_archive(call: Call, context: RepositoryContext, params: GetArchiveAs) -> ContentResponse:
    """Get an archive of a repository."""
    return _archive(call, context, params, params.format)


def _archive(
    call: Call, context: RepositoryContext, params: GetArchive, extension: ArchiveExtension
) -> ContentResponse:
    source = queries.find_archive_source(context.repository, params.sha, normalize_path(params.path or "", "path"))
    cache, caller = archive_cache(call.settings), caller_of(call.actor, call.origin.ip)
    return archive_response(
        cache, caller, context.project, context.repository, source, extension, append_sha=params.append_sha
    )


def _declare_archive(extension: ArchiveExtension, path: str) -> None:
    def get_archive_as(call: Call, context: RepositoryContext, params: GetArchive) -> ContentResponse:
        """Get an archive of a repository in this format."""
        return _archive(call, context, params, extension)

    get_archive_as.__name__ = f"get_archive_{extension.replace('.', '_')}"
    routes.get(path, on=repository_in_path, may=may_read_code, returns=ContentResponse, open=True)(get_archive_as)


_declare_archive("tar.gz", "/projects/:id/repository/archive.tar.gz")
_declare_archive("tgz", "/projects/:id/repository/archive.tgz")
_declare_archive("gz", "/projects/:id/repository/archive.gz")
_declare_archive("tar.bz2", "/projects/:id/repository/archive.tar.bz2")
_declare_archive("tbz", "/projects/:id/repository/archive.tbz")
_declare_archive("tbz2", "/projects/:id/repository/archive.tbz2")
_declare_archive("tb2", "/projects/:id/repository/archive.tb2")
_declare_archive("bz2", "/projects/:id/repository/archive.bz2")
_declare_archive("tar", "/projects/:id/repository/archive.tar")
_declare_archive("zip", "/projects/:id/repository/archive.zip")
