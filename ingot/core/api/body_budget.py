"""Memory budget of request bodies per worker: large bodies wait instead of filling the memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ingot.errors import Unavailable

SMALL_BODY_BYTES = 2**20
"""Smaller bodies do not wait."""
WAIT_SECONDS = 20.0


class BodyBudget:
    """A number of bytes that requests share."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._free = total
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def hold(self, size: int) -> AsyncIterator[None]:
        """Reserve bytes for the duration of a block; raise ``Unavailable`` after ``WAIT_SECONDS``."""
        size = min(size, self._total)
        if size <= SMALL_BODY_BYTES:
            yield
            return
        async with self._changed:
            try:
                await asyncio.wait_for(self._changed.wait_for(lambda: self._free >= size), WAIT_SECONDS)
            except TimeoutError:
                raise Unavailable("Too many large bodies are being read") from None
            self._free -= size
        try:
            yield
        finally:
            async with self._changed:
                self._free += size
                self._changed.notify_all()
