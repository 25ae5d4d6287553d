"""Response structs of trees, blobs and archives."""

from base64 import b64encode
from collections.abc import Generator
from typing import Literal, get_args

from ingot.core.api.routes import ContentResponse
from ingot.core.api.views import View
from ingot.core.http.content_headers import content_disposition
from ingot.core.http.transfer_slots import TransferCaller
from ingot.git.core.repository import Repository
from ingot.git.history.commits import decode_text
from ingot.git.trees.archives import Format, stream_archive
from ingot.git.trees.blobs import Blob
from ingot.git.trees.entries import FOLDER, SUBMODULE, TreeEntry
from ingot.projects.projects.tables import Project
from ingot.repositories.content import entity_tag
from ingot.repositories.trees.archive_cache import ArchiveCache
from ingot.repositories.trees.params import ArchiveExtension
from ingot.repositories.trees.queries import ArchiveSource, short_ref

_BZIP2 = ("tar.bz2", "tbz", "tbz2", "tb2", "bz2")
ARCHIVE_EXTENSIONS: tuple[ArchiveExtension, ...] = get_args(ArchiveExtension)


class TreeEntryView(View):
    """An entry of a folder."""

    id: str
    name: str
    type: Literal["tree", "blob", "commit"]
    path: str
    mode: str


class BlobView(View):
    """A blob with its content in base64."""

    size: int
    encoding: str
    sha: str
    content: str


def entry_view(entry: TreeEntry) -> TreeEntryView:
    """Return the view of a folder's entry."""
    path = decode_text(entry.path)
    return TreeEntryView(
        id=entry.oid,
        name=path.rpartition("/")[2],
        type="tree" if entry.mode == FOLDER else "commit" if entry.mode == SUBMODULE else "blob",
        path=path,
        mode=f"{entry.mode:06o}",
    )


def blob_view(blob: Blob) -> BlobView:
    """Return the view of a blob; the content of a large blob is left empty and streamed later."""
    return BlobView(size=blob.size, encoding="base64", sha=blob.oid, content=b64encode(blob.body or b"").decode())


def archive_name(project_path: str, ref: str) -> str:
    """Return the name of an archive of a branch, tag or commit, without its ending."""
    return f"{project_path}-{short_ref(ref).replace('/', '-')}"


def archive_response(
    cache: ArchiveCache,
    caller: TransferCaller,
    project: Project,
    repository: Repository,
    source: ArchiveSource,
    extension: ArchiveExtension,
    *,
    append_sha: bool,
) -> ContentResponse:
    """Return an archive from the cache, or one that is created while it is sent.

    All its entries are below a folder named after it.
    """
    archive_format = _archive_format(extension)
    parts = [source.commit] * append_sha + [decode_text(source.path)] * bool(source.path)
    name = archive_name(project.path, "-".join([source.ref, *parts]))
    key = (str(repository.path), source.commit, archive_format, name, source.path.hex())

    def compute() -> Generator[bytes, None, None]:
        return stream_archive(repository, source.commit, archive_format, f"{name}/", source.path)

    return ContentResponse(
        entity_tag([name, source.commit, archive_format, decode_text(source.path)]),
        None,
        lambda _start, _stop: cache.pieces(key, caller.key, compute),
        "application/zip" if archive_format == "zip" else "application/octet-stream",
        (content_disposition("attachment", f"{name}.{archive_format}"),),
    )


def _archive_format(extension: ArchiveExtension) -> Format:
    if extension in _BZIP2:
        return "tar.bz2"
    return extension if extension in ("tar", "zip") else "tar.gz"
