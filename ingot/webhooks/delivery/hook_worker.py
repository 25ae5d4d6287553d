"""Worker that sends the deliveries of one hook in order, independently of all other hooks."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from ingot.core.db.times import Timestamp, add_duration
from ingot.webhooks.delivery.claims import DeliveryBatch, HookHealth
from ingot.webhooks.delivery.outcome import FAILURES_BEFORE_PAUSE, DeliveryOutcome, pause_seconds
from ingot.webhooks.delivery.outcome_writer import OutcomeWriter
from ingot.webhooks.delivery.sender import HookSender
from ingot.webhooks.delivery.shares import DueHook
from ingot.webhooks.tables import Delivery, Hook

IDLE_SECONDS = 2.0
"""Time that a worker waits for more events, because pushes often follow each other and the connection is open."""
BATCH_SECONDS = 1.0
"""Time after which the hook is read again, because its URL may have changed or it may have been deleted."""

NextBatch = Callable[[int], Awaitable[DeliveryBatch | None]]
CompletePayload = Callable[[Delivery], Awaitable[str]]


class HookWorker:
    """Task that sends for one leased hook until nothing is due or a delivery fails."""

    def __init__(
        self,
        hook: DueHook,
        next_batch: NextBatch,
        complete_payload: CompletePayload,
        sender: HookSender,
        writer: OutcomeWriter,
        clock: Callable[[], Timestamp],
    ) -> None:
        self.hook = hook
        self._next_batch = next_batch
        self._complete_payload = complete_payload
        self._sender = sender
        self._writer = writer
        self._clock = clock
        self._more = asyncio.Event()
        self._stopping = False
        self._is_needed = False

    def stop(self) -> None:
        """Send nothing after the current delivery."""
        self._stopping = True
        self._more.set()

    def wake(self) -> None:
        """Check for new deliveries."""
        self._more.set()

    def free(self) -> None:
        """Wait for no further events, because other hooks need a worker."""
        self._is_needed = True
        self._more.set()

    async def run(self) -> None:
        """Send all due deliveries; when this returns, the lease of the hook has been released."""
        try:
            await self._work()
        finally:
            await self._sender.close()
            self._writer.release(self.hook.id)
        # The dispatcher must find the hook released when it queries the due hooks again.
        await self._writer.flushed()

    async def _work(self) -> None:
        while not self._stopping and (batch := await self._next_batch(self.hook.id)) is not None:
            if not batch.deliveries:
                if not await self._wait():
                    return
            elif not await self._send_all(batch):
                return

    async def _wait(self) -> bool:
        """Wait for more deliveries; return whether there may be some."""
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                await self._more.wait()
        except TimeoutError:
            return False
        self._more.clear()
        return not self._is_needed

    async def _send_all(self, batch: DeliveryBatch) -> bool:
        """Send the batch up to the first failure; return whether to continue.

        A failure ends the worker. The dispatcher starts another one for the next due delivery, within the limit for
        failing hooks: a hundred receivers that hang must not occupy all workers until each of them is paused.
        """
        hook, started = batch.hook, time.monotonic()
        failures, failed = hook.failures, False
        for delivery in batch.deliveries:
            payload = delivery.payload if delivery.unfinished is None else await self._complete_payload(delivery)
            outcome = await self._sender.send(hook, delivery, payload)
            health = self._health(hook, failures, outcome)
            self._writer.add(outcome, health)
            if health is not None:
                failures = health.failures
            self.hook, failed = self.hook._replace(failing=failures > 0), not outcome.succeeded
            if failed or self._stopping or time.monotonic() - started > BATCH_SECONDS:
                break
        # The next batch must not contain the deliveries that were just sent.
        await self._writer.flushed()
        return not failed

    def _health(self, hook: Hook, failures: int, outcome: DeliveryOutcome) -> HookHealth | None:
        """Return the health of the hook after an attempt; None if it is unchanged."""
        if outcome.silent:
            return None
        if outcome.succeeded:
            return HookHealth(hook.id, 0, None) if failures or hook.disabled_until else None
        failures += 1
        if failures < FAILURES_BEFORE_PAUSE:
            return HookHealth(hook.id, failures, None)
        return HookHealth(hook.id, failures, add_duration(self._clock(), seconds=pause_seconds(failures)))
