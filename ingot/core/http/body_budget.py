"""Memory budget of request bodies per worker, charged as the bytes arrive and shared between client addresses."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from ingot.core.errors import Unavailable
from ingot.core.http.client_networks import client_network

TOTAL_BYTES = 192 * 2**20
ADDRESS_BYTES = TOTAL_BYTES // 2
ANONYMOUS_BYTES = TOTAL_BYTES // 6
ANONYMOUS_ADDRESS_BYTES = ANONYMOUS_BYTES // 8
ANONYMOUS_BODY_LIMIT = 2 * 2**20
"""Largest body of a caller who has not been identified by a header, a cookie or the query."""
ADMITTED_BYTES = 64 * 1024
"""Bytes of each body that are counted but never wait, so that sign-in forms and the like always arrive."""
WAIT_SECONDS = 20.0


class _Share:
    """A part of the budget. Its oldest body may exceed it, so that bodies never wait for each other in a circle."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self.bodies: dict[BodyCharge, None] = {}

    def admits(self, charge: "BodyCharge", size: int) -> bool:
        return self.used + size <= self.limit or next(iter(self.bodies)) is charge


class BodyCharge:
    """Bytes of one request body that are in memory."""

    def __init__(self, budget: "BodyBudget", ip: str) -> None:
        self.anonymous = True
        """Set to False once the caller is identified, before the body is read."""
        self.ip = ip
        self.size = 0
        self._budget = budget
        self._shares: tuple[_Share, ...] = ()

    async def add(self, size: int) -> None:
        """Charge bytes that have arrived; raise ``Unavailable`` if others do not release enough in time."""
        if not self._shares:
            self._shares = self._budget.join(self)
        if self.size + size > ADMITTED_BYTES and not self._admits(size):
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    while not self._admits(size):
                        await self._budget.wait_for_release()
            except TimeoutError:
                raise Unavailable("Too many large bodies are being read") from None
        self.size += size
        for share in self._shares:
            share.used += size

    def _admits(self, size: int) -> bool:
        return all(share.admits(self, size) for share in self._shares)

    def release(self) -> None:
        """Return all bytes to the budget."""
        for share in self._shares:
            share.used -= self.size
            del share.bodies[self]
        if self._shares:
            self._budget.announce_release()


class BodyBudget:
    """The budget of one worker: for all bodies, those of anonymous callers, and those from one network."""

    def __init__(self, total: int = TOTAL_BYTES) -> None:
        self._all = _Share(total)
        self._anonymous = _Share(total * ANONYMOUS_BYTES // TOTAL_BYTES)
        self._address_limits = {
            False: total * ADDRESS_BYTES // TOTAL_BYTES,
            True: total * ANONYMOUS_ADDRESS_BYTES // TOTAL_BYTES,
        }
        self._addresses: dict[tuple[str, bool], _Share] = {}
        self._released = asyncio.Event()

    @contextmanager
    def charge(self, ip: str) -> Iterator[BodyCharge]:
        """Yield the charge of one body from this address; it is released at the end of the block."""
        charge = self.open(ip)
        try:
            yield charge
        finally:
            charge.release()

    def open(self, ip: str) -> BodyCharge:
        """Return the charge of one body from this address; the caller releases it."""
        return BodyCharge(self, ip)

    def join(self, charge: BodyCharge) -> tuple[_Share, ...]:
        """Return the shares that a body counts for, and make it the newest in each."""
        key = client_network(charge.ip), charge.anonymous
        address = self._addresses.get(key)
        if address is None:
            self._addresses = {used: share for used, share in self._addresses.items() if share.bodies}
            address = self._addresses[key] = _Share(self._address_limits[charge.anonymous])
        shares = (self._all, address, *([self._anonymous] if charge.anonymous else []))
        for share in shares:
            share.bodies[charge] = None
        return shares

    async def wait_for_release(self) -> None:
        """Wait until a body has been released."""
        await self._released.wait()

    def announce_release(self) -> None:
        """Wake the bodies that wait."""
        released, self._released = self._released, asyncio.Event()
        released.set()
