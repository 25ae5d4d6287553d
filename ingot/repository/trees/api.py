"""Trees, blobs and archives over the API."""

from ingot.api.routes import Call, Content, Raw, Routes, Streamed
from ingot.db.paging import Listing, Page
from ingot.repository.contents import blob_content, json_with_content, read_path
from ingot.repository.place import Place, may_read_code, place_in_path
from ingot.repository.trees import queries
from ingot.repository.trees.params import GetArchive, GetArchiveAs, ListTree, Spelling
from ingot.repository.trees.views import SPELLINGS, BlobView, TreeEntryView, archive, blob_view, entry_view

routes = Routes("trees")


@routes.get(
    "/projects/:id/repository/tree", on=place_in_path, may=may_read_code, returns=list[TreeEntryView], open=True
)
def list_tree(call: Call, place: Place, params: ListTree, page: Page) -> Listing[TreeEntryView]:  # noqa: ARG001 - Every handler gets its call.
    """List what a folder of a repository holds."""
    path = read_path(params.path or "", "path")
    found = queries.list_entries(place.repository, params, path if path != "." else "", page)
    return found.of([entry_view(entry) for entry in found.items])


@routes.get("/projects/:id/repository/blobs/:sha", on=place_in_path, may=may_read_code, returns=BlobView, open=True)
def get_blob(call: Call, place: Place) -> Raw | Streamed:
    """Get a content by its id."""
    blob = queries.find_blob(place.repository, call.path["sha"])
    return json_with_content(blob_view(blob), blob)


@routes.get("/projects/:id/repository/blobs/:sha/raw", on=place_in_path, may=may_read_code, returns=Content, open=True)
def get_raw_blob(call: Call, place: Place) -> Content:
    """Get a content by its id as it is, or a range of it."""
    blob = queries.find_blob(place.repository, call.path["sha"])
    return blob_content(blob, blob.oid)


@routes.get("/projects/:id/repository/archive", on=place_in_path, may=may_read_code, returns=Content, open=True)
def get_archive(call: Call, place: Place, params: GetArchiveAs) -> Content:  # noqa: ARG001 - Every handler gets its call.
    """Get an archive of a repository."""
    return _archive(place, params, params.format)


def _archive(place: Place, params: GetArchive, spelling: Spelling) -> Content:
    chosen = queries.find_chosen(place.repository, params.sha, read_path(params.path or "", "path"))
    return archive(place.project, place.repository, chosen, spelling)


def _declare_archive(spelling: Spelling) -> None:
    def get_archive_as(call: Call, place: Place, params: GetArchive) -> Content:  # noqa: ARG001 - Every handler gets its call.
        """Get an archive of a repository in this format."""
        return _archive(place, params, spelling)

    get_archive_as.__name__ = f"get_archive_{spelling.replace('.', '_')}"
    path = f"/projects/:id/repository/archive.{spelling}"
    routes.get(path, on=place_in_path, may=may_read_code, returns=Content, open=True)(get_archive_as)


for _spelling in SPELLINGS:
    _declare_archive(_spelling)
