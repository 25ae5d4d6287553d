"""Sending a file from the disk without holding it in memory."""

from collections.abc import Iterator
from concurrent.futures import Executor

from ingot.http.request import Header, Request, Send, Trace
from ingot.http.streaming import stream
from ingot.web.pages import StoredFile

_PIECE = 256 * 1024


async def send_file(
    request: Request, send: Send, trace: Trace, headers: list[Header], stored: StoredFile, pool: Executor
) -> None:
    """Send the whole file, or stop when the caller has gone."""
    headers.append((b"content-length", b"%d" % stored.size))
    try:
        await stream(request, send, trace, 200, headers, _pieces(stored), pool)
    finally:
        stored.file.close()


def _pieces(stored: StoredFile) -> Iterator[bytes]:
    """As much as the head promised; stored files never shrink, and who reads one that did sees it cut off."""
    left = stored.size
    while left > 0 and (piece := stored.file.read(min(_PIECE, left))):
        left -= len(piece)
        yield piece
