"""Contents of files: small ones are read in process, large ones are streamed and never held."""

import re
from collections.abc import Generator
from hashlib import sha256
from typing import NamedTuple

from ingot.git.hidden_objects import only_hidden
from ingot.git.library import library, open_repository
from ingot.git.remembered import Remembered
from ingot.git.repository import Repository
from ingot.git.streaming import cut, stream_git
from ingot.inline import expect_a_wait

HELD_BYTES = 2**20
"""Up to this size a content may be read as a whole."""
_LONG_BYTES = 128 * 1024
_START_BYTES = 8000
"""As far as git looks for a zero byte, by which it tells what is no text."""
_ID = re.compile(r"[0-9a-f]{4,40}", re.IGNORECASE)
_OID_LENGTH = 40
# Else git itself would hold what it writes, up to 512 MB of it.
_STREAMED = (("core.bigFileThreshold", "1m"),)

_digests: Remembered[str, str] = Remembered(10_000, 4 * 2**20)
_starts: Remembered[str, bytes] = Remembered(200, 4 * 2**20)


def blob_id(repository: Repository, name: str) -> str | None:
    """The whole id of the content that a (short) id stands for; nothing where there is none, or more than one."""
    if not _ID.fullmatch(name):
        return None
    handle = open_repository(repository.path)
    try:
        oid = name.lower() if len(name) == _OID_LENGTH else str(handle.expand_id(name.lower()))
        kind, _ = handle.odb.read_header(oid)
    except (KeyError, ValueError):
        return None
    if kind != library().enums.ObjectType.BLOB or (
        repository.hidden and only_hidden(repository, [oid], repository.hidden)
    ):
        return None
    return oid


class Blob(NamedTuple):
    """A content; one of more than ``HELD_BYTES`` is known by its size, and had in pieces only."""

    repository: Repository
    oid: str
    size: int
    body: bytes | None


def read_blob(repository: Repository, oid: str) -> Blob:
    """The content with this id, which must be there."""
    odb = open_repository(repository.path).odb
    size: int = odb.read_header(oid)[1]
    if size > HELD_BYTES:
        return Blob(repository, oid, size, None)
    if size > _LONG_BYTES:
        expect_a_wait()
    return Blob(repository, oid, size, odb.read(oid)[1])


def stream_blob(blob: Blob, start: int, stop: int) -> Generator[bytes, None, None]:
    """The bytes of a content from ``start`` up to ``stop``, whatever its size."""
    if stop <= start:
        return
    pieces = stream_git(["cat-file", "blob", blob.oid], blob.repository.path, config=_STREAMED)
    yield from cut(pieces, start, stop)


def start_of(blob: Blob) -> bytes:
    """As much of a content as tells what it is."""
    if blob.body is not None:
        return blob.body
    known = _starts.get(blob.oid)
    if known is not None:
        return known
    start = b"".join(stream_blob(blob, 0, _START_BYTES))
    return _starts.keep(blob.oid, start, len(start))


def digest_of(blob: Blob) -> str:
    """The SHA-256 of a content, in hexadecimal."""
    known = _digests.get(blob.oid)
    if known is not None:
        return known
    digest = sha256(blob.body or b"")
    if blob.body is None:
        for piece in stream_blob(blob, 0, blob.size):
            digest.update(piece)
    return _digests.keep(blob.oid, digest.hexdigest(), 250)
