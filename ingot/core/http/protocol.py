"""uvicorn's HTTP protocol with a timeout for the head of a request, against clients that hold connections open."""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_TIMEOUT_SECONDS = 30.0


class HeadTimeoutProtocol(HttpToolsProtocol):
    """HTTP protocol that closes a connection whose next request head is not complete in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # As uvicorn has it.
        """Start the timeout of the first request."""
        super().connection_made(transport)
        self._idle_since = self.loop.time()
        self._head_timeout = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self._close)

    def on_message_begin(self) -> None:
        """Restart the timeout: a later request on the connection has as much time as the first one."""
        self._head_timeout.cancel()
        self._head_timeout = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self._close)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Stop the timeout; the component that reads the body limits its duration."""
        self._head_timeout.cancel()
        super().on_headers_complete()

    def on_response_complete(self) -> None:
        """Note when the connection became idle."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def idle_seconds(self) -> float:
        """Return the time since the connection was opened or the last response ended; 0 during a request."""
        waiting = self.cycle is None or self.cycle.response_complete
        return self.loop.time() - self._idle_since if waiting else 0.0

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
        self._head_timeout.cancel()
        super().connection_lost(exc)

    def _close(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
