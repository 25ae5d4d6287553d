"""Responses with the files of a site: types, compression, ranges and validators, each as the files were deployed."""

import mimetypes
import struct
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ingot.ci.artifacts.store import ArtifactStore
from ingot.core.api.component import NOSNIFF
from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.http.content_headers import accepts_coding
from ingot.core.http.request import Header
from ingot.sites.deployments.tables import PagesDeployment
from ingot.sites.files.index import DEFLATED, SiteEntry, SiteIndex
from ingot.sites.files.store import content_pieces, packed_pieces, read_index, read_packed, unpack

CACHED_BYTES = 64 * 1024
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_GZIP_TAIL = struct.Struct("<2L")
_MIN_COMPRESSED = 256
_TEXTS = ("text/", "application/json", "application/javascript", "application/xml", "image/svg+xml")
_TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".webp": "image/webp",
    ".avif": "image/avif",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".md": "text/markdown",
    ".map": "application/json",
    ".atom": "application/atom+xml",
    ".rss": "application/rss+xml",
    ".gz": "application/gzip",
    ".br": "application/octet-stream",
}
_index_cache: BoundedCache[str, SiteIndex] = declare_cache("site-indexes", share=1.0)
_content_cache: BoundedCache[tuple[str, int, bool], bytes] = declare_cache("site-files", share=1.0)


class SiteFile(NamedTuple):
    """A file of a deployment as a response sends it."""

    deployment: PagesDeployment
    entry: SiteEntry
    content_type: str
    coding: str
    """Content-Encoding: empty, ``gzip`` or ``br``."""
    wraps: bool
    """Whether the stored compressed content only needs the frame of gzip around it."""

    @property
    def size(self) -> int:
        """Number of bytes that a whole response has."""
        return self.entry.packed_size + len(_GZIP_HEAD) + _GZIP_TAIL.size if self.wraps else self.entry.size

    @property
    def etag(self) -> str:
        """Validator, which differs for each coding."""
        suffix = f"-{self.coding}" if self.coding else ""
        return f'"{self.entry.crc:08x}-{self.entry.size:x}{suffix}"'


def site_index(store: ArtifactStore, deployment: PagesDeployment) -> SiteIndex:
    """Return the index of a deployment; raise FileNotFoundError if its file was deleted."""
    key = deployment.storage_key
    index = _index_cache.get(key)
    if index is None:
        index = read_index(store, key, deployment.index_offset, deployment.size)
        _index_cache.put(key, index, index.size + len(key))
    return index


def cached_index(deployment: PagesDeployment) -> SiteIndex | None:
    """Return the index of a deployment if it is in memory."""
    return _index_cache.get(deployment.storage_key)


def find_file(
    deployment: PagesDeployment, index: SiteIndex, path: str, headers: Mapping[bytes, bytes], *, whole: bool
) -> SiteFile | None:
    """Return the file with a path, in a coding that the client accepts if it requests the ``whole`` file."""
    name = path.encode(errors="surrogateescape")
    entry = index.find(name)
    if entry is None:
        return None
    kind = content_type(path)
    for coding, suffix in (("br", b".br"), ("gzip", b".gz")):
        variant = index.find(name + suffix) if whole and accepts_coding(headers, coding.encode()) else None
        if variant is not None:
            return SiteFile(deployment, variant, kind, coding, wraps=False)
    compressible = entry.method == DEFLATED and entry.size >= _MIN_COMPRESSED and kind.startswith(_TEXTS)
    wraps = compressible and whole and accepts_coding(headers, b"gzip")
    return SiteFile(deployment, entry, kind, "gzip" if wraps else "", wraps)


def content_type(path: str) -> str:
    """Return the type of a file by its name, with the character set of texts."""
    name = path.rpartition("/")[2].lower()
    stem, dot, suffix = name.rpartition(".")
    guessed = _TYPES.get(f".{suffix}") if dot else None
    if guessed is None:
        guessed = mimetypes.guess_type(name)[0] or ("application/octet-stream" if dot and stem else "text/plain")
    return f"{guessed}; charset=utf-8" if guessed.startswith(_TEXTS) else guessed


def cached_body(file: SiteFile) -> bytes | None:
    """Return the content of a small file if it is in memory."""
    return _content_cache.get((file.deployment.storage_key, file.entry.offset, file.wraps))


def read_body(store: ArtifactStore, file: SiteFile) -> bytes:
    """Return the content of a small file, and remember it."""
    key, entry = file.deployment.storage_key, file.entry
    packed = read_packed(store, key, entry)
    if file.wraps:
        body = _GZIP_HEAD + packed + _GZIP_TAIL.pack(entry.crc, entry.size & 0xFFFFFFFF)
    else:
        body = unpack(entry, packed)
    return _content_cache.put((key, entry.offset, file.wraps), body, len(body) + len(key))


def body_pieces(store: ArtifactStore, file: SiteFile, start: int, stop: int) -> Iterator[bytes]:
    """Yield a range of the content of a large file; a wrapped one is only requested as a whole."""
    key, entry = file.deployment.storage_key, file.entry
    if not file.wraps:
        yield from content_pieces(store, key, entry, start, stop)
        return
    yield _GZIP_HEAD
    yield from packed_pieces(store, key, entry)
    yield _GZIP_TAIL.pack(entry.crc, entry.size & 0xFFFFFFFF)


def is_small(file: SiteFile) -> bool:
    """Return whether the content of a file is held in memory as a whole."""
    return max(file.size, file.entry.packed_size) <= CACHED_BYTES


def file_headers(file: SiteFile, *, public: bool) -> tuple[Header, ...]:
    """Return the headers that describe a file, besides those that every response with content has."""
    headers = [
        (b"cache-control", b"max-age=600" if public else b"private, no-cache"),
        (b"vary", b"accept-encoding" if public else b"accept-encoding, cookie"),
        NOSNIFF,
    ]
    if file.coding:
        headers.append((b"content-encoding", file.coding.encode()))
    if public:
        headers.append((b"access-control-allow-origin", b"*"))
    return tuple(headers)
