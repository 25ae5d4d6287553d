"""Request parameters of trees and archives."""

from typing import Literal

from ingot.core.api.params import Params

ArchiveExtension = Literal["tar.gz", "tgz", "gz", "tar.bz2", "tbz", "tbz2", "tb2", "bz2", "tar", "zip"]


class ListTree(Params):
    """Folder and ref to list; the default is the root of the default branch."""

    ref: str | None = None
    path: str | None = None
    recursive: bool = False
    page_token: str | None = None


class GetArchive(Params):
    """Ref and folder to archive; the default is the whole default branch."""

    sha: str | None = None
    path: str | None = None
    append_sha: bool = True
    """Whether the name of the archive ends with the id of the commit."""


class GetArchiveAs(GetArchive):
    """Ref, folder and format of an archive."""

    format: ArchiveExtension = "tar.gz"
