"""Request bodies as git's clients send them: in pieces, perhaps compressed, and never more than is allowed."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator
from time import monotonic

from ingot.http.request import Receive

WINDOW_SECONDS = 60.0
LEAST_BYTES = 1024
"""In each window; a person on a bad line sends many times as much."""
_PIECE = 64 * 1024


class TooLarge(Exception):
    """More was sent, or came out of what was sent, than is allowed."""


class Unreadable(Exception):
    """It says that it is compressed, and is not."""


class TooSlow(Exception):
    """So little comes that somebody seems to hold us up on purpose."""


class ClientGone(Exception):
    """The client has closed the connection."""


class _Pace:
    """Looks every now and then at how much came since; a client that stands still runs into the timeout."""

    def __init__(self) -> None:
        self._since = monotonic()
        self._bytes = 0

    def count(self, size: int) -> None:
        self._bytes += size
        now = monotonic()
        if now - self._since > WINDOW_SECONDS:
            if self._bytes < LEAST_BYTES:
                raise TooSlow
            self._since, self._bytes = now, 0


async def read_body(receive: Receive, encoding: bytes, most_bytes: int) -> AsyncIterator[bytes]:
    """The body piece by piece, unpacked; what comes and what comes out is counted, whatever the headers promised."""
    received = unpacked = 0
    unpacker = None if encoding in (b"", b"identity") else zlib.decompressobj(zlib.MAX_WBITS | 16)
    more = True
    pace = _Pace()
    while more:
        async with asyncio.timeout(WINDOW_SECONDS):
            message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        more = message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        pace.count(len(piece))
        received += len(piece)
        for part in [piece] if unpacker is None else _unpacked(unpacker, piece):
            unpacked += len(part)
            if max(received, unpacked) > most_bytes:
                raise TooLarge
            if part:
                yield part
                await asyncio.sleep(0)  # Others get their turn also while much comes out of little.
    if unpacker is not None and not unpacker.eof:
        raise Unreadable


def _unpacked(unpacker: "zlib._Decompress", piece: bytes) -> Iterator[bytes]:
    """In bounded parts: a small piece may stand for a thousand times as much."""
    while piece:
        if unpacker.eof:  # What follows would be kept, however much it is.
            raise Unreadable
        try:
            yield unpacker.decompress(piece, _PIECE)
        except zlib.error as error:
            raise Unreadable from error
        piece = unpacker.unconsumed_tail or unpacker.unused_data
