"""Request bodies: decompressed, limited, and timed out."""

import asyncio
import gzip
import zlib
from collections.abc import Iterable, Iterator
from itertools import count, repeat
from typing import Any

import pytest

from ingot.core.http import transfer_rate
from ingot.core.http.transfer_rate import TransferTooSlow
from ingot.transport.request_bodies import BadEncoding, ClientDisconnected, RequestTooLarge, read_body

MAX_BYTES = 2**20


def received(pieces: Iterable[bytes], encoding: bytes = b"", most: int = MAX_BYTES, pause: float = 0.0) -> bytes:
    """Return the decoded content of a body."""
    waiting: Iterator[bytes] = iter(pieces)

    async def receive() -> dict[str, Any]:
        if pause:
            await asyncio.sleep(pause)
        piece = next(waiting, None)
        return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

    async def read() -> bytes:
        return b"".join([part async for part in read_body(receive, encoding, most)])

    return asyncio.run(read())


def test_bodies_are_decoded() -> None:
    text = b"0032want " * 1000
    assert received([text]) == received([text[:7], b"", text[7:]]) == text
    packed = gzip.compress(text)
    assert received([packed], b"gzip") == text
    assert received([packed[place : place + 1] for place in range(len(packed))], b"gzip") == text


def test_expanding_bodies() -> None:
    """Counted while they expand; the rest is not decompressed."""
    packed = gzip.compress(b"\0" * (MAX_BYTES + 1))
    assert len(packed) < 2000
    with pytest.raises(RequestTooLarge):
        received([packed], b"gzip")
    assert len(received([gzip.compress(b"\0" * MAX_BYTES)], b"gzip")) == MAX_BYTES


def test_shrinking_bodies() -> None:
    """Sent bytes count too: endless empty blocks, and data after the end."""
    begin = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    head = begin.compress(b"") + begin.flush(zlib.Z_FULL_FLUSH)
    nothing = b"\0\0\0\xff\xff" * 10_000
    with pytest.raises(RequestTooLarge):
        received((piece for part in ([head], repeat(nothing)) for piece in part), b"gzip")
    with pytest.raises(BadEncoding):
        received((piece for part in ([gzip.compress(b"x")], repeat(b"y" * 1000)) for piece in part), b"gzip")
    with pytest.raises(BadEncoding):
        received([gzip.compress(b"x") + b"y"], b"gzip")
    with pytest.raises(RequestTooLarge):
        received(repeat(b"y" * 100_000))


@pytest.mark.parametrize(
    "packed", [b"", b"no gzip", gzip.compress(b"x" * 1000, mtime=0)[:-9], zlib.compress(b"x")], ids=range(4)
)
def test_mislabelled_bodies(packed: bytes) -> None:
    with pytest.raises(BadEncoding):
        received([packed], b"gzip")


def test_a_disconnecting_client() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def read() -> None:
        async for _ in read_body(receive, b"", MAX_BYTES):
            pass

    with pytest.raises(ClientDisconnected):
        asyncio.run(read())


def test_a_slow_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing for a whole window, or a byte at a time; a sufficient rate is accepted."""
    with monkeypatch.context() as short:
        short.setattr(transfer_rate, "STREAM_WINDOW_SECONDS", 0.05)
        with pytest.raises(TransferTooSlow):
            received([b"x"], pause=1.0)
    monkeypatch.setattr(transfer_rate, "monotonic", count(0, 20).__next__)
    with pytest.raises(TransferTooSlow):
        received(repeat(b"x"))
    assert len(received([b"x" * 30_000] * 8)) == 240_000
