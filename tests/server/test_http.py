"""What workers speak: heads and bodies in one piece, and nobody who says nothing keeps a connection (fault 9)."""

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvicorn

from ingot.http import protocol
from ingot.supervisor import open_socket

Send = Callable[[dict[str, Any]], Awaitable[None]]


async def _app(scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send) -> None:
    """Says how long the body was; below ``/empty`` there is nothing to say."""
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
    """A server that has little patience."""
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    listener = open_socket("127.0.0.1", 0)
    config = uvicorn.Config(
        _app, loop="uvloop", http=protocol.JoinedHttp, ws="none", lifespan="off", log_config=None, access_log=False
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(10)


def _connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.settimeout(10)
    return connection


@pytest.mark.parametrize("said", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: ", b"POST / HTTP/1.1\r\n"])
def test_who_never_ends_a_head_is_let_go(port: int, said: bytes) -> None:
    with _connected(port) as silent:
        silent.sendall(said)
        with _connected(port) as other:
            other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert other.recv(1000).endswith(b"\r\n\r\n0")
        assert silent.recv(1) == b"", "the server closed"


def test_the_next_head_has_as_long_as_the_first(port: int) -> None:
    with _connected(port) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert connection.recv(1000).endswith(b"\r\n\r\n0")
        connection.sendall(b"GET / HTTP/1.1\r\n")
        assert connection.recv(1) == b""


def test_a_body_may_take_longer_than_a_head(port: int) -> None:
    """How long is for the doors to say."""
    with _connected(port) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n1")
        connection.settimeout(0.6)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(10)
        connection.sendall(b"2")
        assert connection.recv(1000).endswith(b"\r\n\r\n2")


def test_one_piece_with_and_without_a_body(port: int) -> None:
    """Several requests at once are answered in turn, each whole; and who waits to be told to go on is told so."""
    with _connected(port) as connection:
        for path, end in (("/", b"\r\n\r\n0"), ("/empty", b"\r\n\r\n"), ("/", b"\r\n\r\n0")):
            connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            assert connection.recv(1000).endswith(end)
        connection.sendall(b"GET /empty HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n")
        seen = b""
        while not seen.endswith(b"\r\n\r\n0"):
            seen += connection.recv(1000)
        assert seen.count(b"HTTP/1.1 20") == 2
        connection.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert connection.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"abc")
        assert connection.recv(1000).endswith(b"\r\n\r\n3")
