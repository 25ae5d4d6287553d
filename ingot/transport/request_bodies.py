"""Request bodies of git and Git LFS clients: streamed, possibly compressed, and limited in size."""

import asyncio
import zlib
from collections.abc import AsyncIterator, Iterator

from ingot.core.http.request import Receive
from ingot.core.http.transfer_rate import BodyReceiver

_CHUNK_BYTES = 64 * 1024


class RequestTooLarge(Exception):
    """More than the limit was sent, or came out of the compressed data."""


class BadEncoding(Exception):
    """Body that is not encoded as its ``Content-Encoding`` says."""


class ClientDisconnected(Exception):
    """The client closed the connection."""


class ClientStalled(Exception):
    """The client reads below the minimum rate."""


async def read_body(
    receive: Receive, encoding: bytes, max_bytes: int, *, streamed: bool = True
) -> AsyncIterator[bytes]:
    """Yield the decompressed body in chunks; both sizes are counted, regardless of the headers.

    The client of a body that is not ``streamed`` has no reason to pause.
    """
    received = decompressed = 0
    decompressor = None if encoding in (b"", b"identity") else zlib.decompressobj(zlib.MAX_WBITS | 16)
    more = True
    receiver = BodyReceiver(streamed=streamed)
    while more:
        message = await receiver.next_message(receive)
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        more = message.get("more_body", False)
        chunk: bytes = message.get("body", b"")
        received += len(chunk)
        for part in [chunk] if decompressor is None else _decompress(decompressor, chunk):
            decompressed += len(part)
            if max(received, decompressed) > max_bytes:
                raise RequestTooLarge
            if part:
                yield part
                await asyncio.sleep(0)  # Let other tasks run also while a small chunk decompresses to a large one.
    if decompressor is not None and not decompressor.eof:
        raise BadEncoding


def _decompress(decompressor: "zlib._Decompress", chunk: bytes) -> Iterator[bytes]:
    """Yield parts of limited size: a chunk may decompress to a thousand times its size."""
    while chunk:
        if decompressor.eof:  # Data after the end would be buffered without limit.
            raise BadEncoding
        try:
            yield decompressor.decompress(chunk, _CHUNK_BYTES)
        except zlib.error as error:
            raise BadEncoding from error
        chunk = decompressor.unconsumed_tail or decompressor.unused_data
