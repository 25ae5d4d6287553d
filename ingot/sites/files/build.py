"""Conversion of an artifact archive to the file of a site: the contents of one folder, checked, then their index.

Contents are copied as they are compressed. Each is decompressed once to compare its size and checksum, so that the
server can rely on them.
"""

import zlib
from typing import BinaryIO, NamedTuple

from ingot.ci.artifacts.archives import ArchiveEntry, InvalidArchive, ZipArchive, extract, open_archive
from ingot.ci.artifacts.store import IncomingArtifact
from ingot.core.errors import Invalid
from ingot.sites.files.index import SiteEntry, encode_index
from ingot.sites.files.links import resolve_links

_CHUNK_BYTES = 256 * 1024
_MAX_LINK_BYTES = 4096


class SiteLimits(NamedTuple):
    """Limits of a site."""

    content_bytes: int
    """Size of all files together, decompressed."""
    files: int


class BuiltSite(NamedTuple):
    """File of a site that was written, but not published yet."""

    index_offset: int
    size: int
    file_count: int
    content_size: int


def build_site(source: BinaryIO, size: int, root: str, target: IncomingArtifact, limits: SiteLimits) -> BuiltSite:
    """Write the files below a folder of an archive; raise Invalid if there are none, too many or damaged ones."""
    try:
        with open_archive(source, size) as archive:
            archive.validate()
            entries, links = _chosen_entries(archive, root, limits)
            found: dict[bytes, SiteEntry] = {}
            # In the order of the archive, so that a file in a bucket is read once.
            for path, entry in sorted(entries.items(), key=lambda item: item[1].offset):
                found[path] = _copy(source, archive, entry, target)
            targets = {path: _link_target(source, archive, entry) for path, entry in links.items()}
    except InvalidArchive as error:
        raise Invalid(f"The archive of the site is rejected: {error}") from None
    found |= resolve_links(found, targets)
    index_offset = target.size
    target.write(encode_index(found))
    return BuiltSite(index_offset, target.size, len(found), sum(entry.size for entry in entries.values()))


def _chosen_entries(
    archive: ZipArchive, root: str, limits: SiteLimits
) -> tuple[dict[bytes, ArchiveEntry], dict[bytes, ArchiveEntry]]:
    """Return the files and the symbolic links below a folder by their paths in it; of two with a path, the last."""
    prefix = f"{root}/" if root else ""
    files: dict[bytes, ArchiveEntry] = {}
    links: dict[bytes, ArchiveEntry] = {}
    for entry in archive.entries():
        name = entry.name.removeprefix("./")
        if not name.startswith(prefix) or name.endswith("/"):
            continue
        path = name[len(prefix) :].encode(errors="surrogateescape")
        files.pop(path, None)
        links.pop(path, None)
        (links if entry.is_link else files)[path] = entry
        if len(files) + len(links) > limits.files:
            raise Invalid(f"The site has more than {limits.files} files")
    if not files:
        raise Invalid(
            f"The artifacts contain no folder {root}/ with files; "
            "put the site into the folder public, or name its folder with pages:publish"
        )
    total = sum(entry.size for entry in files.values())
    if total > limits.content_bytes:
        raise Invalid(f"The site is too large: {total} bytes, while {limits.content_bytes} are allowed")
    return files, links


def _copy(source: BinaryIO, archive: ZipArchive, entry: ArchiveEntry, target: IncomingArtifact) -> SiteEntry:
    start = archive.content_offset(entry)
    checksum = length = 0
    for piece in extract(source, entry, start, 0, entry.size):
        checksum = zlib.crc32(piece, checksum)
        length += len(piece)
    if length != entry.size or checksum != entry.crc:
        raise InvalidArchive(f"the content of {entry.name[:200]!r} is damaged")
    offset, left = target.size, entry.packed_size
    source.seek(start)
    while left and (piece := source.read(min(_CHUNK_BYTES, left))):
        target.write(piece)
        left -= len(piece)
    return SiteEntry(offset, entry.size, entry.packed_size, entry.crc, entry.method)


def _link_target(source: BinaryIO, archive: ZipArchive, entry: ArchiveEntry) -> bytes:
    if entry.size > _MAX_LINK_BYTES:
        return b""
    return b"".join(extract(source, entry, archive.content_offset(entry), 0, entry.size))
