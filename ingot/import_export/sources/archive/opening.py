"""Opening of files that users upload for an import."""

import re
from pathlib import Path

from ingot.git.maintenance.bundles import BUNDLE_MARKS
from ingot.import_export.source import GroupSource, ProjectSource, SourceError
from ingot.import_export.sources.archive.bundle import BundleProject
from ingot.import_export.sources.archive.group import ArchiveGroup
from ingot.import_export.sources.archive.project import ArchiveProject
from ingot.import_export.sources.archive.unpacked_archive import UnpackedArchive

_VERSION = re.compile(r"0\.(\d{1,4})\.(\d{1,6})")
_OLDEST_VERSION = 1, 6
"""That of GitLab 9.0."""


def open_archive(path: Path, max_bytes: int = 0, file_name: str | None = None) -> ProjectSource:
    """Open the export of a project, or a git bundle with its name; raise SourceError if the file is neither."""
    if _is_bundle(path):
        return BundleProject(path, file_name or path.name)
    archive = _checked_archive(path, max_bytes)
    try:
        return ArchiveProject(archive)
    except BaseException:
        archive.close()
        raise


def open_group_archive(path: Path, max_bytes: int = 0) -> GroupSource:
    """Open the export of a group; raise SourceError if the file is none."""
    archive = _checked_archive(path, max_bytes)
    try:
        return ArchiveGroup(archive)
    except BaseException:
        archive.close()
        raise


def _is_bundle(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(BUNDLE_MARKS[0])) in BUNDLE_MARKS


def _checked_archive(path: Path, max_bytes: int) -> UnpackedArchive:
    archive = UnpackedArchive(path, max_bytes)
    try:
        _check_version(archive.read("VERSION", 64))
    except BaseException:
        archive.close()
        raise
    return archive


def _check_version(content: bytes | None) -> None:
    if content is None:
        raise SourceError("The file is not an export archive: VERSION is missing")
    match = _VERSION.fullmatch(content.decode(errors="replace").strip())
    if match is None or (int(match[1]), int(match[2])) < _OLDEST_VERSION:
        raise SourceError("The version of the export archive is not supported; 0.1.6 and later are")
