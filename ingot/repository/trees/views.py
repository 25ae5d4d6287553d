"""How trees, blobs and archives are shown."""

from base64 import b64encode
from typing import Literal, get_args

from ingot.api.routes import Content
from ingot.api.views import View
from ingot.git.archives import Format, stream_archive
from ingot.git.blobs import Blob
from ingot.git.commits import decoded
from ingot.git.entries import FOLDER, MODULE, Entry
from ingot.git.repository import Repository
from ingot.projects.tables import Project
from ingot.repository.contents import disposition, tag_of
from ingot.repository.trees.params import Spelling
from ingot.repository.trees.queries import Chosen

_BZIP2 = ("tar.bz2", "tbz", "tbz2", "tb2", "bz2")
SPELLINGS: tuple[Spelling, ...] = get_args(Spelling)


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


def entry_view(entry: Entry) -> TreeEntryView:
    """One entry of a folder."""
    path = decoded(entry.path)
    return TreeEntryView(
        id=entry.oid,
        name=path.rpartition("/")[2],
        type="tree" if entry.mode == FOLDER else "commit" if entry.mode == MODULE else "blob",
        path=path,
        mode=f"{entry.mode:06o}",
    )


def blob_view(blob: Blob) -> BlobView:
    """A content; that of a large one is left empty."""
    return BlobView(size=blob.size, encoding="base64", sha=blob.oid, content=b64encode(blob.body or b"").decode())


def archive(project: Project, repository: Repository, chosen: Chosen, spelling: Spelling) -> Content:
    """An archive that is made while it is sent, all of it in a folder of its own name."""
    form = _format(spelling)
    parts = [project.path, chosen.ref, chosen.commit, *([decoded(chosen.path)] if chosen.path else [])]
    name = "-".join(part.replace("/", "-") for part in parts)
    return Content(
        tag_of([name, form, decoded(chosen.path)]),
        None,
        lambda _start, _stop: stream_archive(repository, chosen.commit, form, f"{name}/", chosen.path),
        "application/zip" if form == "zip" else "application/octet-stream",
        (disposition("attachment", f"{name}.{form}"),),
    )


def _format(spelling: Spelling) -> Format:
    if spelling in _BZIP2:
        return "tar.bz2"
    return spelling if spelling in ("tar", "zip") else "tar.gz"
