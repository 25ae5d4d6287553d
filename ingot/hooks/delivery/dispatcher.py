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

from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.times import moment
from ingot.errors import Conflict, Unavailable
from ingot.hooks.delivery.claims import (
    LEASE_SECONDS,
    Batch,
    Finished,
    claim,
    is_ahead,
    look,
    release_all,
    renew,
    straighten,
    take,
)
from ingot.hooks.delivery.lane import Lane
from ingot.hooks.delivery.ledger import Ledger
from ingot.hooks.delivery.request import Dress, undressed
from ingot.hooks.delivery.sending import Sender
from ingot.hooks.finishing import Finisher
from ingot.hooks.tables import Delivery
from ingot.outgoing.guard import Guard

ROLE = "hooks"
MOST_LANES = 256
MOST_FAILING = 192
"""Lanes of hooks that fail take long; some are left to the others."""
RESOLVERS = 16
READERS = 2
MOST_FINISHED = 256
"""Payloads that are held for those who read them before they were written."""
STRAIGHTEN_EVERY = 20
LONGEST_SLEEP_SECONDS = 30.0
TROUBLE_SECONDS = 1.0
GRACE_SECONDS = 2.0
T = TypeVar("T")


class Dispatcher:
    """Delivers until it is told to stop; any number of them may run against one database."""

    def __init__(
        self,
        database: Database,
        guard: Guard,
        finisher: Finisher,
        instance: str,
        log: Callable[..., None],
        dress: Dress = undressed,
    ) -> None:
        self._database = database
        self._guard = guard
        self._finisher = finisher
        self._instance = instance
        self._log = log
        self._dress = dress
        self._mine = secrets.token_hex(8)
        self._lanes: dict[int, tuple[Lane, asyncio.Task[None]]] = {}
        self._finishing: dict[int, asyncio.Future[str]] = {}
        stopping, self._stopper = os.pipe()
        self._stopping = [stopping]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ledger: Ledger | None = None
        self._wake = asyncio.Event()
        self._ended = threading.Event()
        self._reading = ThreadPoolExecutor(1, "hooks-read")
        self._writing = ThreadPoolExecutor(1, "hooks-write")
        self._resolving = ThreadPoolExecutor(RESOLVERS, "hooks-names")
        self._git = ThreadPoolExecutor(READERS, "hooks-git")

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
        ledger = self._ledger = Ledger(self._mine, self._write, self._log)
        await self._take_over()
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

    async def _take_over(self) -> None:
        """Where no dispatcher lives, nobody holds a hook, whatever those who died have left behind."""
        if not self._database.engine.is_served(ROLE):
            await self._patiently(release_all)

    def _watch(self) -> None:
        """Wait for news, in a thread: the next round looks whether any of it is for us."""
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not self._is_stopped():
                watch.wait(LONGEST_SLEEP_SECONDS, self._stopping)
                self.wake()

    async def _look(self, ledger: Ledger) -> float:
        """Start lanes for hooks that have something to tell; gives the time until there may be more."""
        for hook_id, (_, task) in list(self._lanes.items()):
            if task.done():
                del self._lanes[hook_id]
        try:
            due, failing, pause = await self._read(self._due)
            wanted = self._chosen(due, failing)
            held = await self._write(partial(claim, mine=self._mine, wanted=wanted)) if wanted else []
        except (Unavailable, Conflict) as error:
            self._log("hooks wait", error=str(error))
            return TROUBLE_SECONDS
        for hook_id in due:
            if hook_id in self._lanes:
                self._lanes[hook_id][0].wake()
        for hook_id in held:
            self._start(hook_id, ledger, failing=hook_id in failing)
        return pause

    def _chosen(self, due: Sequence[int], failing: set[int]) -> list[int]:
        """For which hooks lanes can be started; those that fail leave some to the others."""
        waiting = [hook_id for hook_id in due if hook_id not in self._lanes]
        most = max(0, MOST_FAILING - sum(lane.failing for lane, _ in self._lanes.values()))
        well = [hook_id for hook_id in waiting if hook_id not in failing]
        ailing = [hook_id for hook_id in waiting if hook_id in failing][:most]
        return [*well, *ailing][: max(0, MOST_LANES - len(self._lanes))]

    def _due(self, db: Connection) -> tuple[list[int], set[int], float]:
        due, failing, at = look(db, self._mine)
        seconds = LONGEST_SLEEP_SECONDS if at is None else (moment(at) - moment(db.now)).total_seconds()
        return due, failing, min(max(seconds, 0.001), LONGEST_SLEEP_SECONDS)

    def _start(self, hook_id: int, ledger: Ledger, *, failing: bool) -> None:
        clock, vault = self._database.clock, self._database.vault
        sender = Sender(self._guard, vault, self._resolving, self._instance, clock, self._dress)
        lane = Lane(hook_id, self._take, self._finish, sender, ledger, clock, failing=failing)
        task = asyncio.create_task(self._run_lane(lane))
        task.add_done_callback(lambda _: self._wake.set())
        self._lanes[hook_id] = lane, task

    async def _run_lane(self, lane: Lane) -> None:
        try:
            await lane.run()
        except Exception as error:  # noqa: BLE001 - One hook must not end the deliveries of all others.
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("hook failed", hook=lane.hook_id, error=type(error).__name__, where=where)
            await asyncio.sleep(TROUBLE_SECONDS)

    async def _take(self, hook_id: int) -> Batch | None:
        return await self._patiently(partial(take, mine=self._mine, hook_id=hook_id), reads=True)

    async def _finish(self, delivery: Delivery) -> str:
        """A payload with what only a repository knows; lanes that need the same one wait for it together."""
        found = self._finishing.get(delivery.event_id)
        if found is None:
            found = asyncio.ensure_future(self._read_repository(delivery))
            self._finishing[delivery.event_id] = found
            if len(self._finishing) > MOST_FINISHED:
                self._finishing.pop(next(iter(self._finishing)))
        return await asyncio.shield(found)

    async def _read_repository(self, delivery: Delivery) -> str:
        work = partial(self._finisher.finish, delivery.payload, delivery.unfinished or "")
        payload = await asyncio.get_running_loop().run_in_executor(self._git, work)
        if self._ledger is not None:
            self._ledger.finish(Finished(delivery.event_id, payload))
        return payload

    async def _tend(self) -> None:
        """Keep what is held, and mend what a clock that was set has done."""
        count = 0
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            if self._lanes:
                await self._patiently(partial(renew, mine=self._mine))
            count += 1
            if count % STRAIGHTEN_EVERY == 0 and await self._patiently(is_ahead, reads=True):
                self._log("hooks straightened", count=await self._patiently(straighten))

    async def _end(self, ledger: Ledger) -> None:
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
                await ledger.settled()
        except TimeoutError:
            pass  # What is not written is sent again.

    async def _patiently(self, work: Callable[[Connection], T], *, reads: bool = False) -> T:
        """Read or write, again and again until the database answers."""
        while True:
            try:
                return await (self._read(work) if reads else self._write(work))
            except (Unavailable, Conflict) as error:
                self._log("hooks wait", error=str(error))
                await asyncio.sleep(TROUBLE_SECONDS)

    async def _read(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._database.read, work)

    async def _write(self, work: Callable[[Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._database.write, work)
