"""TCP proxy on loopback that can be switched off and on, in front of a server."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_REQUEST = re.compile(rb"([A-Z]+) /[^ ]* HTTP/1\.1\r\n")


class SwitchedProxy:
    """Proxy on one port; while it is off, connections are refused or ended."""

    def __init__(self, port: int) -> None:
        self.target = port
        """Port that new connections lead to."""
        self._listener: socket.socket | None = None
        self._connections: list[socket.socket] = []
        self.requests: list[str] = []
        """Methods of the HTTP requests that passed; none is sent before the response to the one before."""
        self.port = 0
        self.switch_on()

    def switch_on(self) -> None:
        """Accept connections."""
        listener = socket.create_server(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def switch_off(self) -> None:
        """End all connections and refuse new ones."""
        for each in (self._listener, *self._connections):
            if each is not None:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
        self._connections.clear()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                self._connections += [client, server]
                for source, target, requests in ((client, server, self.requests), (server, client, [])):
                    threading.Thread(target=_pump, args=(source, target, requests), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket, requests: list[str]) -> None:
    with suppress(OSError):
        while chunk := source.recv(65536):
            if match := _REQUEST.match(chunk):
                requests.append(match[1].decode())
            target.sendall(chunk)
    for each in (source, target):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


@contextmanager
def switched_proxy(port: int) -> Iterator[SwitchedProxy]:
    """Run a proxy in front of a port until the block ends."""
    proxy = SwitchedProxy(port)
    try:
        yield proxy
    finally:
        proxy.switch_off()
