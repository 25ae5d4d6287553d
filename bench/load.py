"""Cheap load generator: N connections in one process, one request at a time on each."""

import asyncio
import json
import time
from collections.abc import Sequence
from functools import partial
from itertools import cycle

import uvloop


class _Connection(asyncio.Protocol):
    def __init__(self, requests: Sequence[bytes], deadline: float, done: asyncio.Future[None]) -> None:
        self._requests = cycle(requests)
        self._deadline = deadline
        self._done = done
        self._buffer = bytearray()
        self.answered = 0
        self.failed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        transport.write(next(self._requests))  # type: ignore[attr-defined] # asyncio hands over a transport that writes.

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).lower()
        at = head.find(b"content-length:")
        length = int(head[at + 15 : head.find(b"\r", at) if b"\r" in head[at:] else None]) if at >= 0 else 0
        if len(self._buffer) < end + 4 + length:
            return
        self.answered += 1
        if b" 200 " not in head[:16] and b" 201 " not in head[:16]:
            self.failed += 1
        self._buffer.clear()
        if time.perf_counter() < self._deadline:
            self._transport.write(next(self._requests))  # type: ignore[attr-defined] # The same transport, which writes.
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(None)


def get(path: str, token: str = "") -> bytes:
    """Return the bytes of a GET request."""
    credential = f"PRIVATE-TOKEN: {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{credential}\r\n".encode()


def post(path: str, token: str = "", **sent: str) -> bytes:
    """Return the bytes of a POST request."""
    credential = f"PRIVATE-TOKEN: {token}\r\n" if token else ""
    body = json.dumps(sent).encode()
    about = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{credential}{about}\r\n".encode() + body


def requests_per_second(port: int, requests: Sequence[bytes], seconds: float, connections: int = 8) -> float:
    """Return the requests that the server answers per second."""

    async def run() -> float:
        loop = asyncio.get_running_loop()
        started = time.perf_counter()
        made = []
        for number in range(connections):
            done: asyncio.Future[None] = loop.create_future()
            turn = [*requests[number:], *requests[:number]]
            _, connection = await loop.create_connection(
                partial(_Connection, turn, started + seconds, done), "127.0.0.1", port
            )
            made.append((connection, done))
        for _, done in made:
            await done
        if any(connection.failed for connection, _ in made):
            raise RuntimeError("Some answers were not 200")
        return sum(connection.answered for connection, _ in made) / (time.perf_counter() - started)

    return uvloop.run(run())
