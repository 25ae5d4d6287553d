"""Slots of concurrent transfers in one process, divided among users and addresses.

A transfer occupies a process, a file or a connection for as long as its client takes. A caller gets only a share of the
slots, so that one who does not read cannot keep others out; further transfers wait in a queue for a limited time.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from ingot.core.access.actor import Actor
from ingot.core.errors import TransfersBusy
from ingot.core.http.client_networks import client_network

WAIT_SECONDS = 20.0
WAITING_PER_SLOT = 8
"""Length of the queue for each slot."""
_ANONYMOUS = "anonymous"


class TransferCaller(NamedTuple):
    """Caller of a transfer: a user or another credential, empty if anonymous, and the network if it is known."""

    name: str
    network: str

    @property
    def key(self) -> str:
        """Key under which transfers are counted: one user at any address, or one network without a user."""
        return self.name or f"{_ANONYMOUS} {self.network}"


def caller_of(actor: Actor, ip: str) -> TransferCaller:
    """Return the caller of a request to the API or to a page."""
    if actor.known:
        return user_caller(actor.user_id, ip)
    token = actor.deploy_token
    return TransferCaller(f"deploy token {token.id}" if token is not None else "", client_network(ip))


def user_caller(user_id: int, ip: str) -> TransferCaller:
    """Return a user who transfers something."""
    return TransferCaller(user_name(user_id), client_network(ip))


def user_name(user_id: int) -> str:
    """Return the name of a user as a caller."""
    return f"user {user_id}"


class _Waiting(NamedTuple):
    caller: TransferCaller
    admitted: "asyncio.Future[None]"


class TransferSlots:
    """Slots of one kind of transfer."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._waiting_limit = total * WAITING_PER_SLOT
        self._user_share = max(1, total // 3)
        self._network_share = max(1, total * 2 // 3)
        self._anonymous_share = max(1, total * 2 // 3)
        self._anonymous_network_share = max(1, total // 4)
        self._used: Counter[str] = Counter()
        self._held = 0
        self._queue: list[_Waiting] = []

    @asynccontextmanager
    async def hold(self, caller: TransferCaller) -> AsyncIterator[None]:
        """Hold a slot during the block; raise ``TransfersBusy`` if none becomes free in time."""
        if self._queue or not self._admits(caller):
            await self._wait(caller)
        else:
            self._take(caller)
        try:
            yield
        finally:
            self._release(caller)

    async def _wait(self, caller: TransferCaller) -> None:
        """Wait for a slot; a caller with fewer waiting transfers than another takes the place of its newest one."""
        waiting = _Waiting(caller, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        self._admit_waiting()
        if len(self._queue) > self._waiting_limit:
            self._refuse_one()
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                await waiting.admitted
        except TimeoutError:
            self._leave(waiting)
            raise TransfersBusy from None
        except BaseException:
            self._leave(waiting)
            raise

    def _refuse_one(self) -> None:
        """Refuse the newest transfer of the caller with the most waiting ones."""
        counts = Counter(waiting.caller.key for waiting in self._queue)
        most = max(counts.values())
        refused = next(waiting for waiting in reversed(self._queue) if counts[waiting.caller.key] == most)
        self._queue.remove(refused)
        if not refused.admitted.done():
            refused.admitted.set_exception(TransfersBusy())

    def _leave(self, waiting: _Waiting) -> None:
        """Leave the queue; return the slot of a transfer that was admitted when it was cancelled."""
        if waiting in self._queue:
            self._queue.remove(waiting)
        elif waiting.admitted.done() and not waiting.admitted.cancelled() and waiting.admitted.exception() is None:
            self._release(waiting.caller)

    def _admit_waiting(self) -> None:
        """Give free slots to those in the queue: first to the caller with the fewest slots, then to the oldest."""
        while self._held < self._total:
            admissible = [
                waiting for waiting in self._queue if not waiting.admitted.done() and self._admits(waiting.caller)
            ]
            if not admissible:
                return
            chosen = min(admissible, key=lambda waiting: self._used[waiting.caller.key])
            self._queue.remove(chosen)
            self._take(chosen.caller)
            chosen.admitted.set_result(None)

    def _admits(self, caller: TransferCaller) -> bool:
        return self._held < self._total and all(self._used[key] < limit for key, limit in self._shares(caller))

    def _shares(self, caller: TransferCaller) -> list[tuple[str, int]]:
        """Return what the transfer counts for, and the limit of each."""
        if not caller.name:
            return [(caller.key, self._anonymous_network_share), (_ANONYMOUS, self._anonymous_share)]
        by_user = (caller.key, self._user_share)
        return [by_user, (f"at {caller.network}", self._network_share)] if caller.network else [by_user]

    def _take(self, caller: TransferCaller) -> None:
        self._held += 1
        for key, _ in self._shares(caller):
            self._used[key] += 1

    def _release(self, caller: TransferCaller) -> None:
        self._held -= 1
        for key, _ in self._shares(caller):
            self._used[key] -= 1
            if not self._used[key]:
                del self._used[key]
        self._admit_waiting()
