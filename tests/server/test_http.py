"""HTTP protocol of the workers: limits of the time and the size of a request head."""

import asyncio
import contextlib
import json
import select
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvicorn

from ingot.core.http import protocol
from ingot.server.supervisor import open_socket

SECONDS = 60.0
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def _app(scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send) -> None:
    """Respond with the length of the body; with nothing to ``/empty``, with the header names to ``/names``."""
    length = 0
    while True:
        message = await receive()
        length += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    names = b",".join(name for name, _ in scope["headers"])
    body = {"/empty": b"", "/names": names}.get(scope["path"], b"%d" % length)
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200 if body else 204, "headers": headers if body else []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Yield the port of a server with long timeouts, until a test shortens them."""
    monkeypatch.setattr(protocol, "HEADER_TIMEOUT_SECONDS", SECONDS)
    listener = open_socket("127.0.0.1", 0)
    config = uvicorn.Config(
        _app,
        loop="uvloop",
        http=protocol.HeadLimitProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_keep_alive=int(SECONDS),
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(10)


def _connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=SECONDS)


def _served(port: int) -> socket.socket:
    """Return a connection that has had a response; a complete head in one chunk needs no timeout."""
    connection = _connected(port)
    _request(connection)
    return connection


def _request(connection: socket.socket) -> None:
    connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    _read_until(connection, b"\r\n\r\n0")


def _read_until(connection: socket.socket, end: bytes) -> bytes:
    """Read until the received bytes end like this; the connection's timeout is the limit."""
    received = b""
    while not received.endswith(end):
        data = connection.recv(1000)
        assert data, received
        received += data
    return received


@pytest.mark.parametrize("said", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ", b"POST / HTTP/1.1\r\n"])
def test_an_incomplete_head_is_disconnected(port: int, said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with _served(port) as other:
        monkeypatch.setattr(protocol, "HEADER_TIMEOUT_SECONDS", 0.3)
        with _connected(port) as silent:
            silent.sendall(said)
            _request(other)
            assert silent.recv(1) == b"", "the server closed"


def test_later_heads_have_the_same_timeout(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with _served(port) as connection:
        monkeypatch.setattr(protocol, "HEADER_TIMEOUT_SECONDS", 0.3)
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert connection.recv(1) == b""


def test_a_body_may_take_longer_than_a_head(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The component that reads the body limits its duration."""
    with _served(port) as connection:
        monkeypatch.setattr(protocol, "HEADER_TIMEOUT_SECONDS", 0.3)
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1")
        connection.settimeout(0.6)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(SECONDS)
        connection.sendall(b"2")
        _read_until(connection, b"\r\n\r\n2")


def test_pipelined_requests_and_expect_continue(port: int) -> None:
    """Requests that arrive together are answered in order, with and without a body."""
    with _connected(port) as connection:
        for path, end in (("/", b"\r\n\r\n0"), ("/empty", b"\r\n\r\n"), ("/", b"\r\n\r\n0")):
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            _read_until(connection, end)
        connection.sendall(b"GET /empty HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert _read_until(connection, b"\r\n\r\n0").count(b"HTTP/1.1 20") == 2
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"abc")
        _read_until(connection, b"\r\n\r\n3")


HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
LINE = protocol.MAX_LINE_BYTES
HEADS: dict[str, tuple[bytes, int]] = {
    "a header line within the limit": (HEAD + b"X: %b\r\n\r\n" % (b"x" * (LINE - 100)), 200),
    "a header line above the limit": (HEAD + b"X: %b\r\n\r\n" % (b"x" * LINE), 431),
    "a header line that does not end": (HEAD + b"X: %b" % (b"x" * 10 * LINE), 431),
    "a header name that does not end": (HEAD + b"x" * 10 * LINE, 431),
    "headers that are too large together": (HEAD + b"X: %b\r\n" % (b"x" * (LINE - 100)) * 5 + b"\r\n", 431),
    "headers that do not end": (HEAD + b"X: %b\r\n" % (b"x" * (LINE - 100)) * 7, 431),
    "as many headers as allowed": (HEAD + b"X: y\r\n" * (protocol.MAX_HEADERS - 1) + b"\r\n", 200),
    "too many headers": (HEAD + b"X: y\r\n" * protocol.MAX_HEADERS + b"\r\n", 431),
    "a long target": (b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n" % (b"x" * (LINE - 1)), 200),
    "a target above the limit": (b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n" % (b"x" * LINE), 414),
    "a target that does not end": (b"GET /%b" % (b"x" * LINE), 414),
    "what is not HTTP": (b"\x16\x03\x01\r\n\r\n", 400),
}


@pytest.mark.parametrize("pieces", [1, 20])
@pytest.mark.parametrize("name", HEADS)
def test_large_heads_are_rejected(port: int, name: str, pieces: int) -> None:
    head, status = HEADS[name]
    size = -(-len(head) // pieces)
    with _connected(port) as connection:
        for start in range(0, len(head), size):
            connection.sendall(head[start : start + size])
        response = _read_all(connection) if status != 200 else _read_until(connection, b"\r\n\r\n0")
    assert response.startswith(b"HTTP/1.1 %d " % status)
    if status != 200:
        assert b"connection: close\r\n" in response
        assert json.loads(response.partition(b"\r\n\r\n")[2])["message"].startswith(f"{status} ")


def test_an_endless_header_is_rejected_while_it_is_sent(port: int) -> None:
    """The server stops after the limit; the parser would take quadratic time for the whole."""
    with _connected(port) as connection:
        connection.sendall(HEAD + b"X: ")
        connection.setblocking(False)
        readable: list[socket.socket] = []
        while not readable:
            readable, writable, _ = select.select([connection], [connection], [], SECONDS)
            assert readable or writable
            # The server may close between the two calls; its response is still there to be read.
            with contextlib.suppress(BlockingIOError, ConnectionError):
                connection.send(b"x" * 65536)
        response = connection.recv(1000)
        assert response.startswith(b"HTTP/1.1 431 ")


def test_trailers_are_neither_headers_nor_unlimited(port: int) -> None:
    chunked = b"POST %b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
    with _connected(port) as connection:
        connection.sendall(chunked % b"/names" + b"X-Forwarded-For: 127.0.0.1\r\n\r\n")
        assert _read_until(connection, b"\r\n\r\nhost,transfer-encoding")
        connection.sendall(chunked % b"/names")
        with pytest.raises(ConnectionError):
            for _ in range(1000):
                connection.sendall(b"X: " + b"x" * 65536)


def test_data_between_requests_does_not_keep_a_connection_open(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with _served(port) as connection:
        monkeypatch.setattr(protocol, "HEADER_TIMEOUT_SECONDS", 0.3)
        connection.sendall(b"\r\n")
        assert connection.recv(1) == b""


def test_a_request_after_a_large_body_is_not_large(port: int) -> None:
    """A body and the next head that arrive together are counted separately."""
    body = b"x" * 200_000
    with _connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body + HEAD)
        _read_until(connection, b"\r\n\r\n200000")
        connection.sendall(b"\r\n")
        _read_until(connection, b"\r\n\r\n0")


def _read_all(connection: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    response = b""
    while data := connection.recv(65536):
        response += data
    return response
