"""Built-in receiver of webhooks, whose deliveries a test lists or waits for."""

import asyncio
from collections import deque
from typing import Any

import msgspec

MAX_DELIVERIES = 10_000


class ReceivedHook(msgspec.Struct):
    """A delivery as the receiver got it."""

    id: int
    receiver: str
    """Last part of the receiver's URL."""
    event: str
    headers: dict[str, str]
    body: Any


class HookReceiver:
    """Deliveries in the order in which they arrived."""

    def __init__(self) -> None:
        self._received: deque[ReceivedHook] = deque(maxlen=MAX_DELIVERIES)
        self._count = 0
        self._changed = asyncio.Condition()

    async def receive(self, receiver: str, headers: dict[str, str], body: bytes) -> None:
        """Record a delivery."""
        try:
            document = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):  # A service may send a form.
            document = body.decode("utf-8", "replace")
        self._count += 1
        event = headers.get("x-gitlab-event", "")
        async with self._changed:
            self._received.append(ReceivedHook(self._count, receiver, event, headers, document))
            self._changed.notify_all()

    def deliveries(self, receiver: str = "", event: str = "", after: int = 0) -> list[ReceivedHook]:
        """Return the deliveries to one receiver or all, of one event or all, with an id above ``after``."""
        return [
            hook
            for hook in self._received
            if hook.id > after and receiver in ("", hook.receiver) and event in ("", hook.event)
        ]

    async def wait(self, seconds: float, count: int, receiver: str, event: str, after: int) -> list[ReceivedHook]:
        """Return the matching deliveries as soon as there are ``count`` of them, or when the time is over."""
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: len(self.deliveries(receiver, event, after)) >= count)
        except TimeoutError:
            pass
        return self.deliveries(receiver, event, after)

    def clear(self) -> None:
        """Remove all deliveries."""
        self._received.clear()

    def restart(self) -> None:
        """Remove all deliveries, and count from 1 again."""
        self._received.clear()
        self._count = 0
