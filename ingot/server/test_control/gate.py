"""Gate in front of the application: counts running requests, and holds new ones back while the state is replaced."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

_GRACE_SECONDS = 2.0
"""Time that running requests get to end before they are cancelled."""


class RequestGate:
    """Gate that lets requests pass until it is closed."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[object]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def passage(self) -> AsyncIterator[None]:
        """Wait until the gate is open, and count the request during a block."""
        await self._open.wait()
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - Requests run in tasks.
        self._running.add(task)
        try:
            yield
        finally:
            self._running.discard(task)

    @asynccontextmanager
    async def closed(self, hurry: Callable[[], None]) -> AsyncIterator[None]:
        """Hold new requests back during a block, after the running ones have ended; ``hurry`` ends those that wait."""
        async with self._turn:
            self._open.clear()
            try:
                hurry()
                if self._running:
                    _, late = await asyncio.wait(self._running, timeout=_GRACE_SECONDS)
                    for task in late:
                        task.cancel()
                    if late:
                        await asyncio.wait(late)
                yield
            finally:
                self._open.set()
