"""Minimum transfer rate of requests and responses, against clients that hold a connection open on purpose."""

import asyncio
import fcntl
import struct
import termios
from time import monotonic

from ingot.core.http.request import Message, Receive

MIN_BYTES_PER_SECOND = 1024
"""Average rate that a body must reach in each window; even a slow connection transfers many times as much."""
WINDOW_SECONDS = 10.0
STREAM_WINDOW_SECONDS = 60.0
"""Window of pushes and LFS uploads, whose clients may pause while they prepare the next part."""
READ_WINDOW_SECONDS = 60.0
"""Window of responses, unless a setting says otherwise."""


class TransferTooSlow(Exception):
    """Body that arrives below the minimum rate."""


class BodyReceiver:
    """Receiver of a request body that checks its rate once per window.

    Only the time spent waiting for the client counts, not the time that the server takes to process what has arrived.
    """

    def __init__(self, *, streamed: bool = False) -> None:
        self._window = STREAM_WINDOW_SECONDS if streamed else WINDOW_SECONDS
        self._waited = 0.0
        self._bytes = 0

    async def next_message(self, receive: Receive) -> Message:
        """Return the next message of the body; raise ``TransferTooSlow`` below the minimum rate."""
        while True:
            started = monotonic()
            try:
                async with asyncio.timeout(self._window - self._waited):
                    message = await receive()
            except TimeoutError:
                self._end_window()
                continue
            self._waited += monotonic() - started
            self._bytes += len(message.get("body", b""))
            if self._waited >= self._window and message.get("more_body", False):
                self._end_window()
            return message

    def _end_window(self) -> None:
        if self._bytes < MIN_BYTES_PER_SECOND * self._window:
            raise TransferTooSlow
        self._waited, self._bytes = 0.0, 0


def unsent_bytes(transport: asyncio.Transport) -> int:
    """Return how much the client has still to read: the data of the transport, and of the kernel if it tells."""
    buffered = transport.get_write_buffer_size()
    try:
        answer = fcntl.ioctl(transport.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
    except (AttributeError, OSError, ValueError):  # Closed meanwhile, or a system without this call.
        return buffered
    queued: int = struct.unpack("i", answer)[0]
    return buffered + queued
