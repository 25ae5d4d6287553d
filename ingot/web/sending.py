"""Sending a file from the disk without holding it in memory."""

import io
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any, BinaryIO

from ingot.http.request import Header, Request, Send, Trace
from ingot.http.streaming import stream
from ingot.web.pages import StoredFile

_PIECE = 256 * 1024


async def send_file(
    request: Request, send: Send, trace: Trace, headers: list[Header], stored: StoredFile, pool: Executor
) -> None:
    """Send the whole file, or stop when the caller has gone."""
    if stored.size is not None:
        headers.append((b"content-length", b"%d" % stored.size))
    try:
        await stream(request, send, trace, 200, headers, _pieces(stored), pool)
    finally:
        stored.file.close()


def _pieces(stored: StoredFile) -> Iterator[bytes]:
    """As much as the head promised; stored files never shrink, and who reads one that did sees it cut off."""
    left = stored.size
    if left is None:
        yield from iter(lambda: stored.file.read(_PIECE), b"")
        return
    while left > 0 and (piece := stored.file.read(min(_PIECE, left))):
        left -= len(piece)
        yield piece


def as_file(pieces: Iterator[bytes]) -> BinaryIO:
    """What is made while it is sent; nothing is started before somebody reads."""
    return io.BufferedReader(_Streamed(pieces))


class _Streamed(io.RawIOBase):
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
