"""The dispatcher of the job process: finds the hooks that have something to tell, and runs a lane for each.

It has a thread with an event loop for the network, one that reads and one that writes the database, one that
waits for news in it, and a few that look names up and read repositories.
"""

import asyncio
import os
import secrets
import select
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from typing import TypeVar

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.core.outgoing.guard import SsrfGuard
from ingot.errors import Conflict, Unavailable
from ingot.integrations.webhooks.delivery.claims import (
    LEASE_SECONDS,
    CompletedPayload,
    DeliveryBatch,
    claim_hooks,
    due_hooks,
    has_clock_skew,
    next_batch,
    release_all_leases,
    renew_leases,
    repair_clock_skew,
)
from ingot.integrations.webhooks.delivery.delivery_log import OutcomeBuffer
from ingot.integrations.webhooks.delivery.hook_queue import HookWorker
from ingot.integrations.webhooks.delivery.request import FormatMessage, no_message_format
from ingot.integrations.webhooks.delivery.sender import HookSender
from ingot.integrations.webhooks.payload_completion import PayloadCompletion
from ingot.integrations.webhooks.tables import Delivery

ROLE = "hooks"
MAX_WORKERS = 256
MAX_FAILING_WORKERS = 192
"""Lanes of hooks that fail take long; some are left to the others."""
RESOLVER_THREADS = 16
READER_THREADS = 2
MAX_COMPLETED_PAYLOADS = 256
"""Payloads that are held for those who read them before they were written."""
CLOCK_CHECK_EVERY = 20
MAX_SLEEP_SECONDS = 30.0
ERROR_RETRY_SECONDS = 1.0
GRACE_SECONDS = 2.0
T = TypeVar("T")


class HookDispatcher:
    """Delivers until it is told to stop; any number of them may run against one database."""

    def __init__(
        self,
        database: Database,
        guard: SsrfGuard,
        finisher: PayloadCompletion,
        instance: str,
        log: Callable[..., None],
        dress: FormatMessage = no_message_format,
    ) -> None:
        self._database = database
        self._guard = guard
        self._finisher = finisher
        self._instance = instance
        self._log = log
        self._dress = dress
        self._mine = secrets.token_hex(8)
        self._lanes: dict[int, tuple[HookWorker, asyncio.Task[None]]] = {}
        self._finishing: dict[int, asyncio.Future[str]] = {}
        stopping, self._stopper = os.pipe()
        self._stopping = [stopping]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ledger: OutcomeBuffer | None = None
        self._wake = asyncio.Event()
        self._ended = threading.Event()
        self._reading = ThreadPoolExecutor(1, "hooks-read")
        self._writing = ThreadPoolExecutor(1, "hooks-write")
        self._resolving = ThreadPoolExecutor(RESOLVER_THREADS, "hooks-names")
        self._git = ThreadPoolExecutor(READER_THREADS, "hooks-git")

    def start(self, stops: Sequence[int] = ()) -> None:
        """Begin, in threads of its own; it ends by itself when one of ``stops`` can be read."""
        self._stopping += stops
        threading.Thread(target=self._run, name="hooks", daemon=True).start()

    def wake(self) -> None:
        """Look now whether there is something to do."""
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._wake.set)
            except RuntimeError:  # It has ended.
                pass

    def stop(self) -> bool:
        """Let requests that are under way come to their end for a moment, and give the others back."""
        os.write(self._stopper, b"!")
        self.wake()
        return self._ended.wait(GRACE_SECONDS * 3)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:  # noqa: BLE001 - Whatever it is, the process must not go on without delivering.
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("hooks failed", error=type(error).__name__, where=where)
            os._exit(1)
        finally:
            self._ended.set()

    def _is_stopped(self) -> bool:
        return bool(select.select(self._stopping, [], [], 0)[0])

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        ledger = self._ledger = OutcomeBuffer(self._mine, self._write, self._log)
        await self._release_stale_leases()
        threading.Thread(target=self._watch, name="hooks-watch", daemon=True).start()
        tending = [asyncio.create_task(ledger.run()), asyncio.create_task(self._tend())]
        while not self._is_stopped():
            pause = await self._look(ledger)
            try:
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            for task in tending:
                if task.done():
                    task.result()
        await self._end(ledger)
        for task in tending:
            task.cancel()

    async def _release_stale_leases(self) -> None:
        """Where no dispatcher lives, nobody holds a hook, whatever those who died have left behind."""
        if not self._database.engine.is_served(ROLE):
            await self._with_retries(release_all_leases)

    def _watch(self) -> None:
        """Wait for news, in a thread: the next round looks whether any of it is for us."""
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not self._is_stopped():
                watch.wait(MAX_SLEEP_SECONDS, self._stopping)
                self.wake()

    async def _look(self, ledger: OutcomeBuffer) -> float:
        """Start lanes for hooks that have something to tell; gives the time until there may be more."""
        for hook_id, (_, task) in list(self._lanes.items()):
            if task.done():
                del self._lanes[hook_id]
        try:
            due, failing, pause = await self._read(self._due)
            wanted = self._chosen(due, failing)
            held = await self._write(partial(claim_hooks, lease_owner=self._mine, wanted=wanted)) if wanted else []
        except (Unavailable, Conflict) as error:
            self._log("hooks wait", error=str(error))
            return ERROR_RETRY_SECONDS
        for hook_id in due:
            if hook_id in self._lanes:
                self._lanes[hook_id][0].wake()
        for hook_id in held:
            self._start(hook_id, ledger, failing=hook_id in failing)
        return pause

    def _chosen(self, due: Sequence[int], failing: set[int]) -> list[int]:
        """For which hooks lanes can be started; those that fail leave some to the others."""
        waiting = [hook_id for hook_id in due if hook_id not in self._lanes]
        most = max(0, MAX_FAILING_WORKERS - sum(lane.failing for lane, _ in self._lanes.values()))
        well = [hook_id for hook_id in waiting if hook_id not in failing]
        ailing = [hook_id for hook_id in waiting if hook_id in failing][:most]
        return [*well, *ailing][: max(0, MAX_WORKERS - len(self._lanes))]

    def _due(self, db: Connection) -> tuple[list[int], set[int], float]:
        due, failing, at = due_hooks(db, self._mine)
        seconds = MAX_SLEEP_SECONDS if at is None else (to_datetime(at) - to_datetime(db.now)).total_seconds()
        return due, failing, min(max(seconds, 0.001), MAX_SLEEP_SECONDS)

    def _start(self, hook_id: int, ledger: OutcomeBuffer, *, failing: bool) -> None:
        clock, vault = self._database.clock, self._database.vault
        sender = HookSender(self._guard, vault, self._resolving, self._instance, clock, self._dress)
        lane = HookWorker(hook_id, self._take, self._finish, sender, ledger, clock, failing=failing)
        task = asyncio.create_task(self._run_worker(lane))
        task.add_done_callback(lambda _: self._wake.set())
        self._lanes[hook_id] = lane, task

    async def _run_worker(self, lane: HookWorker) -> None:
        try:
            await lane.run()
        except Exception as error:  # noqa: BLE001 - One hook must not end the deliveries of all others.
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("hook failed", hook=lane.hook_id, error=type(error).__name__, where=where)
            await asyncio.sleep(ERROR_RETRY_SECONDS)

    async def _take(self, hook_id: int) -> DeliveryBatch | None:
        return await self._with_retries(partial(next_batch, lease_owner=self._mine, hook_id=hook_id), reads=True)

    async def _finish(self, delivery: Delivery) -> str:
        """A payload with what only a repository knows; lanes that need the same one wait for it together."""
        found = self._finishing.get(delivery.event_id)
        if found is None:
            found = asyncio.ensure_future(self._read_repository(delivery))
            self._finishing[delivery.event_id] = found
            if len(self._finishing) > MAX_COMPLETED_PAYLOADS:
                self._finishing.pop(next(iter(self._finishing)))
        return await asyncio.shield(found)

    async def _read_repository(self, delivery: Delivery) -> str:
        work = partial(self._finisher.finish, delivery.payload, delivery.unfinished or "")
        payload = await asyncio.get_running_loop().run_in_executor(self._git, work)
        if self._ledger is not None:
            self._ledger.finish(CompletedPayload(delivery.event_id, payload))
        return payload

    async def _tend(self) -> None:
        """Keep what is held, and mend what a clock that was set has done."""
        count = 0
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            if self._lanes:
                await self._with_retries(partial(renew_leases, lease_owner=self._mine))
            count += 1
            if count % CLOCK_CHECK_EVERY == 0 and await self._with_retries(has_clock_skew, reads=True):
                self._log("hooks straightened", count=await self._with_retries(repair_clock_skew))

    async def _end(self, ledger: OutcomeBuffer) -> None:
        tasks = [task for _, task in self._lanes.values()]
        for lane, _ in self._lanes.values():
            lane.end()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await ledger.wait_until_written()
        except TimeoutError:
            pass  # What is not written is sent again.

    async def _with_retries(self, work: Callable[[Connection], T], *, reads: bool = False) -> T:
        """Read or write, again and again until the database answers."""
        while True:
            try:
                return await (self._read(work) if reads else self._write(work))
            except (Unavailable, Conflict) as error:
                self._log("hooks wait", error=str(error))
                await asyncio.sleep(ERROR_RETRY_SECONDS)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._database.read, work)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._database.write, work)
