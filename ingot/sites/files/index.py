"""Index of the files of a site: where the content of a path is, found by a binary search in a few microseconds.

The index is a text of bytes that is searched as it is; decoding 10,000 entries would take longer than a request may.
It contains digests of paths instead of paths. The digests depend on a random value, and whoever writes an index makes
sure that no two paths of a site have the same.
"""

import secrets
import struct
from collections.abc import Mapping
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from ingot.core.errors import Invalid

STORED, DEFLATED = 0, 8
_MAGIC = b"ISITE001"
_HEADER = struct.Struct("<8s16sL4x")
_ENTRY = struct.Struct("<3QLHH")
_DIGEST_BYTES = 8
_ATTEMPTS = 4


class SiteEntry(NamedTuple):
    """Place of the content of a file in the file of a site."""

    offset: int
    size: int
    packed_size: int
    crc: int
    method: int


class SiteIndex:
    """Index that was read from the storage."""

    def __init__(self, content: bytes) -> None:
        if len(content) < _HEADER.size or content[:8] != _MAGIC:
            raise Invalid("The index of the site is damaged")
        _, self._salt, self._count = _HEADER.unpack_from(content)
        self._content = content
        self._entries = _HEADER.size + self._count * _DIGEST_BYTES
        if len(content) != self._entries + self._count * _ENTRY.size:
            raise Invalid("The index of the site is damaged")

    @property
    def size(self) -> int:
        """Memory of the index in bytes."""
        return len(self._content)

    def find(self, path: bytes) -> SiteEntry | None:
        """Return the file with a path relative to the site, without a slash at its beginning; None if there is none."""
        wanted = _digest(self._salt, path)
        low, high = 0, self._count
        content, start = self._content, _HEADER.size
        while low < high:
            middle = (low + high) // 2
            position = start + middle * _DIGEST_BYTES
            found = content[position : position + _DIGEST_BYTES]
            if found == wanted:
                *entry, _ = _ENTRY.unpack_from(content, self._entries + middle * _ENTRY.size)
                return SiteEntry(*entry)
            if found < wanted:
                low = middle + 1
            else:
                high = middle
        return None


def encode_index(entries: Mapping[bytes, SiteEntry]) -> bytes:
    """Return the index of files by their paths."""
    for _ in range(_ATTEMPTS):
        salt = secrets.token_bytes(16)
        by_digest = sorted((_digest(salt, path), entry) for path, entry in entries.items())
        if all(before[0] != after[0] for before, after in pairwise(by_digest)):
            digests = b"".join(digest for digest, _ in by_digest)
            packed = b"".join(_ENTRY.pack(*entry, 0) for _, entry in by_digest)
            return _HEADER.pack(_MAGIC, salt, len(by_digest)) + digests + packed
    raise Invalid("The index of the site cannot be written")


def _digest(salt: bytes, path: bytes) -> bytes:
    return blake2b(path, digest_size=_DIGEST_BYTES, key=salt).digest()
