"""HTTP protocol of the workers: clients that send no complete request head are disconnected."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvicorn

from ingot.core.http import protocol
from ingot.operations.supervisor import open_socket

SECONDS = 60.0
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def _app(scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send) -> None:
    """Respond with the length of the body, or with nothing below ``/empty``."""
    length = 0
    while True:
        message = await receive()
        length += len(message.get("body", b""))
        if not message.get("more_body"):
            break
    body = b"" if scope["path"] == "/empty" else b"%d" % length
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
        http=protocol.HeadTimeoutProtocol,
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
