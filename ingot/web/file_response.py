"""Streaming of files to the client in chunks, without loading them into memory."""

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
    """Stream the file; stop if the client disconnects."""
    if stored.size is not None:
        headers.append((b"content-length", b"%d" % stored.size))
    await stream_response(request, send, trace, 200, headers, _file_chunks(stored), pool)


def _file_chunks(stored: FileResponse) -> Iterator[bytes]:
    """Yield as many bytes as Content-Length announced; a file that became shorter yields a truncated response."""
    left = stored.size
    if left is None:
        yield from iter(lambda: stored.file.read(_CHUNK_BYTES), b"")
        return
    while left > 0 and (piece := stored.file.read(min(_CHUNK_BYTES, left))):
        left -= len(piece)
        yield piece


def stream_as_file(pieces: Iterator[bytes]) -> BinaryIO:
    """Wrap an iterator of chunks in a file object; the iterator starts on the first read."""
    return io.BufferedReader(_ChunkReader(pieces))


class _ChunkReader(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Copy the next available bytes into the buffer and return their number, 0 at the end."""
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
        """Close the iterator too, so that its resources are released."""
        close = getattr(self._pieces, "close", None)
        if close is not None and not self.closed:
            close()
        super().close()
