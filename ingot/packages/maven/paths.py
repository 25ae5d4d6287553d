"""Paths of files in a Maven repository."""

import re
from typing import NamedTuple

from ingot.core.errors import Invalid

METADATA_FILE = "maven-metadata.xml"
MAX_LENGTH = 255
_PART = re.compile(r"[\w.+-]+", re.ASCII)
_FILE_NAME = re.compile(r"[A-Za-z0-9._+-]+")
CHECKSUMS = ("sha1", "md5", "sha256", "sha512")


class MavenPath(NamedTuple):
    """Package and file of a path, and the checksum that it asks for, if any."""

    name: str
    """Empty if the path has only one part."""
    version: str
    """Empty for the file that lists all versions."""
    file_name: str
    checksum: str | None

    @property
    def replaceable(self) -> bool:
        """Whether clients may replace the file: descriptions of versions, and files of snapshots."""
        return self.file_name == METADATA_FILE or self.version.endswith("-SNAPSHOT")


def parse_maven_path(path: str, file_name: str) -> MavenPath:
    """Return the parts of ``com/example/app/1.0`` and a file name; raise Invalid for a malformed one."""
    parts = path.strip("/").split("/")
    if not all(_PART.fullmatch(part) and part not in (".", "..") for part in parts) or len(path) > MAX_LENGTH:
        raise Invalid(path=["is invalid"])
    if not _FILE_NAME.fullmatch(file_name) or file_name in (".", "..") or len(file_name) > MAX_LENGTH:
        raise Invalid(file_name=["is invalid"])
    stem, _, extension = file_name.rpartition(".")
    checksum = extension if extension in CHECKSUMS and stem else None
    plain = stem if checksum else file_name
    if plain == METADATA_FILE and not parts[-1].endswith("-SNAPSHOT"):
        return MavenPath("/".join(parts), "", plain, checksum)
    return MavenPath("/".join(parts[:-1]), parts[-1], plain, checksum)
