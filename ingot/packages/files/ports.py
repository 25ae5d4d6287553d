"""Port to the web worker that records downloads of packages."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackageDownloads:
    """Port to the tracker of downloads."""

    note: Callable[[int], None]
    """Takes the id of a package, and returns before the download is stored."""
