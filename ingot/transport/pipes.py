"""Asynchronous reads and writes on file descriptors, without the streams of asyncio.

A stream copies all data once more, in smaller chunks. Here each chunk is read directly from the descriptor, and
only when it is needed, so data that is not needed yet stays in the pipe.
"""

import asyncio
import os
import select
from collections.abc import Callable


class Pipes:
    """Descriptors that an event loop waits for; the owner closes them."""

    def __init__(self, *descriptors: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._open = set(descriptors)
        self._waiting: dict[int, tuple[asyncio.Future[None], Callable[[int], object]]] = {}
        for descriptor in descriptors:
            os.set_blocking(descriptor, False)

    async def read(self, descriptor: int, size: int) -> bytes:
        """Return the next chunk of at most ``size`` bytes as soon as there is one; empty at the end."""
        while True:
            try:
                return os.read(descriptor, size)
            except BlockingIOError:
                await self._ready(descriptor, self._loop.add_reader, self._loop.remove_reader)

    async def write(self, descriptor: int, chunk: bytes) -> None:
        """Write all of a chunk, as fast as it is read; raise ``BrokenPipeError`` when the reader has closed its end."""
        rest = memoryview(chunk)
        while rest:
            if descriptor not in self._open:
                raise BrokenPipeError
            try:
                rest = rest[os.write(descriptor, rest) :]
            except BlockingIOError:
                await self._ready(descriptor, self._loop.add_writer, self._loop.remove_writer)

    def close(self, *descriptors: int) -> None:
        """Close these descriptors, or all; a task that waits for one of them is cancelled."""
        for descriptor in descriptors or tuple(self._open):
            if descriptor in self._open:
                self._open.discard(descriptor)
                self._forget(descriptor)
                os.close(descriptor)

    async def _ready(self, descriptor: int, watch: Callable[..., object], unwatch: Callable[[int], object]) -> None:
        ready = self._loop.create_future()
        self._waiting[descriptor] = ready, unwatch
        watch(descriptor, _settle, ready)
        try:
            await ready
        finally:
            waiting = self._waiting.get(descriptor)
            if waiting is not None and waiting[0] is ready:  # Otherwise the number may belong to another file by now.
                self._forget(descriptor)

    def _forget(self, descriptor: int) -> None:
        waiting = self._waiting.pop(descriptor, None)
        if waiting is not None:
            ready, unwatch = waiting
            unwatch(descriptor)
            ready.cancel()


async def wait_readable(descriptor: int) -> None:
    """Wait until a descriptor can be read."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _settle, ready)
    try:
        await ready
    finally:
        loop.remove_reader(descriptor)


def is_writable(descriptor: int) -> bool:
    """Return whether a descriptor can be written now."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(0))


async def wait_writable(descriptor: int) -> None:
    """Wait until a descriptor can be written."""
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_writer(descriptor, _settle, ready)
    try:
        await ready
    finally:
        loop.remove_writer(descriptor)


def _settle(ready: "asyncio.Future[None]") -> None:
    if not ready.done():
        ready.set_result(None)
