"""One hook's lane: what it has to tell, one after the other, whatever happens in other lanes."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from ingot.core.db.times import Timestamp, add_duration
from ingot.integrations.webhooks.delivery.claims import DeliveryBatch, HookHealth
from ingot.integrations.webhooks.delivery.delivery_log import OutcomeBuffer
from ingot.integrations.webhooks.delivery.outcome import FAILURES_BEFORE_PAUSE, DeliveryOutcome, pause_seconds
from ingot.integrations.webhooks.delivery.sender import HookSender
from ingot.integrations.webhooks.tables import Delivery, Hook

IDLE_SECONDS = 2.0
"""For how long a lane waits for more: who pushes once often pushes twice, and the connection is open."""
NEW_DELIVERY_SECONDS = 1.0
"""After so long the hook is read again: it may have another URL by now, or be gone."""

TakeBatch = Callable[[int], Awaitable[DeliveryBatch | None]]
CompletePayload = Callable[[Delivery], Awaitable[str]]


class HookWorker:
    """Sends for one hook until it has nothing more to tell, or is better left alone."""

    def __init__(
        self,
        hook_id: int,
        take: TakeBatch,
        finish: CompletePayload,
        sender: HookSender,
        ledger: OutcomeBuffer,
        clock: Callable[[], Timestamp],
        *,
        failing: bool,
    ) -> None:
        self.hook_id = hook_id
        self.failing = failing
        self._take = take
        self._finish = finish
        self._sender = sender
        self._ledger = ledger
        self._clock = clock
        self._more = asyncio.Event()
        self._ending = False

    def end(self) -> None:
        """Send nothing more after what is under way."""
        self._ending = True
        self._more.set()

    def wake(self) -> None:
        """There is more to tell."""
        self._more.set()

    async def run(self) -> None:
        """Work through what there is; when this has ended, somebody else may send for the hook."""
        try:
            await self._work()
        finally:
            self._sender.close()
            self._ledger.release(self.hook_id)
        # Only then: whoever looks what is due before that finds the hook still held, and nobody to tell it later.
        await self._ledger.wait_until_written()

    async def _work(self) -> None:
        while not self._ending and (batch := await self._take(self.hook_id)) is not None:
            if not batch.deliveries:
                if not await self._wait():
                    return
            elif not await self._send_all(batch):
                return

    async def _wait(self) -> bool:
        """Whether there is more, or may be."""
        try:
            async with asyncio.timeout(IDLE_SECONDS):
                await self._more.wait()
        except TimeoutError:
            return False
        self._more.clear()
        return True

    async def _send_all(self, batch: DeliveryBatch) -> bool:
        """Send as long as it goes well; says whether to go on.

        After a failure the lane ends. Where there is more to tell, another one is started, if there is room for those
        that fail: a hundred receivers that hang must not hold all lanes until each is left alone.
        """
        hook, started = batch.hook, time.monotonic()
        failures, failed = hook.failures, False
        for delivery in batch.deliveries:
            payload = delivery.payload if delivery.unfinished is None else await self._finish(delivery)
            outcome = await self._sender.send(hook, delivery, payload)
            stand = self._health_after(hook, failures, outcome)
            self._ledger.add(outcome, stand)
            if stand is not None:
                failures = stand.failures
            self.failing, failed = failures > 0, not outcome.succeeded
            if failed or self._ending or time.monotonic() - started > NEW_DELIVERY_SECONDS:
                break
        # What was sent must not be read again as if it were due.
        await self._ledger.wait_until_written()
        return not failed

    def _health_after(self, hook: Hook, failures: int, outcome: DeliveryOutcome) -> HookHealth | None:
        """How the hook stands after a request; nothing where it stands as well as before."""
        if outcome.silent:
            return None
        if outcome.succeeded:
            return HookHealth(hook.id, 0, None) if failures or hook.disabled_until else None
        failures += 1
        if failures < FAILURES_BEFORE_PAUSE:
            return HookHealth(hook.id, failures, None)
        return HookHealth(hook.id, failures, add_duration(self._clock(), seconds=pause_seconds(failures)))
