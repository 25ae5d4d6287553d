"""Request bodies as git's clients send them: in pieces, perhaps compressed, and never more than is allowed."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator

from ingot.core.http.request import Receive
from ingot.core.http.transfer_rate import BodyReceiver

_CHUNK_SIZE = 64 * 1024


class BodyTooLarge(Exception):
    """More was sent, or came out of what was sent, than is allowed."""


class BodyNotDecodable(Exception):
    """It says that it is compressed, and is not."""


class ClientGone(Exception):
    """The client has closed the connection."""


async def read_body(receive: Receive, encoding: bytes, max_bytes: int) -> AsyncIterator[bytes]:
    """The body piece by piece, unpacked; what comes and what comes out is counted, whatever the headers promised."""
    received = unpacked = 0
    unpacker = None if encoding in (b"", b"identity") else zlib.decompressobj(zlib.MAX_WBITS | 16)
    more = True
    receiver = BodyReceiver()
    while more:
        message = await receiver.next_message(receive)
        if message["type"] == "http.disconnect":
            raise ClientGone
        more = message.get("more_body", False)
        piece: bytes = message.get("body", b"")
        received += len(piece)
        for part in [piece] if unpacker is None else _decompress(unpacker, piece):
            unpacked += len(part)
            if max(received, unpacked) > max_bytes:
                raise BodyTooLarge
            if part:
                yield part
                await asyncio.sleep(0)  # Others get their turn also while much comes out of little.
    if unpacker is not None and not unpacker.eof:
        raise BodyNotDecodable


def _decompress(unpacker: "zlib._Decompress", piece: bytes) -> Iterator[bytes]:
    """In bounded parts: a small piece may stand for a thousand times as much."""
    while piece:
        if unpacker.eof:  # What follows would be kept, however much it is.
            raise BodyNotDecodable
        try:
            yield unpacker.decompress(piece, _CHUNK_SIZE)
        except zlib.error as error:
            raise BodyNotDecodable from error
        piece = unpacker.unconsumed_tail or unpacker.unused_data
