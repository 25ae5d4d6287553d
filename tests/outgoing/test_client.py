"""HTTP client: the address it connects to, the limits of a response, TLS, and reuse of a connection."""

import asyncio
import gzip
import itertools
import socket
import ssl
from collections.abc import Callable

import pytest

from ingot.core.outgoing.client import HttpResponse, PinnedConnection, send
from ingot.core.outgoing.errors import ConnectionLost, RequestFailed, ServerUnreachable
from tests.free_ports import closed_port
from tests.outgoing.raw_server import OK, answering, pinned, responding_with


def test_a_request_uses_the_pinned_address_and_the_host_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a proxy of the environment or content encodings."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with answering(responding_with(OK + b"X-Y: z\r\nContent-Length: 2\r\n\r\nok")) as (port, heard):
        answer = send(pinned(port), "POST", {"X-Token": "t"}, b"body")
    assert (answer.status, answer.body, answer.truncated, answer.header("x-y")) == (200, b"ok", False, "z")
    head = heard[0].decode()
    assert head.startswith("POST /in?x=1 HTTP/1.1\r\n")
    assert f"\r\nHost: hooks.example:{port}\r\n" in head
    assert "\r\nAccept-Encoding: identity\r\n" in head
    assert "\r\nX-Token: t\r\n" in head


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    """Attack: a public server redirects to a local one. The redirect itself is returned."""
    with answering(
        responding_with(b"HTTP/1.1 %d x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n" % status)
    ) as (
        port,
        _,
    ):
        assert send(pinned(port)).status == status


def test_an_endless_body_is_truncated() -> None:
    """Attack: exhaust the memory, with a length, in chunks, or until the connection closes."""

    def flood(start: bytes, piece: bytes) -> Callable[[socket.socket], None]:
        def respond(connection: socket.socket) -> None:
            connection.sendall(OK + start)
            for _ in itertools.count():
                connection.sendall(piece)

        return respond

    x = b"x" * 10_000
    for start, piece in (
        (b"Content-Length: 10000000000\r\n\r\n", x),
        (b"Transfer-Encoding: chunked\r\n\r\n", b"2710\r\n" + x + b"\r\n"),
        (b"\r\n", x),
    ):
        with answering(flood(start, piece)) as (port, _):
            answer = send(pinned(port), max_bytes=65_000)
        assert (len(answer.body), answer.truncated) == (65_000, True)


def test_a_compressed_body_is_not_decompressed() -> None:
    """Attack: a small body that expands to a gigabyte, sent compressed without request."""
    bomb = gzip.compress(b"\0" * 10_000_000)
    with answering(
        responding_with(OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb) + bomb)
    ) as (
        port,
        _,
    ):
        answer = send(pinned(port))
    assert answer.body == bomb


@pytest.mark.parametrize(
    "start", [b"", b"HTTP/1.1 200 OK\r\nX-", OK + b"\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\nffff\r\n"]
)
def test_a_slow_server_times_out(start: bytes) -> None:
    """Attack: one byte at a time in the status, a header, the body or a chunk, so that no single read takes long."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(start or b"H")
        connection.settimeout(0.02)
        while True:
            try:
                connection.recv(1)
                return  # The client has disconnected.
            except TimeoutError:
                connection.sendall(b"a")

    with answering(drip) as (port, _), pytest.raises(RequestFailed, match="too long"):
        send(pinned(port), deadline_seconds=0.5)


@pytest.mark.parametrize(
    "text",
    [
        b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 abc\r\n\r\n", OK + b"X: " + b"y" * 70_000, OK + b"X: y\r\n" * 200,
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/9.9 200 OK\r\n\r\n",
    ],
)  # fmt: skip
def test_other_protocols_are_rejected(text: bytes) -> None:
    """Attack: connect to a server of another protocol, or read endless headers."""
    with answering(responding_with(text)) as (port, _), pytest.raises(RequestFailed):
        send(pinned(port))


def test_a_closed_port() -> None:
    """The error contains no address."""
    with closed_port() as port, pytest.raises(RequestFailed) as failure:
        send(pinned(port))
    assert failure.value.reason == "The server cannot be reached"


def test_certificates_are_checked_for_the_host_name(certificate: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    """The host of the URL, not the address; another name or an untrusted certificate is rejected."""
    server, client = certificate
    text = responding_with(OK + b"Content-Length: 2\r\n\r\nok")
    named: list[str | None] = []
    server.sni_callback = lambda _socket, name, _context: named.append(name)
    with answering(text, text, text, tls=server) as (port, _):
        assert send(pinned(port, "repo.example", "https"), tls=client).body == b"ok"
        for host, trust in (("other.example", client), ("repo.example", None)):
            with pytest.raises(RequestFailed, match="secure"):
                send(pinned(port, host, "https"), tls=trust)
    assert named == ["repo.example", "other.example", "repo.example"]


def post(port: int) -> HttpResponse:
    """Send one request on a new connection."""

    async def run() -> HttpResponse:
        async with asyncio.timeout(10):
            connection = await PinnedConnection.open(pinned(port))
            try:
                return await connection.request("POST", [("X-Token", "tökén")], b"body", max_bytes=100)
            finally:
                await connection.close()

    return asyncio.run(run())


def test_head_and_body_of_a_request_are_sent_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a proxy of the environment or content encodings."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with answering(responding_with(OK + b"X-Y: z\r\nContent-Length: 2\r\n\r\nok")) as (port, heard):
        reply = post(port)
    assert (reply.status, reply.body, reply.truncated, reply.header("x-y")) == (200, b"ok", False, "z")
    head = heard[0].decode()
    assert head.startswith("POST /in?x=1 HTTP/1.1\r\n")
    assert f"\r\nHost: hooks.example:{port}\r\n" in head
    assert "\r\nAccept-Encoding: identity\r\n" in head
    assert "\r\nContent-Length: 4\r\n" in head
    assert "\r\nX-Token: tökén\r\n" in head
    assert head.endswith("\r\n\r\nbody")


@pytest.mark.parametrize(
    ("text", "body", "truncated"),
    [
        (b"Content-Length: 0\r\n\r\n", b"", False),
        (b"\r\nuntil the end", b"until the end", False),
        (b"Content-Length: 200\r\n\r\n" + b"x" * 200, b"x" * 100, True),
        (b"\r\n" + b"x" * 200, b"x" * 100, True),
        (b"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3;x=y\r\nyes\r\n0\r\nTrailer: x\r\n\r\n", b"okyes", False),
        (b"Transfer-Encoding: chunked\r\n\r\nffffff\r\n" + b"x" * 200, b"x" * 100, True),
    ],
)
def test_bodies_are_read_up_to_the_limit(text: bytes, body: bytes, truncated: bool) -> None:
    """With every kind of framing."""
    with answering(responding_with(OK + text)) as (port, _):
        reply = post(port)
    assert (reply.body, reply.truncated) == (body, truncated)


def test_interim_responses_are_skipped() -> None:
    """A server may send 100 Continue."""
    with answering(responding_with(b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nok")) as (
        port,
        _,
    ):
        assert post(port).body == b"ok"


@pytest.mark.parametrize(
    "text",
    [
        b"", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 2000 OK\r\n\r\n", b"HTTP/2 200\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n",
        OK + b"no colon\r\n\r\n", OK + b"X: y\r\n" * 200 + b"\r\n", OK + b"X: " + b"y" * 100_000 + b"\r\n\r\n",
        OK + b"Content-Length: -1\r\n\r\n", OK + b"Content-Length: 10\r\n\r\nshort", OK + b"Content-Length: x\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nx",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nx", OK + b"X: y\r\n", b"x" * 100_000,
    ],
)  # fmt: skip
def test_malformed_responses_are_rejected(text: bytes) -> None:
    """With a readable error."""
    with answering(responding_with(text)) as (port, _), pytest.raises(RequestFailed) as caught:
        post(port)
    assert caught.value.reason


def test_a_refused_connection_is_reported() -> None:
    """With a readable error."""
    with closed_port() as port, pytest.raises(RequestFailed, match="cannot be reached"):
        post(port)


@pytest.mark.parametrize(
    ("text", "reusable"),
    [
        (OK + b"Content-Length: 2\r\n\r\nok", True),
        (b"HTTP/1.1 204 No Content\r\n\r\n", True),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", True),
        (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nok", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", False),
        (OK + b"Content-Length: 200\r\n\r\n" + b"x" * 200, False),
        (OK + b"\r\nok", False),
    ],
)
def test_reuse_of_connections(text: bytes, reusable: bool) -> None:
    """Only after a completely read response, and unless the server closes it."""

    async def run(port: int) -> bool:
        connection = await PinnedConnection.open(pinned(port))
        await connection.request("POST", [], b"", max_bytes=100)
        kept = connection.reusable
        await connection.close()
        return kept

    with answering(responding_with(text)) as (port, _):
        assert asyncio.run(run(port)) is reusable


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", ConnectionLost),
        (OK + b"Content-Le", ServerUnreachable),
        (OK + b"Content-Length: 9\r\n\r\nok", ServerUnreachable),
    ],
)
def test_lost_connections_differ_from_incomplete_responses(answer: bytes, error: type[RequestFailed]) -> None:
    """A kept connection that ended before the response began can be replaced by a new one."""

    def respond_twice(connection: socket.socket) -> None:
        connection.sendall(OK + b"Content-Length: 0\r\n\r\n")
        connection.recv(65536)
        connection.sendall(answer)

    async def run(port: int) -> None:
        connection = await PinnedConnection.open(pinned(port))
        await connection.request("POST", [], b"", max_bytes=100)
        assert connection.reusable
        with pytest.raises(RequestFailed) as caught:
            await connection.request("POST", [], b"", max_bytes=100)
        assert (type(caught.value), caught.value.temporary, connection.reusable) == (error, True, False)

    with answering(respond_twice) as (port, _):
        asyncio.run(run(port))


def test_a_header_value_cannot_add_a_header() -> None:
    """Attack: a token with a line break. Nothing is sent."""

    async def run(port: int) -> None:
        connection = await PinnedConnection.open(pinned(port))
        try:
            await connection.request("POST", [("X-Token", "a\r\nX-Other: b")], b"", max_bytes=100)
        finally:
            await connection.close()

    with answering(responding_with(b"")) as (port, heard), pytest.raises(RequestFailed):
        asyncio.run(run(port))
    assert heard == [b""]


def test_certificates(certificate: tuple[ssl.SSLContext, ssl.SSLContext]) -> None:
    """Untrusted ones are rejected, unless verification is disabled; the host name must match."""
    server, trusting = certificate
    text = OK + b"Content-Length: 2\r\n\r\nok"

    def attempt(host: str, opened: Callable[..., object]) -> bytes:
        async def run(port: int) -> bytes:
            connection = await opened(pinned(port, host, "https"))  # type: ignore[misc] # It is a coroutine.
            try:
                return bytes((await connection.request("POST", [], b"", max_bytes=10)).body)
            finally:
                await connection.close()

        with answering(responding_with(text), tls=server) as (port, _):
            return asyncio.run(run(port))

    assert attempt("repo.example", lambda where: PinnedConnection.open(where, tls=trusting)) == b"ok"
    assert attempt("other.example", lambda where: PinnedConnection.open(where, verify=False)) == b"ok"
    for opened in (PinnedConnection.open, lambda where: PinnedConnection.open(where, tls=trusting)):
        with pytest.raises(RequestFailed, match="secure"):
            attempt("other.example", opened)
