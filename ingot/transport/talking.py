"""A git process and a client over SSH: what passes between them, how much, and for how long nothing may pass."""

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic

import asyncssh

from ingot.git.core.errors import UNREADABLE_ERRORS
from ingot.transport.bodies import BodyTooLarge
from ingot.transport.children import CHUNK_SIZE, GitProcess
from ingot.transport.receiving import Push

IDLE_TIMEOUT_SECONDS = 900.0
"""Git says something every few seconds while it works; a client may need minutes to pack what it pushes."""
SEND_TIMEOUT_SECONDS = 120.0
"""For one piece: a client that stops reading must not keep a process and a place for ever."""

Pieces = AsyncIterator[bytes]
Filter = Callable[[Pieces], Pieces]
Process = asyncssh.SSHServerProcess[bytes]


class TransferTimeout(Exception):
    """For too long the client has neither sent anything nor read what was sent to it."""


class SshTransfer:
    """One transfer, from when git runs until it has ended."""

    def __init__(self, process: Process, child: GitProcess, push: Push | None, max_bytes: int) -> None:
        self._process = process
        self._child = child
        self._push = push
        self._most_bytes = max_bytes
        self._moved = monotonic()
        self._wrote = False

    async def run(self, watched: Filter | None = None) -> int:
        """Let both talk; gives git's exit status, or raises why it was ended."""
        pieces = self._pieces()
        feeding = asyncio.ensure_future(self._feed(pieces if watched is None else watched(pieces)))
        others = [asyncio.ensure_future(self._end_with_client()), asyncio.ensure_future(self._end_when_idle())]
        try:
            return await self._pump(feeding)
        finally:
            for task in (feeding, *others):
                task.cancel()
            if self._push is not None:
                await self._push.clean_up(self._child)

    async def _pump(self, feeding: "asyncio.Future[None]") -> int:
        while piece := await self._child.read():
            for part in [piece] if self._push is None else self._push.filter_output(piece):
                await self._write(part)
        status = await self._child.wait()
        for part in [] if self._push is None else await self._push.end(status):
            await self._write(part)
        if feeding.done() and not feeding.cancelled():
            feeding.result()  # Raises what was wrong with what the client sent.
        if status != 0:
            self._process.stderr.write(self._child.said.encode() if self._wrote else f"{UNREADABLE_ERRORS}\n".encode())
        return status

    async def _write(self, part: bytes) -> None:
        self._process.stdout.write(part)
        self._wrote = True
        try:
            async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                await self._process.stdout.drain()
        except TimeoutError:
            raise TransferTimeout from None
        self._moved = monotonic()

    async def _feed(self, pieces: Pieces) -> None:
        try:
            await self._child.feed(pieces)
        except asyncssh.Error:  # A break or a signal, with which nothing is to be done but to end.
            self._child.kill()
        except Exception:
            self._child.kill()
            raise

    async def _pieces(self) -> Pieces:
        sent = 0
        while piece := await self._process.stdin.read(CHUNK_SIZE):
            self._moved = monotonic()
            sent += len(piece)
            if sent > self._most_bytes:
                raise BodyTooLarge
            yield piece

    async def _end_with_client(self) -> None:
        """End git at once when the client goes, unless its push was accepted: that takes moments, and is let finish."""
        await self._process.channel.wait_closed()
        if self._push is None or not self._push.accepted:
            self._child.kill()

    async def _end_when_idle(self) -> None:
        while (left := self._moved + IDLE_TIMEOUT_SECONDS - monotonic()) > 0:
            await asyncio.sleep(left)
        self._child.kill()
