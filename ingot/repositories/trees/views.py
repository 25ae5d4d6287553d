"""How trees, blobs and archives are shown."""

from base64 import b64encode
from typing import Literal, get_args

from ingot.core.api.routes import ContentResponse
from ingot.core.api.views import View
from ingot.git.core.repository import Repository
from ingot.git.history.commits import decode_text
from ingot.git.trees.archives import Format, stream_archive
from ingot.git.trees.blobs import Blob
from ingot.git.trees.entries import FOLDER, SUBMODULE, TreeEntry
from ingot.projects.projects.tables import Project
from ingot.repositories.content import content_disposition, entity_tag
from ingot.repositories.trees.params import ArchiveExtension
from ingot.repositories.trees.queries import ArchiveSource

_BZIP2 = ("tar.bz2", "tbz", "tbz2", "tb2", "bz2")
ARCHIVE_EXTENSIONS: tuple[ArchiveExtension, ...] = get_args(ArchiveExtension)


class TreeEntryView(View):
    """What a folder holds under a name."""

    id: str
    name: str
    type: Literal["tree", "blob", "commit"]
    path: str
    mode: str


class BlobView(View):
    """A content in Base64."""

    size: int
    encoding: str
    sha: str
    content: str


def entry_view(entry: TreeEntry) -> TreeEntryView:
    """One entry of a folder."""
    path = decode_text(entry.path)
    return TreeEntryView(
        id=entry.oid,
        name=path.rpartition("/")[2],
        type="tree" if entry.mode == FOLDER else "commit" if entry.mode == SUBMODULE else "blob",
        path=path,
        mode=f"{entry.mode:06o}",
    )


def blob_view(blob: Blob) -> BlobView:
    """A content; that of a large one is left empty."""
    return BlobView(size=blob.size, encoding="base64", sha=blob.oid, content=b64encode(blob.body or b"").decode())


def archive_response(
    project: Project, repository: Repository, chosen: ArchiveSource, spelling: ArchiveExtension
) -> ContentResponse:
    """An archive that is made while it is sent, all of it in a folder of its own name."""
    form = _archive_format(spelling)
    parts = [project.path, chosen.ref, chosen.commit, *([decode_text(chosen.path)] if chosen.path else [])]
    name = "-".join(part.replace("/", "-") for part in parts)
    return ContentResponse(
        entity_tag([name, form, decode_text(chosen.path)]),
        None,
        lambda _start, _stop: stream_archive(repository, chosen.commit, form, f"{name}/", chosen.path),
        "application/zip" if form == "zip" else "application/octet-stream",
        (content_disposition("attachment", f"{name}.{form}"),),
    )


def _archive_format(spelling: ArchiveExtension) -> Format:
    if spelling in _BZIP2:
        return "tar.bz2"
    return spelling if spelling in ("tar", "zip") else "tar.gz"
