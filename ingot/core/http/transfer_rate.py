"""Minimum transfer rate of request bodies, against clients that hold a request open on purpose."""

import asyncio
from time import monotonic

from ingot.core.http.request import Message, Receive

WINDOW_SECONDS = 60.0
MIN_BYTES = 1024
"""Bytes that must arrive in each window; even a slow connection transfers many times as much."""


class TransferTooSlow(Exception):
    """Body that arrives below the minimum rate."""


class BodyReceiver:
    """Receiver of a request body that checks its rate once per window."""

    def __init__(self) -> None:
        self._since = monotonic()
        self._bytes = 0

    async def next_message(self, receive: Receive) -> Message:
        """Return the next message of the body.

        Raise ``TimeoutError`` if none arrives within a window, and ``TransferTooSlow`` below the minimum rate.
        """
        async with asyncio.timeout(WINDOW_SECONDS):
            message = await receive()
        self._bytes += len(message.get("body", b""))
        now = monotonic()
        if now - self._since > WINDOW_SECONDS:
            if self._bytes < MIN_BYTES:
                raise TransferTooSlow
            self._since, self._bytes = now, 0
        return message
