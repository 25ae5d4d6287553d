"""Sending a file from the disk without holding it in memory."""

import io
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any, BinaryIO

from ingot.core.http.request import Header, Request, Send, Trace
from ingot.core.http.stream import stream_response
from ingot.web.page_routes import FileResponse

_CHUNK_BYTES = 256 * 1024


async def send_file(
    request: Request, send: Send, trace: Trace, headers: list[Header], stored: FileResponse, pool: Executor
) -> None:
    """Send the whole file, or stop when the caller has gone."""
    if stored.size is not None:
        headers.append((b"content-length", b"%d" % stored.size))
    try:
        await stream_response(request, send, trace, 200, headers, _file_chunks(stored), pool)
    finally:
        stored.file.close()


def _file_chunks(stored: FileResponse) -> Iterator[bytes]:
    """As much as the head promised; stored files never shrink, and who reads one that did sees it cut off."""
    left = stored.size
    if left is None:
        yield from iter(lambda: stored.file.read(_CHUNK_BYTES), b"")
        return
    while left > 0 and (piece := stored.file.read(min(_CHUNK_BYTES, left))):
        left -= len(piece)
        yield piece


def stream_as_file(pieces: Iterator[bytes]) -> BinaryIO:
    """What is made while it is sent; nothing is started before somebody reads."""
    return io.BufferedReader(_ChunkReader(pieces))


class _ChunkReader(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As much as there is at hand."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = piece
        taken = self._rest[: len(buffer)]
        buffer[: len(taken)] = taken
        self._rest = self._rest[len(taken) :]
        return len(taken)

    def close(self) -> None:
        """Who does not want the rest lets go whatever makes it."""
        close = getattr(self._pieces, "close", None)
        if close is not None and not self.closed:
            close()
        super().close()
