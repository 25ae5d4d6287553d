"""HTTP server of one worker, which continues to serve for a moment after SIGTERM."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress
from ssl import SSLContext
from types import FrameType
from typing import Any

import uvicorn

from ingot.core.http.connections import ConnectionLimitServer, new_protocol
from ingot.core.http.protocol import HeadLimitProtocol

GRACE_SECONDS = 8.0
"""Time from the signal until running requests are aborted; shorter than the supervisor's timeout."""
LINGER_SECONDS = 1.0
"""Time during which connections are still accepted, so that clients and load balancers can find another server."""
MAX_LINGER_SECONDS = 5.0
"""The same while clients are expected to send another request, such as a push that has received the refs."""
IDLE_SECONDS = 1.0
"""Time after which an idle connection is closed once no more connections are accepted."""
_TICK_SECONDS = 1.0
_POLL_SECONDS = 0.05


class HttpServer(ConnectionLimitServer):
    """Server with a drain: it reports that it is not ready, serves on, and closes connections one by one.

    A connection that is closed while its client sends a request would lose the request, so a connection is closed with
    a response (``Connection: close``) or when it has been idle.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        max_connections: int,
        start_drain: Callable[[], None],
        expects_requests: Callable[[], bool],
        *,
        lingers: bool = True,
    ) -> None:
        super().__init__(config, max_connections)
        self._start_drain = start_drain
        self._expects_requests = expects_requests
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self._deadline = 0.0
        self._lingers = lingers

    def stop(self, *, linger: bool) -> None:
        """Stop as after SIGTERM, or without accepting connections any more; called in the event loop's thread."""
        self._lingers = linger
        self.should_exit = True
        self._stopping.set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle SIGTERM or SIGINT: note it, and wake the event loop."""
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)

    async def main_loop(self) -> None:
        """Wait for the end, then drain; once a second the date of the responses is updated."""
        self._loop = asyncio.get_running_loop()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK_SECONDS):
                    await self._stopping.wait()
        await self._linger(self._loop)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop accepting connections, serve those that are open, then close the rest."""
        loop = asyncio.get_running_loop()
        waiting = [(listener.dup(), self.secured.get(listener.fileno())) for listener in sockets or ()]
        for server in self.servers:
            server.close()
        # The event loop closes its descriptors now; connections that arrive meanwhile wait at ours.
        await asyncio.sleep(_POLL_SECONDS)
        for listener in sockets or ():
            listener.close()
        for listener, context in waiting:
            await self._accept_waiting(loop, listener, context)
        idle_seconds = IDLE_SECONDS if self._lingers else 0.0
        while self.server_state.connections and loop.time() < self._deadline and not self.force_exit:
            for connection in list(self.server_state.connections):
                if isinstance(connection, HeadLimitProtocol) and connection.idle_seconds() > idle_seconds:
                    connection.shutdown()
            await asyncio.sleep(_POLL_SECONDS)
        self.config.timeout_graceful_shutdown = max(1, int(self._deadline - loop.time()))
        await super().shutdown(sockets)

    async def _linger(self, loop: asyncio.AbstractEventLoop) -> None:
        started = loop.time()
        self._deadline = started + GRACE_SECONDS
        self._start_drain()
        while self._lingers and (
            loop.time() < started + LINGER_SECONDS
            or (self._expects_requests() and loop.time() < started + MAX_LINGER_SECONDS)
        ):
            await asyncio.sleep(_POLL_SECONDS)

    async def _accept_waiting(
        self, loop: asyncio.AbstractEventLoop, listener: socket.socket, context: SSLContext | None
    ) -> None:
        """Accept the connections that are already established, and close the socket."""
        with listener:
            accepted = []
            while True:
                try:
                    accepted.append(listener.accept()[0])
                except OSError:  # None is left.
                    break
        for connection in accepted:
            connection.setblocking(False)
            with suppress(OSError):  # The client has disconnected already.
                await loop.connect_accepted_socket(self._protocol, connection, ssl=context)

    def _protocol(self) -> Any:
        return new_protocol(self)
