"""Content of report files: plain, or gzip with one member per reported file."""

import zlib
from collections.abc import Iterator
from typing import BinaryIO

from ingot.ci.artifacts.tables import ArtifactFormat

_CHUNK_BYTES = 64 * 1024


class InvalidReport(Exception):
    """A report that is damaged, too large or not in the expected format; the message says why."""


def read_members(file: BinaryIO, file_format: ArtifactFormat, max_bytes: int) -> Iterator[Iterator[bytes]]:
    """Yield the reported files as chunks; each must be consumed before the next.

    Raise InvalidReport if they are damaged or have more than ``max_bytes`` together.
    """
    file.seek(0)
    if file_format == "raw":
        yield _plain_chunks(file, max_bytes)
        return
    if file_format != "gzip":
        raise InvalidReport("the format of the file is not supported")
    members = _GzipMembers(file, max_bytes)
    while members.has_more():
        yield members.chunks()


def _plain_chunks(file: BinaryIO, max_bytes: int) -> Iterator[bytes]:
    size = 0
    while chunk := file.read(_CHUNK_BYTES):
        size += len(chunk)
        _limit(size, max_bytes)
        yield chunk


class _GzipMembers:
    """Members of a gzip file, one after the other."""

    def __init__(self, file: BinaryIO, max_bytes: int) -> None:
        self._file = file
        self._max_bytes = max_bytes
        self._size = 0
        self._rest = b""

    def has_more(self) -> bool:
        self._rest = self._rest or self._file.read(_CHUNK_BYTES)
        return bool(self._rest)

    def chunks(self) -> Iterator[bytes]:
        decompressor = zlib.decompressobj(31)
        while not decompressor.eof:
            if not self.has_more():
                raise InvalidReport("the file is incomplete")
            try:
                chunk = decompressor.decompress(self._rest, 4 * _CHUNK_BYTES)
            except zlib.error:
                raise InvalidReport("the file is not gzip") from None
            self._rest = decompressor.unused_data if decompressor.eof else decompressor.unconsumed_tail
            self._size += len(chunk)
            _limit(self._size, self._max_bytes)
            if chunk:
                yield chunk


def _limit(size: int, max_bytes: int) -> None:
    if size > max_bytes:
        raise InvalidReport(f"the file is larger than the {max_bytes} bytes that are allowed")
