"""Dispatcher of webhook deliveries in the job process: finds due hooks and runs a worker task for each.

It uses one thread with an event loop for the network, one that reads and one that writes the database, one that waits
for notifications of the database, and a few that resolve host names and read repositories.
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
from ingot.core.errors import Conflict, Unavailable
from ingot.core.outgoing.guard import SsrfGuard
from ingot.webhooks.delivery.claims import (
    LEASE_SECONDS,
    CompletedPayload,
    DeliveryBatch,
    claim_hooks,
    find_due_hooks,
    has_clock_skew,
    next_batch,
    release_all_leases,
    renew_leases,
    repair_clock_skew,
)
from ingot.webhooks.delivery.hook_worker import HookWorker
from ingot.webhooks.delivery.outcome_writer import OutcomeWriter
from ingot.webhooks.delivery.request import FormatMessage, no_message
from ingot.webhooks.delivery.sender import HookSender
from ingot.webhooks.delivery.shares import DueHook, choose_hooks
from ingot.webhooks.payload_completion import PayloadCompletion
from ingot.webhooks.tables import Delivery

ROLE = "hooks"
RESOLVER_THREADS = 16
READER_THREADS = 2
MAX_COMPLETED_PAYLOADS = 256
"""Limit of the cache of completed payloads, for workers that read the event before the completed payload was written.
"""
SKEW_CHECK_INTERVAL = 20
MAX_SLEEP_SECONDS = 30.0
RETRY_SECONDS = 1.0
GRACE_SECONDS = 2.0
T = TypeVar("T")


class HookDispatcher:
    """Dispatcher of one process; any number of them may run against one database."""

    def __init__(
        self,
        database: Database,
        guard: SsrfGuard,
        finisher: PayloadCompletion,
        instance: str,
        log: Callable[..., None],
        format_message: FormatMessage = no_message,
    ) -> None:
        self._database = database
        self._guard = guard
        self._finisher = finisher
        self._instance = instance
        self._log = log
        self._format_message = format_message
        self._mine = secrets.token_hex(8)
        self._workers: dict[int, tuple[HookWorker, asyncio.Task[None]]] = {}
        self._completions: dict[int, asyncio.Future[str]] = {}
        stopping, self._stopper = os.pipe()
        self._stopping = [stopping]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writer: OutcomeWriter | None = None
        self._wake = asyncio.Event()
        self._ended = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="hooks-watch", daemon=True)
        self._readers = ThreadPoolExecutor(1, "hooks-read")
        self._writers = ThreadPoolExecutor(1, "hooks-write")
        self._resolvers = ThreadPoolExecutor(RESOLVER_THREADS, "hooks-names")
        self._git = ThreadPoolExecutor(READER_THREADS, "hooks-git")

    def start(self, stops: Sequence[int] = ()) -> None:
        """Start the threads; the dispatcher stops by itself when one of ``stops`` becomes readable."""
        self._stopping += stops
        threading.Thread(target=self._run, name="hooks", daemon=True).start()

    def wake(self) -> None:
        """Check for due deliveries now."""
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(self._wake.set)
            except RuntimeError:  # The event loop has ended.
                pass

    def stop(self) -> bool:
        """Give running requests a moment to finish, and release all leases; return whether that succeeded."""
        os.write(self._stopper, b"!")
        self.wake()
        if not self._ended.wait(GRACE_SECONDS * 3):
            return False
        self._resolvers.shutdown(wait=False)
        # A canceled task leaves its thread running. The caller closes the connections to the database next, and SQLite
        # crashes the process if one is in use.
        for executor in (self._readers, self._writers, self._git):
            executor.shutdown()
        if self._watcher.ident is not None:
            self._watcher.join()
        os.close(self._stopping[0])
        os.close(self._stopper)
        return True

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as error:  # noqa: BLE001 - The process must not continue without deliveries.
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("hook dispatcher failed", error=type(error).__name__, where=where)
            os._exit(1)
        finally:
            self._ended.set()

    def _is_stopped(self) -> bool:
        return bool(select.select(self._stopping, [], [], 0)[0])

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        writer = self._writer = OutcomeWriter(self._mine, self._write, self._log)
        await self._release_stale_leases()
        self._watcher.start()
        tasks = [asyncio.create_task(writer.run()), asyncio.create_task(self._maintain_leases())]
        while not self._is_stopped():
            pause = await self._start_due_workers(writer)
            try:
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            except TimeoutError:
                pass
            self._wake.clear()
            for task in tasks:
                if task.done():
                    task.result()
        await self._stop_workers(writer)
        for task in tasks:
            task.cancel()

    async def _release_stale_leases(self) -> None:
        """Release the leases of crashed dispatchers, if no dispatcher runs."""
        if not self._database.engine.is_served(ROLE):
            await self._with_retries(release_all_leases)

    def _watch(self) -> None:
        """Wait for notifications of the database, in a thread, and wake the dispatcher."""
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not self._is_stopped():
                watch.wait(MAX_SLEEP_SECONDS, self._stopping)
                self.wake()

    async def _start_due_workers(self, writer: OutcomeWriter) -> float:
        """Start workers for due hooks; return the seconds until more may be due."""
        for hook_id, (_, task) in list(self._workers.items()):
            if task.done():
                del self._workers[hook_id]
        try:
            due, pause = await self._read(self._due)
            running = [worker.hook for worker, _ in self._workers.values()]
            waiting = [hook for hook in due if hook.id not in self._workers]
            chosen = choose_hooks(waiting, running)
            wanted = [hook.id for hook in chosen]
            held = await self._write(partial(claim_hooks, mine=self._mine, wanted=wanted)) if wanted else []
        except (Unavailable, Conflict) as error:
            self._log("hook database unavailable", error=str(error))
            return RETRY_SECONDS
        for hook in due:
            if hook.id in self._workers:
                self._workers[hook.id][0].wake()
        if len(chosen) < len(waiting):
            for worker, _ in self._workers.values():
                worker.free()
        for hook in chosen:
            if hook.id in held:
                self._start_worker(hook, writer)
        return pause

    def _due(self, db: Connection) -> tuple[list[DueHook], float]:
        due, at = find_due_hooks(db, self._mine)
        seconds = MAX_SLEEP_SECONDS if at is None else (to_datetime(at) - to_datetime(db.now)).total_seconds()
        return due, min(max(seconds, 0.001), MAX_SLEEP_SECONDS)

    def _start_worker(self, hook: DueHook, writer: OutcomeWriter) -> None:
        clock, vault = self._database.clock, self._database.vault
        sender = HookSender(self._guard, vault, self._resolvers, self._instance, clock, self._format_message)
        worker = HookWorker(hook, self._next_batch, self._complete_payload, sender, writer, clock)
        task = asyncio.create_task(self._run_worker(worker))
        task.add_done_callback(lambda _: self._wake.set())
        self._workers[hook.id] = worker, task

    async def _run_worker(self, worker: HookWorker) -> None:
        try:
            await worker.run()
        except Exception as error:  # noqa: BLE001 - One hook must not stop the deliveries of all others.
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("hook worker failed", hook=worker.hook.id, error=type(error).__name__, where=where)
            await asyncio.sleep(RETRY_SECONDS)

    async def _next_batch(self, hook_id: int) -> DeliveryBatch | None:
        return await self._with_retries(partial(next_batch, mine=self._mine, hook_id=hook_id), reads=True)

    async def _complete_payload(self, delivery: Delivery) -> str:
        """Complete a payload from the repository, once for all workers that need it."""
        completion = self._completions.get(delivery.event_id)
        if completion is None:
            completion = asyncio.ensure_future(self._read_repository(delivery))
            self._completions[delivery.event_id] = completion
            if len(self._completions) > MAX_COMPLETED_PAYLOADS:
                self._completions.pop(next(iter(self._completions)))
        return await asyncio.shield(completion)

    async def _read_repository(self, delivery: Delivery) -> str:
        work = partial(self._finisher.finish, delivery.payload, delivery.unfinished or "")
        payload = await asyncio.get_running_loop().run_in_executor(self._git, work)
        if self._writer is not None:
            self._writer.complete(CompletedPayload(delivery.event_id, payload))
        return payload

    async def _maintain_leases(self) -> None:
        """Renew leases, and repair the effects of a clock that was set back."""
        count = 0
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            if self._workers:
                await self._with_retries(partial(renew_leases, mine=self._mine))
            count += 1
            if count % SKEW_CHECK_INTERVAL == 0 and await self._with_retries(has_clock_skew, reads=True):
                self._log("hook clock skew repaired", count=await self._with_retries(repair_clock_skew))

    async def _stop_workers(self, writer: OutcomeWriter) -> None:
        tasks = [task for _, task in self._workers.values()]
        for worker, _ in self._workers.values():
            worker.stop()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await writer.flushed()
        except TimeoutError:
            pass  # Deliveries whose outcome is not written are sent again.

    async def _with_retries(self, work: Callable[[Connection], T], *, reads: bool = False) -> T:
        """Read or write, and retry until the database is available."""
        while True:
            try:
                return await (self._read(work) if reads else self._write(work))
            except (Unavailable, Conflict) as error:
                self._log("hook database unavailable", error=str(error))
                await asyncio.sleep(RETRY_SECONDS)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._database.read, work)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writers, self._database.write, work)
