"""What lanes have done and the database does not know yet; written in batches, since each write waits for a disk."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ingot.core.db.connection import Connection
from ingot.errors import Conflict, Unavailable
from ingot.integrations.webhooks.delivery.claims import CompletedPayload, HookHealth, record_outcomes
from ingot.integrations.webhooks.delivery.outcome import DeliveryOutcome

RETRY_SECONDS = 0.5
WriteOutcomes = Callable[[Callable[[Connection], Any]], Awaitable[Any]]


class OutcomeBuffer:
    """Gathers outcomes while the ones before them are written; for one event loop."""

    def __init__(self, mine: str, write: WriteOutcomes, log: Callable[..., None]) -> None:
        self._mine = mine
        self._write = write
        self._log = log
        self._outcomes: list[DeliveryOutcome] = []
        self._finished: dict[int, str] = {}
        self._stands: dict[int, HookHealth] = {}
        self._released: set[int] = set()
        self._news = asyncio.Event()
        self._written = asyncio.Condition()
        self._added = 0
        self._settled = 0

    def add(self, outcome: DeliveryOutcome, health: HookHealth | None) -> None:
        """Note how a request went, and how its hook stands where that is another than before."""
        self._outcomes.append(outcome)
        if health is not None:
            self._stands[health.hook_id] = health
        self._note()

    def finish(self, finished: CompletedPayload) -> None:
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

    async def wait_until_written(self) -> None:
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
        told = [CompletedPayload(*each) for each in finished.items()]
        work = partial(
            record_outcomes,
            lease_owner=self._mine,
            outcomes=outcomes,
            finished=told,
            healths=list(stands.values()),
            released=released,
        )
        while True:
            try:
                await self._write(work)
                break
            except (Unavailable, Conflict) as error:
                self._log("hooks wait", error=str(error))
                await asyncio.sleep(RETRY_SECONDS)
        async with self._written:
            self._settled = reached
            self._written.notify_all()
