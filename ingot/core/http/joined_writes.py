"""Transport that sends what is written in one step of the event loop together.

uvicorn writes the head and the body of a response separately. Sent separately, they are two system calls and two
packets, and wake a waiting client twice.
"""

import asyncio
from typing import Any

_MAX_PENDING_BYTES = 64 * 1024
"""More is passed on at once, so that the transport below can ask the writer to pause."""


class JoinedWrites:
    """Transport that collects small writes until the event loop runs its next callback."""

    __slots__ = ("_loop", "_pending", "_pending_bytes", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._pending: list[bytes] = []
        self._pending_bytes = 0

    def __getattr__(self, name: str) -> Any:
        """Return what is not defined here from the transport below."""
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data soon, in order."""
        if not self._pending:
            self._loop.call_soon(self._flush)
        self._pending.append(data)
        self._pending_bytes += len(data)
        if self._pending_bytes > _MAX_PENDING_BYTES:
            self._flush()

    def _flush(self) -> None:
        if self._pending:
            pending, self._pending, self._pending_bytes = self._pending, [], 0
            self._transport.write(pending[0] if len(pending) == 1 else b"".join(pending))

    def is_closing(self) -> bool:
        """Return whether the transport is closed or about to be."""
        return self._transport.is_closing()

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes that were written and not sent."""
        return self._pending_bytes + self._transport.get_write_buffer_size()

    def write_eof(self) -> None:
        """Close the sending half after everything is sent."""
        self._flush()
        self._transport.write_eof()

    def close(self) -> None:
        """Close the connection after everything is sent."""
        self._flush()
        self._transport.close()
