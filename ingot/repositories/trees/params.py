"""What callers send about trees and archives."""

from typing import Literal

from ingot.core.api.params import Params

ArchiveExtension = Literal["tar.gz", "tgz", "gz", "tar.bz2", "tbz", "tbz2", "tb2", "bz2", "tar", "zip"]


class ListTree(Params):
    """Which folder, of which branch, tag or commit; the default branch where none is named."""

    ref: str | None = None
    path: str | None = None
    recursive: bool = False
    page_token: str | None = None


class GetArchive(Params):
    """Which branch, tag or commit, the default branch where none is named, and which part of it."""

    sha: str | None = None
    path: str | None = None


class GetArchiveAs(GetArchive):
    """The same in a format of the caller's choice."""

    format: ArchiveExtension = "tar.gz"
