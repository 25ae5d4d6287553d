"""uvicorn's server with a limit of connections, so that file descriptors remain for the work that requests cause.

The event loop's own server closes connections without a response when descriptors run out. This one accepts fewer
connections than there are descriptors, responds with 503 to those above the limit, and lets the others wait.
"""

import asyncio
import errno
import resource
import socket
from functools import partial
from ssl import SSLContext
from typing import Any

import uvicorn

from ingot.core.http.request import Message, Receive, Send

MAX_DESCRIPTORS = 65_536
RESERVED_DESCRIPTORS = 96
"""Least number of descriptors for database connections, files and git processes, and for refused connections."""
REFUSED_CONNECTIONS = 32
"""Connections above the limit that are accepted at the same time, only to be refused."""
MIN_CONNECTIONS = 8
_BATCH = 64
"""Connections accepted before other tasks run."""
_RESUME_SECONDS = 0.05
_HANDSHAKE_SECONDS = 10.0
_BODY = b'{"message":"503 Service Unavailable - too many connections"}'
_REFUSAL_HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", b"%d" % len(_BODY)),
    (b"retry-after", b"5"),
    (b"connection", b"close"),
]
_RESOURCES_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)


def raise_descriptor_limit() -> int:
    """Allow this process as many open files as the system lets it have, up to a maximum; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MAX_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= allowed:
        return MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


def connection_limit(descriptors: int) -> int:
    """Return the number of connections to serve with this many descriptors."""
    return max(MIN_CONNECTIONS, descriptors - max(RESERVED_DESCRIPTORS, descriptors // 4))


class ConnectionLimitServer(uvicorn.Server):
    """Server of one worker that serves at most ``max_connections`` at a time."""

    def __init__(self, config: uvicorn.Config, max_connections: int) -> None:
        super().__init__(config)
        self._max_connections = max_connections
        self.secured: dict[int, SSLContext] = {}
        """TLS contexts of listening sockets by their descriptors."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to accept connections on listening sockets."""
        await super().startup(sockets=[])
        for listener in sockets or []:
            context = self.secured.get(listener.fileno())
            acceptor: Any = ConnectionAcceptor(self, listener, self._max_connections, context)
            self.servers.append(acceptor)


class ConnectionAcceptor:
    """Acceptor of one listening socket, in place of an ``asyncio.Server``."""

    def __init__(
        self,
        server: uvicorn.Server,
        listener: socket.socket,
        max_connections: int,
        context: SSLContext | None = None,
    ) -> None:
        self._server = server
        self._listener = listener
        self._max_connections = max_connections
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[None]] = set()
        self._resume_timer: asyncio.TimerHandle | None = None
        listener.setblocking(False)
        self._loop.add_reader(listener, self._accept)

    def close(self) -> None:
        """Stop accepting; the caller closes the socket. The second call, by uvicorn at the end, has no effect."""
        if self._resume_timer is not None:
            self._resume_timer.cancel()
        if self._listener.fileno() >= 0:
            self._loop.remove_reader(self._listener)

    async def wait_closed(self) -> None:
        """Return at once: accepting has stopped."""

    def _accept(self) -> None:
        for _ in range(_BATCH):
            open_connections = len(self._server.server_state.connections) + len(self._opening)
            if open_connections >= self._max_connections + REFUSED_CONNECTIONS:
                self._pause()
                return
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _RESOURCES_EXHAUSTED:
                    raise
                self._pause()
                return
            connection.setblocking(False)
            refuse = open_connections >= self._max_connections
            opening = self._loop.create_task(self._open(connection, refuse=refuse))
            self._opening.add(opening)
            opening.add_done_callback(self._opening.discard)

    async def _open(self, connection: socket.socket, *, refuse: bool) -> None:
        try:
            protocol = partial(self._protocol, refuse=refuse)
            await self._loop.connect_accepted_socket(
                protocol,
                connection,
                ssl=self._context,
                ssl_handshake_timeout=None if self._context is None else _HANDSHAKE_SECONDS,
            )
        except OSError:  # The client has disconnected already.
            connection.close()

    def _protocol(self, *, refuse: bool) -> Any:
        protocol = new_protocol(self._server)
        if refuse:
            protocol.refuse_requests(_refuse)
        return protocol

    def _pause(self) -> None:
        """Let further connections wait in the socket's queue for a moment; another worker may accept them."""
        self._loop.remove_reader(self._listener)
        self._resume_timer = self._loop.call_later(_RESUME_SECONDS, self._resume)

    def _resume(self) -> None:
        self._resume_timer = None
        self._loop.add_reader(self._listener, self._accept)


def new_protocol(server: uvicorn.Server) -> Any:
    """Return the protocol of a new connection."""
    protocol_class: Any = server.config.http_protocol_class
    return protocol_class(config=server.config, server_state=server.server_state, app_state=server.lifespan.state)


async def _refuse(scope: Message, receive: Receive, send: Send) -> None:  # noqa: ARG001 - Signature of an application.
    await send({"type": "http.response.start", "status": 503, "headers": _REFUSAL_HEADERS})
    await send({"type": "http.response.body", "body": _BODY})
