"""uvicorn's HTTP protocol, but for one thing: the head and the body of an answer leave in one piece.

Written apart they are two system calls and two packets, and wake a waiting client twice.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEADER_TIMEOUT_SECONDS = 30.0
_HEAD, _CONTINUE = b"HTTP/1.1 ", b"HTTP/1.1 100"


class _JoiningTransport:
    """A transport that keeps a head until the body comes or the answer ends."""

    __slots__ = ("_head", "_transport")

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._head = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Keep a head; send anything else, behind the head if one was kept."""
        if data.startswith(_HEAD) and not data.startswith(_CONTINUE):
            self.flush()
            self._head = data
        elif self._head:
            head, self._head = self._head, b""
            self._transport.write(head + data)
        else:
            self._transport.write(data)

    def flush(self) -> None:
        """Send a head to which no body comes."""
        if self._head:
            head, self._head = self._head, b""
            self._transport.write(head)

    def close(self) -> None:
        """Send what was kept, then close."""
        self.flush()
        self._transport.close()


class JoinedHttpProtocol(HttpToolsProtocol):
    """The protocol that workers speak; whoever does not say what they want within some seconds is let go."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # As uvicorn has it.
        """Begin a connection."""
        super().connection_made(_JoiningTransport(transport))  # type: ignore[arg-type] # It does all that a transport does.
        self._waiting = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self._time_out)

    def on_message_begin(self) -> None:
        """A request begins; the next ones on a connection have as long as the first."""
        self._waiting.cancel()
        self._waiting = self.loop.call_later(HEADER_TIMEOUT_SECONDS, self._time_out)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The head is there; how long the rest may take is for the doors to say."""
        self._waiting.cancel()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        self._waiting.cancel()
        super().connection_lost(exc)

    def _time_out(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()

    def on_response_complete(self) -> None:
        """End an answer; the head of one without a body has waited until here."""
        self.transport.flush()  # type: ignore[attr-defined] # It is the one above.
        super().on_response_complete()
