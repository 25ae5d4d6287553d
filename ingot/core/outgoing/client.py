"""HTTP client for all outgoing requests, built on httpcore.

It connects to the address that the SSRF guard checked, ignores proxies of the environment, follows no redirect,
decodes no content encoding, and reads a bounded part of a response.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import httpcore

from ingot.core.outgoing.errors import ConnectionLost, RequestFailed, ServerUnreachable
from ingot.core.outgoing.guard import PinnedUrl
from ingot.core.version import product_version

MAX_HEADERS = 100
MAX_HEADER_BYTES = 16 * 1024
_HTTP_VERSIONS = (b"HTTP/1.0", b"HTTP/1.1")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_INVALID = "The server's response is not valid HTTP"

Headers = Sequence[tuple[str, str]]


class HttpResponse(NamedTuple):
    """Response whose body was read up to a limit; names of headers are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    truncated: bool
    """Whether the body is longer than what was read."""

    def header(self, name: str) -> str | None:
        """Return the first header of this name."""
        return next((value for each, value in self.headers if each == name), None)


class BodyStream(NamedTuple):
    """Body of a request that is sent while it is read; its length is known."""

    length: int
    pieces: AsyncIterator[bytes]


class PinnedConnection:
    """Open connection to the checked address of a URL, for one request at a time."""

    def __init__(self, url: PinnedUrl, stream: "_Stream") -> None:
        self._url = httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=url.target)
        self._host = _host_header(url)
        self._stream = stream
        self._connection = httpcore.AsyncHTTP11Connection(self._url.origin, stream)
        self.responses = 0
        """Number of responses received."""

    @classmethod
    async def open(
        cls, url: PinnedUrl, *, verify: bool = True, tls: ssl.SSLContext | None = None
    ) -> "PinnedConnection":
        """Connect to the address that the guard checked, without resolving the host again."""
        context = (tls or _tls_context(verify)) if url.scheme == "https" else None
        name = url.host if context is not None else None
        try:
            reader, writer = await asyncio.open_connection(url.address, url.port, ssl=context, server_hostname=name)
        except ssl.SSLError as error:
            raise ServerUnreachable("No secure connection to the server is possible") from error
        except OSError as error:
            raise ServerUnreachable("The server cannot be reached") from error
        return cls(url, _Stream(reader, writer))

    @property
    def reusable(self) -> bool:
        """Whether another request can be sent."""
        return self._connection.is_idle() and not self._stream.ended

    async def request(
        self,
        method: str,
        headers: Headers = (),
        body: bytes | BodyStream | None = None,
        *,
        max_bytes: int,
        target: str | None = None,
        sink: Callable[[int, bytes], object] | None = None,
    ) -> HttpResponse:
        """Send a request and read at most ``max_bytes`` of the body; the caller sets the deadline.

        ``target`` replaces path and query of the URL. ``sink`` gets the status and each part of the body, which is
        then absent from the response.

        Raise ``ConnectionLost`` if the server closed the connection without a response, and ``RequestFailed`` for
        every other failure.
        """
        self._stream.received = self._stream.ended = False
        try:
            response = await self._exchange(self._request(method, headers, body, target), max_bytes, sink)
        except httpcore.LocalProtocolError as error:
            raise RequestFailed("A header of the request is not valid") from error
        except (httpcore.NetworkError, httpcore.RemoteProtocolError) as error:
            if not self._stream.received:
                raise ConnectionLost("The server closed the connection") from error
            if self._stream.ended:
                raise ServerUnreachable("The server closed the connection before its response was complete") from error
            raise RequestFailed(_INVALID) from error
        self.responses += 1
        return response

    async def close(self) -> None:
        """Close the connection without reading the rest of a response."""
        await self._connection.aclose()

    def _request(
        self, method: str, headers: Headers, body: bytes | BodyStream | None, target: str | None
    ) -> httpcore.Request:
        own = [("Host", self._host), ("User-Agent", f"ingot/{product_version()}"), ("Accept-Encoding", "identity")]
        if not any(name.lower() == "accept" for name, _ in headers):
            own.append(("Accept", "*/*"))
        content: bytes | AsyncIterator[bytes] | None = None
        if body is not None:
            length, content = body if isinstance(body, BodyStream) else (len(body), body)
            own.append(("Content-Length", str(length)))
        encoded = [(name.encode(), value.strip().encode()) for name, value in (*own, *headers)]
        url = self._url if target is None else _with_target(self._url, target)
        return httpcore.Request(method, url, headers=encoded, content=content)

    async def _exchange(
        self, request: httpcore.Request, max_bytes: int, sink: Callable[[int, bytes], object] | None
    ) -> HttpResponse:
        response = await self._connection.handle_async_request(request)
        try:
            if response.extensions["http_version"] not in _HTTP_VERSIONS:
                raise RequestFailed(_INVALID)
            headers = _decoded(response.headers)
            body, truncated = await _read_limited(response, max_bytes, sink)
        finally:
            await response.aclose()
        return HttpResponse(response.status, headers, body, truncated)


def send(
    url: PinnedUrl,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    *,
    deadline_seconds: float = 10.0,
    max_bytes: int = 64 * 1024,
    tls: ssl.SSLContext | None = None,
) -> HttpResponse:
    """Send one request and wait for the response, in a thread without an event loop.

    The deadline covers the whole exchange, so that a server cannot extend it by sending a byte now and then.
    """

    async def exchange() -> HttpResponse:
        async with asyncio.timeout(deadline_seconds):
            connection = await PinnedConnection.open(url, tls=tls)
            try:
                return await connection.request(method, list((headers or {}).items()), body, max_bytes=max_bytes)
            finally:
                await connection.close()

    try:
        return asyncio.run(exchange())
    except TimeoutError as error:
        raise ServerUnreachable("The server took too long") from error


async def send_bytes(url: PinnedUrl, data: bytes) -> None:
    """Connect to the checked address, send data without HTTP and end the connection; the caller sets the deadline."""
    try:
        _, writer = await asyncio.open_connection(url.address, url.port)
        writer.write(data)
        writer.close()
        await writer.wait_closed()
    except OSError as error:
        raise ServerUnreachable("The server cannot be reached") from error


class _Stream(httpcore.AsyncNetworkStream):
    """Network stream over asyncio; sends head and body of a request together, and notes whether a response began.

    httpcore's own streams take 40 % longer for a webhook delivery.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._unsent = b""
        self.received = False
        """Whether any byte was received since the request began."""
        self.ended = False
        """Whether the server closed the connection since the request began."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 - The caller's deadline.
        """Send what was written, then read."""
        try:
            if self._unsent:
                unsent, self._unsent = self._unsent, b""
                self._writer.write(unsent)
                await self._writer.drain()
            data = await self._reader.read(max_bytes)
        except OSError as error:
            self.ended = True
            raise httpcore.ReadError(str(error)) from error
        self.received = self.received or bool(data)
        self.ended = not data
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002 - Sent by the next read.
        """Keep the bytes for the next read."""
        self._unsent += buffer

    async def aclose(self) -> None:
        """Drop the connection."""
        self._writer.transport.abort()

    def get_extra_info(self, info: str) -> Any:
        """Return nothing: whether the socket has become readable is found out by reading."""


def _decoded(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    if len(headers) > MAX_HEADERS or any(len(name) + len(value) > MAX_HEADER_BYTES for name, value in headers):
        raise RequestFailed(_INVALID)
    return [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in headers]


def _with_target(url: httpcore.URL, target: str) -> httpcore.URL:
    return httpcore.URL(scheme=url.scheme, host=url.host, port=url.port, target=target)


async def _read_limited(
    response: httpcore.Response, max_bytes: int, sink: Callable[[int, bytes], object] | None
) -> tuple[bytes, bool]:
    """Return at most ``max_bytes`` of the body, and whether there is more; 0 means not to wait for a body."""
    if max_bytes == 0:
        return b"", True
    body = bytearray()
    length = 0
    async for chunk in response.aiter_stream():
        length += len(chunk)
        if sink is not None:
            if length > max_bytes:
                return b"", True
            sink(response.status, chunk)
            continue
        body += chunk
        if len(body) > max_bytes:
            return bytes(body[:max_bytes]), True
    return bytes(body), False


def _host_header(url: PinnedUrl) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return host if url.port == _DEFAULT_PORTS[url.scheme] else f"{host}:{url.port}"


@lru_cache(2)
def _tls_context(verify: bool) -> ssl.SSLContext:
    """Create the TLS context at its first use, because that reads all certificates that the machine trusts."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
