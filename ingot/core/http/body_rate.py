"""How slowly a request's body may come: who stands still, or sends next to nothing, is not waited for."""

import asyncio
from time import monotonic

from ingot.core.http.request import Message, Receive

WINDOW_SECONDS = 60.0
MIN_BYTES = 1024
"""In each window; a person on a bad line sends many times as much."""


class BodyTooSlow(Exception):
    """So little comes that somebody seems to hold us up on purpose."""


class BodyPace:
    """Looks every now and then at how much came since; a client that stands still runs into the timeout."""

    def __init__(self) -> None:
        self._since = monotonic()
        self._bytes = 0

    async def next(self, receive: Receive) -> Message:
        """The next piece of a body; raises ``TimeoutError`` or ``BodyTooSlow`` where it does not come as it should."""
        async with asyncio.timeout(WINDOW_SECONDS):
            message = await receive()
        self._bytes += len(message.get("body", b""))
        now = monotonic()
        if now - self._since > WINDOW_SECONDS:
            if self._bytes < MIN_BYTES:
                raise BodyTooSlow
            self._since, self._bytes = now, 0
        return message
