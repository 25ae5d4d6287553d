"""Request bodies as git's clients send them: in pieces, perhaps compressed, and never more than is allowed."""

import zlib
from collections.abc import AsyncIterator, Iterator

from ingot.http.request import Receive

_PIECE = 64 * 1024


class TooLarge(Exception):
    """More was sent, or came out of what was sent, than is allowed."""


class Unreadable(Exception):
    """It says that it is compressed, and is not."""


class ClientGone(Exception):
    """The client has closed the connection."""


async def read_body(receive: Receive, encoding: bytes, most_bytes: int) -> AsyncIterator[bytes]:
    """The body piece by piece, unpacked; what comes out is counted, whatever the headers promised."""
    unpacked = 0
    unpacker = None if encoding in (b"", b"identity") else zlib.decompressobj(zlib.MAX_WBITS | 16)
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        more = message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        for part in [piece] if unpacker is None else _unpacked(unpacker, piece):
            unpacked += len(part)
            if unpacked > most_bytes:
                raise TooLarge
            if part:
                yield part
    if unpacker is not None and not unpacker.eof:
        raise Unreadable


def _unpacked(unpacker: "zlib._Decompress", piece: bytes) -> Iterator[bytes]:
    """In bounded parts: a small piece may stand for a thousand times as much."""
    while piece:
        try:
            yield unpacker.decompress(piece, _PIECE)
        except zlib.error as error:
            raise Unreadable from error
        piece = unpacker.unconsumed_tail
