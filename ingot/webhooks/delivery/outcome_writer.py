"""Batched writes of delivery outcomes, because each transaction waits for the disk."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ingot.core.db.connection import Connection
from ingot.core.errors import Conflict, Unavailable
from ingot.webhooks.delivery.claims import CompletedPayload, HookHealth, save_outcomes
from ingot.webhooks.delivery.outcome import DeliveryOutcome

RETRY_SECONDS = 0.5
Write = Callable[[Callable[[Connection], Any]], Awaitable[Any]]


class OutcomeWriter:
    """Writer that collects outcomes while it writes the previous ones; for one event loop."""

    def __init__(self, mine: str, write: Write, log: Callable[..., None]) -> None:
        self._mine = mine
        self._write = write
        self._log = log
        self._outcomes: list[DeliveryOutcome] = []
        self._payloads: dict[int, str] = {}
        self._health: dict[int, HookHealth] = {}
        self._released: set[int] = set()
        self._pending = asyncio.Event()
        self._written = asyncio.Condition()
        self._added = 0
        self._flushed = 0

    def add(self, outcome: DeliveryOutcome, health: HookHealth | None) -> None:
        """Queue the outcome of an attempt, and the health of its hook if it changed."""
        self._outcomes.append(outcome)
        if health is not None:
            self._health[health.hook_id] = health
        self._queued()

    def complete(self, payload: CompletedPayload) -> None:
        """Queue a completed payload."""
        self._payloads[payload.event_id] = payload.payload
        self._queued()

    def release(self, hook_id: int) -> None:
        """Queue the release of a hook's lease."""
        self._released.add(hook_id)
        self._queued()

    def _queued(self) -> None:
        self._added += 1
        self._pending.set()

    async def flushed(self) -> None:
        """Wait until everything queued so far is written."""
        target = self._added
        async with self._written:
            await self._written.wait_for(lambda: self._flushed >= target)

    async def run(self) -> None:
        """Write until cancelled, and retry failed writes."""
        while True:
            await self._pending.wait()
            self._pending.clear()
            await self._flush()

    async def _flush(self) -> None:
        target = self._added
        outcomes, self._outcomes = self._outcomes, []
        payloads, self._payloads = self._payloads, {}
        health, self._health = self._health, {}
        released, self._released = self._released, set()
        work = partial(
            save_outcomes,
            mine=self._mine,
            outcomes=outcomes,
            payloads=[CompletedPayload(*each) for each in payloads.items()],
            health=list(health.values()),
            released=released,
        )
        while True:
            try:
                await self._write(work)
                break
            except (Unavailable, Conflict) as error:
                self._log("hook database unavailable", error=str(error))
                await asyncio.sleep(RETRY_SECONDS)
        async with self._written:
            self._flushed = target
            self._written.notify_all()
