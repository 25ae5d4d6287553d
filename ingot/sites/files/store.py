"""Storage of the files of sites: one file for each deployment, with the contents of its pages and their index."""

import io
from collections.abc import Iterator

from ingot.ci.artifacts.archives import ArchiveEntry, extract
from ingot.ci.artifacts.store import ArtifactStore
from ingot.core.settings import Settings
from ingot.core.storage.configuration import file_storage
from ingot.sites.files.index import SiteEntry, SiteIndex


def site_store_of(settings: Settings) -> ArtifactStore:
    """Return the storage of an instance's sites."""
    return ArtifactStore(file_storage(settings, "pages"))


def read_index(store: ArtifactStore, key: str, index_offset: int, size: int) -> SiteIndex:
    """Return the index of a site; raise FileNotFoundError if the file was deleted."""
    return SiteIndex(b"".join(store.pieces(key, index_offset, size)))


def read_packed(store: ArtifactStore, key: str, entry: SiteEntry) -> bytes:
    """Return the content of a file as it is stored, possibly compressed."""
    return b"".join(store.pieces(key, entry.offset, entry.offset + entry.packed_size))


def packed_pieces(store: ArtifactStore, key: str, entry: SiteEntry) -> Iterator[bytes]:
    """Yield the content of a file as it is stored."""
    return store.pieces(key, entry.offset, entry.offset + entry.packed_size)


def content_pieces(store: ArtifactStore, key: str, entry: SiteEntry, start: int, stop: int) -> Iterator[bytes]:
    """Yield a byte range of a file, decompressed."""
    with store.open(key) as file:
        yield from extract(file, _archive_entry(entry), entry.offset, start, stop)


def unpack(entry: SiteEntry, packed: bytes) -> bytes:
    """Return the decompressed content of a file whose packed content was read."""
    whole = SiteEntry(0, entry.size, entry.packed_size, entry.crc, entry.method)
    return b"".join(extract(io.BytesIO(packed), _archive_entry(whole), 0, 0, entry.size))


def _archive_entry(entry: SiteEntry) -> ArchiveEntry:
    return ArchiveEntry("", entry.size, entry.packed_size, entry.method, False, entry.offset, entry.crc)
