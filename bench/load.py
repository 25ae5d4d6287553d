"""Cheap load generator: N connections in one process, one request at a time on each."""

import asyncio
import json
import math
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import cycle
from typing import NamedTuple

import uvloop


class _Connection(asyncio.Protocol):
    def __init__(self, requests: Iterator[bytes], deadline: float, done: asyncio.Future[None]) -> None:
        self._requests = requests
        self._deadline = deadline
        self._done = done
        self._buffer = bytearray()
        self._sent_at = 0.0
        self.seconds: list[float] = []
        """Time of each response."""
        self.failed = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._send()

    def _send(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self._transport.close()
            return
        self._sent_at = time.perf_counter()
        self._transport.write(request)  # type: ignore[attr-defined] # asyncio passes a transport that writes.

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._buffer[:end]).lower()
        if b"transfer-encoding: chunked" in head:
            if not self._buffer.endswith(b"\r\n0\r\n\r\n"):
                return
        else:
            at = head.find(b"content-length:")
            length = int(head[at + 15 : head.find(b"\r", at) if b"\r" in head[at:] else None]) if at >= 0 else 0
            if len(self._buffer) < end + 4 + length:
                return
        now = time.perf_counter()
        self.seconds.append(now - self._sent_at)
        if head[9:10] != b"2":
            self.failed += 1
        self._buffer.clear()
        if now < self._deadline:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_result(None)


def get(path: str, token: str = "") -> bytes:
    """Return the bytes of a GET request."""
    credential = f"PRIVATE-TOKEN: {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{credential}\r\n".encode()


def post(path: str, token: str = "", /, **sent: object) -> bytes:
    """Return the bytes of a POST request."""
    credential = f"PRIVATE-TOKEN: {token}\r\n" if token else ""
    body = json.dumps(sent).encode()
    about = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{credential}{about}\r\n".encode() + body


class LoadResult(NamedTuple):
    """Outcome of a load: the rate, and the time of every response in ascending order."""

    per_second: float
    seconds: list[float]

    def percentile(self, share: float) -> float:
        """Return the milliseconds within which this share of the responses came."""
        return 1000 * self.seconds[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


def send_load(port: int, requests: Sequence[bytes], seconds: float, connections: int = 8) -> LoadResult:
    """Send these requests in turns for some seconds, one at a time on each connection; raise if one fails."""
    turns = [cycle([*requests[number:], *requests[:number]]) for number in range(connections)]
    return send_streams(port, turns, seconds)


def send_streams(port: int, streams: Sequence[Iterator[bytes]], seconds: float = math.inf) -> LoadResult:
    """Send the requests of each stream on a connection, one at a time, at most for some seconds; raise if one fails."""

    async def run() -> LoadResult:
        loop = asyncio.get_running_loop()
        started = time.perf_counter()
        made = []
        for stream in streams:
            done: asyncio.Future[None] = loop.create_future()
            _, connection = await loop.create_connection(
                partial(_Connection, stream, started + seconds, done), "127.0.0.1", port
            )
            made.append((connection, done))
        for _, done in made:
            await done
        if any(connection.failed for connection, _ in made):
            raise RuntimeError("Some answers were not successful")
        took = sorted(second for connection, _ in made for second in connection.seconds)
        return LoadResult(len(took) / (time.perf_counter() - started), took)

    return uvloop.run(run())


def requests_per_second(port: int, requests: Sequence[bytes], seconds: float, connections: int = 8) -> float:
    """Return how many of these requests the server answers in a second."""
    return send_load(port, requests, seconds, connections).per_second
