"""A small HTTP client for many requests at once: it connects where the guard said, and keeps what it reads small.

Like ``fetch`` it takes no proxy from the environment, follows no redirect, and unpacks nothing. A connection can be
used again for the URL that it was opened for: the address was checked, and nobody is asked for it anew.
"""

import asyncio
import ssl
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ingot.core.outgoing.client import USER_AGENT, Unreachable, host_header
from ingot.core.outgoing.guard import PinnedUrl

MAX_HEADERS = 100
_MAX_LINE_LENGTH = 16 * 1024
_BUFFER_SIZE = 64 * 1024
_STATUSES_WITHOUT_BODY = (204, 304)

Headers = Sequence[tuple[str, str]]


class HttpResponse(NamedTuple):
    """What a server said, as far as we wanted to hear it; names of headers are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    truncated: bool
    """Whether there was more of the body than we read."""

    def header(self, name: str) -> str | None:
        """The first header of this name."""
        return next((value for each, value in self.headers if each == name), None)


class ConnectionClosed(Unreachable):
    """The server closed a connection before it said anything; where it was an older one, a new one may do."""


class HttpConnection:
    """An open connection to one server; one request at a time."""

    def __init__(self, pinned: PinnedUrl, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._pinned = pinned
        self._reader = reader
        self._writer = writer
        self.reusable = True
        """Whether another request may be sent."""
        self.used = 0
        """How many requests were answered."""

    @classmethod
    async def open(
        cls, pinned: PinnedUrl, *, verify: bool = True, tls: ssl.SSLContext | None = None
    ) -> "HttpConnection":
        """Connect to the pinned address; the caller sets the deadline."""
        secure = (tls or _tls_context(verify)) if pinned.scheme == "https" else None
        named = pinned.host if secure is not None else None
        try:
            reader, writer = await asyncio.open_connection(
                pinned.address, pinned.port, ssl=secure, server_hostname=named, limit=_BUFFER_SIZE
            )
        except ssl.SSLError as error:
            raise Unreachable("No secure connection to the server is possible") from error
        except OSError as error:
            raise Unreachable("The server cannot be reached") from error
        return cls(pinned, reader, writer)

    async def post(self, headers: Headers, body: bytes, *, max_bytes: int) -> HttpResponse:
        """Send one request, and read at most ``most_bytes`` of the answer's body."""
        self.reusable = False
        try:
            self._writer.write(self._head(headers, len(body)) + body)
            await self._writer.drain()
            reply = await self._read(max_bytes)
        except asyncio.IncompleteReadError as error:
            raise Unreachable("The server broke off its answer") from error
        except (ValueError, asyncio.LimitOverrunError) as error:
            raise Unreachable("The server's answer is not valid HTTP") from error
        except ConnectionError as error:
            raise ConnectionClosed("The server closed the connection") from error
        except ssl.SSLError as error:
            raise Unreachable("No secure connection to the server is possible") from error
        except OSError as error:
            raise Unreachable("The server cannot be reached") from error
        self.used += 1
        return reply

    def close(self) -> None:
        """Let go of the connection at once, whatever the server still has to say."""
        self.reusable = False
        self._writer.transport.abort()

    def _head(self, headers: Headers, length: int) -> bytes:
        fixed = [("Host", host_header(self._pinned)), ("User-Agent", USER_AGENT), ("Accept", "*/*")]
        fixed += [("Accept-Encoding", "identity"), ("Content-Length", str(length))]
        lines = [f"POST {self._pinned.target} HTTP/1.1", *(f"{name}: {value}" for name, value in (*fixed, *headers))]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header of two lines")
        return "\r\n".join((*lines, "", "")).encode()

    async def _read(self, max_bytes: int) -> HttpResponse:
        status, version = await self._status()
        while 100 <= status < 200:
            await self._headers()
            status, version = await self._status()
        headers = await self._headers()
        reply = HttpResponse(status, headers, b"", False)
        body, whole = await self._body(reply, max_bytes)
        closes = "close" in (reply.header("connection") or "").lower()
        self.reusable = whole and version == b"HTTP/1.1" and not closes
        return reply._replace(body=body[:max_bytes], truncated=len(body) > max_bytes)

    async def _status(self) -> tuple[int, bytes]:
        line = await self._line()
        if not line:
            raise ConnectionResetError
        version, _, rest = line.strip().partition(b" ")
        code = rest.partition(b" ")[0]
        if version not in (b"HTTP/1.1", b"HTTP/1.0") or len(code) != 3 or not code.isdigit():
            raise ValueError("no status line")
        return int(code), version

    async def _headers(self) -> list[tuple[str, str]]:
        read: list[tuple[str, str]] = []
        while (line := await self._line()).strip():
            name, colon, value = line.decode("latin-1").partition(":")
            if not colon or len(read) >= MAX_HEADERS:
                raise ValueError("no header")
            read.append((name.strip().lower(), value.strip()))
        if not line:
            raise asyncio.IncompleteReadError(b"", None)
        return read

    async def _line(self) -> bytes:
        line = await self._reader.readline()
        if len(line) > _MAX_LINE_LENGTH:
            raise ValueError("a line without end")
        return line

    async def _body(self, reply: HttpResponse, most: int) -> tuple[bytes, bool]:
        """At most one byte more than is wanted, and whether that was all there is."""
        if reply.status in _STATUSES_WITHOUT_BODY:
            return b"", True
        if "chunked" in (reply.header("transfer-encoding") or "").lower():
            return await self._chunks(most)
        length = reply.header("content-length")
        if length is None:
            return await self._up_to(most + 1), False
        if not length.isdecimal():
            raise ValueError("no length")
        if int(length) > most:
            return await self._reader.readexactly(most) + b"+", False
        return await self._reader.readexactly(int(length)), True

    async def _chunks(self, most: int) -> tuple[bytes, bool]:
        read = bytearray()
        while size := int((await self._line()).partition(b";")[0], 16):
            if size < 0:
                raise ValueError("no size")
            wanted = min(size, most + 1 - len(read))
            read += await self._reader.readexactly(wanted)
            if len(read) > most:
                return bytes(read), False
            await self._line()
        while (await self._line()).strip():
            pass
        return bytes(read), True

    async def _up_to(self, most: int) -> bytes:
        read = bytearray()
        while len(read) < most and (piece := await self._reader.read(most - len(read))):
            read += piece
        return bytes(read)


@lru_cache(maxsize=256)
def _tls_context(verify: bool) -> ssl.SSLContext:
    """Made at its first use, because it reads all the certificates that the machine trusts."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
