"""Raw TCP servers on loopback that send the bytes a test gives them, and their certificates."""

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from ingot.core.outgoing.guard import PinnedUrl

OK = b"HTTP/1.1 200 OK\r\n"


@contextmanager
def answering(*answers: Callable[[socket.socket], None], tls: ssl.SSLContext | None = None) -> Iterator[Any]:
    """Run a server that reads each request's head and calls a function; yield its port and the requests."""
    listener = socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []

    def serve() -> None:
        for answer in answers:
            connection, _ = listener.accept()
            try:
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_side=True)
                heard.append(connection.recv(65536))
                answer(connection)
            except OSError:  # The client has disconnected.
                pass
            finally:
                connection.close()

    thread = Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1], heard
    finally:
        thread.join()
        listener.close()


def responding_with(text: bytes) -> Callable[[socket.socket], None]:
    """Return a function that sends these bytes."""
    return lambda connection: connection.sendall(text)


def pinned(port: int, host: str = "hooks.example", scheme: str = "http", target: str = "/in?x=1") -> PinnedUrl:
    """Return the result of a check that permits this server."""
    return PinnedUrl(scheme, host, port, "127.0.0.1", target)
