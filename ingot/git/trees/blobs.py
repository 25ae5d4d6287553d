"""File contents: small blobs are read in process, large ones are streamed."""

import re
from collections.abc import Generator
from hashlib import sha256
from typing import NamedTuple

from ingot.core.cache import BoundedCache, declare_cache
from ingot.core.offload import require_blocking_allowed
from ingot.git.core.library import open_repository, pygit2_module
from ingot.git.core.repository import Repository
from ingot.git.core.streaming import slice_stream, stream_git
from ingot.git.history.hidden_objects import hidden_objects_among

MAX_IN_MEMORY_BYTES = 2**20
"""Maximum size of a blob that may be read as a whole."""
_SLOW_READ_BYTES = 128 * 1024
_START_BYTES = 8000
"""Number of bytes that git checks for a zero byte to detect binary files."""
_ID = re.compile(r"[0-9a-f]{4,40}", re.IGNORECASE)
_OID_LENGTH = 40
STREAMED_BLOBS = ("core.bigFileThreshold", "1m")
"""Otherwise git would load a blob of up to 512 MB into memory."""

_digest_cache: BoundedCache[str, str] = declare_cache("blob-digests", share=1)
_start_cache: BoundedCache[str, bytes] = declare_cache("blob-starts", share=1)
_DIGEST_BYTES = 200


def blob_id_or_none(repository: Repository, name: str) -> str | None:
    """Return the full id of the blob that a (short) id denotes, or None if it is missing or ambiguous."""
    if not _ID.fullmatch(name):
        return None
    handle = open_repository(repository.path)
    try:
        oid = name.lower() if len(name) == _OID_LENGTH else str(handle.expand_id(name.lower()))
        kind, _ = handle.odb.read_header(oid)
    except (KeyError, ValueError):
        return None
    if kind != pygit2_module().enums.ObjectType.BLOB or (
        repository.hidden and hidden_objects_among(repository, [oid], repository.hidden)
    ):
        return None
    return oid


class Blob(NamedTuple):
    """A blob. ``body`` is None if it is larger than ``MAX_IN_MEMORY_BYTES``; it can then only be streamed."""

    repository: Repository
    oid: str
    size: int
    body: bytes | None


def read_blob(repository: Repository, oid: str) -> Blob:
    """Return the blob with this id, which must exist."""
    odb = open_repository(repository.path).odb
    size: int = odb.read_header(oid)[1]
    if size > MAX_IN_MEMORY_BYTES:
        return Blob(repository, oid, size, None)
    if size > _SLOW_READ_BYTES:
        require_blocking_allowed()
    return Blob(repository, oid, size, odb.read(oid)[1])


def read_small_blob(repository: Repository, oid: str, limit: int) -> bytes | None:
    """Return the content of a blob, which must exist; None if it is longer than ``limit``."""
    odb = open_repository(repository.path).odb
    size: int = odb.read_header(oid)[1]
    content: bytes | None = odb.read(oid)[1] if size <= limit else None
    return content


def stream_blob(blob: Blob, start: int, stop: int) -> Generator[bytes, None, None]:
    """Stream the bytes of a blob from ``start`` up to ``stop``."""
    if stop <= start:
        return
    pieces = stream_git(["cat-file", "blob", blob.oid], blob.repository.path, config=[STREAMED_BLOBS])
    yield from slice_stream(pieces, start, stop)


def read_start(blob: Blob) -> bytes:
    """Return enough of a blob to detect its type."""
    if blob.body is not None:
        return blob.body
    cached = _start_cache.get(blob.oid)
    if cached is not None:
        return cached
    start = b"".join(stream_blob(blob, 0, _START_BYTES))
    return _start_cache.put(blob.oid, start, len(start) + 120)


def count_lines(blob: Blob) -> int:
    """Return the number of lines of a blob; the last one may lack its line feed."""
    count, last = 0, b"\n"
    for piece in stream_blob(blob, 0, blob.size) if blob.body is None else [blob.body]:
        count += piece.count(b"\n")
        last = piece[-1:] or last
    return count + (last != b"\n")


def content_digest(blob: Blob) -> str:
    """Return the SHA-256 of a blob in hexadecimal."""
    cached = _digest_cache.get(blob.oid)
    if cached is not None:
        return cached
    digest = sha256(blob.body or b"")
    if blob.body is None:
        for piece in stream_blob(blob, 0, blob.size):
            digest.update(piece)
    return _digest_cache.put(blob.oid, digest.hexdigest(), _DIGEST_BYTES)
