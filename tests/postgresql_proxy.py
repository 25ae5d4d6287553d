"""TCP proxy on loopback in front of a PostgreSQL server, which loses connections on request."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum

from psycopg.conninfo import conninfo_to_dict


class CommitFault(Enum):
    """Fault of the next commit of a transaction that inserted an issue."""

    RESPONSE_LOST = "the server commits, and its response is dropped with the connection"
    REQUEST_LOST = "the connection is dropped before the server receives the COMMIT"


class _ProxiedConnection:
    """Connection of a client and the one to the server that belongs to it."""

    def __init__(self, proxy: "PostgresqlProxy", client: socket.socket, server: socket.socket) -> None:
        self.proxy = proxy
        self.client = client
        self.server = server
        self.inserts = False
        self.drops_response = False

        self._threads = [
            threading.Thread(target=self._pump, args=(client, self._send_request), daemon=True),
            threading.Thread(target=self._pump, args=(server, self._send_response), daemon=True),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def _pump(self, source: socket.socket, send: Callable[[bytes], bool]) -> None:
        try:
            while chunk := source.recv(65536):
                self.proxy.flowing.wait()
                if not send(chunk):
                    break
        except OSError:
            pass
        self.end()

    def _send_request(self, chunk: bytes) -> bool:
        with self.proxy.counting:
            self.proxy.in_flight.add(self)
            self.proxy.most_in_flight = max(self.proxy.most_in_flight, len(self.proxy.in_flight))
        self.inserts = b"ROLLBACK" not in chunk and (self.inserts or b"INSERT INTO issues" in chunk)
        if self.inserts and b"COMMIT" in chunk and self.proxy.commit_fault is not None:
            fault, self.proxy.commit_fault = self.proxy.commit_fault, None
            if fault is CommitFault.REQUEST_LOST:
                return False
            self.drops_response = True
        self.server.sendall(chunk)
        return True

    def _send_response(self, chunk: bytes) -> bool:
        if self.drops_response:
            self.proxy.refuses = self.proxy.refuses_after_fault
            return False
        time.sleep(self.proxy.delay)
        with self.proxy.counting:
            self.proxy.in_flight.discard(self)
        self.client.sendall(chunk)
        return True

    def end(self) -> None:
        for side in (self.client, self.server):
            try:
                side.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self) -> None:
        self.end()
        for thread in self._threads:
            thread.join()
        self.client.close()
        self.server.close()


class PostgresqlProxy:
    """Proxy with a URL that stands for that of the server."""

    def __init__(self, url: str) -> None:
        parts = conninfo_to_dict(url)
        self._upstream = f"{parts['host']}/.s.PGSQL.{parts.get('port', 5432)}"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._connections: list[_ProxiedConnection] = []
        self.url = f"postgresql://{parts['user']}@127.0.0.1:{self._listener.getsockname()[1]}/{parts['dbname']}"
        self.flowing = threading.Event()
        self.flowing.set()
        self.refuses = False
        """Whether new connections are closed at once."""
        self.refuses_after_fault = False
        self.commit_fault: CommitFault | None = None
        self.delay = 0.0
        """Seconds by which each response is late, as if the server were far away."""
        self.counting = threading.Lock()
        self.in_flight: set[_ProxiedConnection] = set()
        """Connections whose statement has no response yet."""
        self.most_in_flight = 0
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refuses:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self._upstream)
            connection = _ProxiedConnection(self, client, server)
            connection.start()
            self._connections.append(connection)

    def cut(self) -> None:
        """Close all connections; new ones work."""
        while self._connections:
            self._connections.pop().close()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Forward nothing within the block, without closing a connection."""
        self.flowing.clear()
        try:
            yield
        finally:
            self.flowing.set()

    def close(self) -> None:
        """Close the proxy and its connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._acceptor.join()
        self._listener.close()
        self.flowing.set()
        self.cut()
