"""What lanes have done and the database does not know yet; written in batches, since each write waits for a disk."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ingot.db.connection import Connection
from ingot.errors import Conflict, Unavailable
from ingot.hooks.delivery.claims import Finished, Stand, settle
from ingot.hooks.delivery.outcome import Outcome

AGAIN_SECONDS = 0.5
Write = Callable[[Callable[[Connection], Any]], Awaitable[Any]]


class Ledger:
    """Gathers outcomes while the ones before them are written; for one event loop."""

    def __init__(self, mine: str, write: Write, log: Callable[..., None]) -> None:
        self._mine = mine
        self._write = write
        self._log = log
        self._outcomes: list[Outcome] = []
        self._finished: dict[int, str] = {}
        self._stands: dict[int, Stand] = {}
        self._released: set[int] = set()
        self._news = asyncio.Event()
        self._written = asyncio.Condition()
        self._added = 0
        self._settled = 0

    def add(self, outcome: Outcome, stand: Stand | None) -> None:
        """Note how a request went, and how its hook stands where that is another than before."""
        self._outcomes.append(outcome)
        if stand is not None:
            self._stands[stand.hook_id] = stand
        self._note()

    def finish(self, finished: Finished) -> None:
        """Note what a payload is in the end."""
        self._finished[finished.event_id] = finished.payload
        self._note()

    def release(self, hook_id: int) -> None:
        """Note that nobody sends for a hook any more."""
        self._released.add(hook_id)
        self._note()

    def _note(self) -> None:
        self._added += 1
        self._news.set()

    async def settled(self) -> None:
        """Wait until all that was noted so far is written."""
        wanted = self._added
        async with self._written:
            await self._written.wait_for(lambda: self._settled >= wanted)

    async def run(self) -> None:
        """Write for ever; what could not be written is tried again."""
        while True:
            await self._news.wait()
            self._news.clear()
            await self._flush()

    async def _flush(self) -> None:
        reached = self._added
        outcomes, self._outcomes = self._outcomes, []
        finished, self._finished = self._finished, {}
        stands, self._stands = self._stands, {}
        released, self._released = self._released, set()
        told = [Finished(*each) for each in finished.items()]
        work = partial(
            settle,
            mine=self._mine,
            outcomes=outcomes,
            finished=told,
            stands=list(stands.values()),
            released=released,
        )
        while True:
            try:
                await self._write(work)
                break
            except (Unavailable, Conflict) as error:
                self._log("hooks wait", error=str(error))
                await asyncio.sleep(AGAIN_SECONDS)
        async with self._written:
            self._settled = reached
            self._written.notify_all()
