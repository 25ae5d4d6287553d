"""Requests of the rate limits that this process has counted in the database ahead of time.

Counting in the database costs a write. A caller with many requests would pay for each, so that one write counts
several: twice as many as the one before, as long as they are used up within a second, and at most a twentieth of those
that the limit leaves. All processes together never admit more than the limit. A caller who turns to another process is
refused up to a twentieth early; limits with fewer than 40 requests left are always counted one by one.
"""

from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import NamedTuple

from ingot.accounts.instance.tables import Throttle
from ingot.core.db.times import Timestamp

MAX_KEYS = 10_000
_SECONDS = 1.0
_SHARE = 20


class Renewal(NamedTuple):
    """Change of a counter."""

    size: int
    """The current request and those that are reserved."""
    unused: int


class _Reserved:
    """Requests of a caller in a window, which only this process may use."""

    __slots__ = ("count", "ends_at", "left", "size", "until")

    def __init__(self, counted: Throttle, size: int, until: float) -> None:
        self.ends_at: Timestamp = counted.ends_at
        self.count = counted.count
        self.size = size
        self.left = size - 1
        self.until = until


class ReservedRequests:
    """Reserved requests by the key of their counter."""

    def __init__(self) -> None:
        self._by_key: dict[str, _Reserved] = {}
        self._lock = Lock()

    def take(self, keys: Sequence[str]) -> list[Throttle] | None:
        """Take one request of each counter; return None, and take none, unless all have one."""
        now, taken = monotonic(), []
        with self._lock:
            for key in keys:
                reserved = self._by_key.get(key)
                if reserved is None or not reserved.left or now >= reserved.until:
                    return None
                taken.append(reserved)
            for reserved in taken:
                reserved.left -= 1
            return [
                Throttle(0, key, each.ends_at, each.count - each.left) for key, each in zip(keys, taken, strict=True)
            ]

    def renew(self, before: Throttle, limit: int) -> Renewal:
        """Return how many requests to count now; those that were reserved and not used are given back."""
        with self._lock:
            reserved = self._by_key.pop(before.key, None)
        if reserved is None or reserved.ends_at != before.ends_at:
            return Renewal(1, 0)
        frequent = not reserved.left and monotonic() < reserved.until
        left = limit - before.count + reserved.left
        return Renewal(max(1, min(2 * reserved.size, left // _SHARE)) if frequent else 1, reserved.left)

    def add(self, counted: Throttle, size: int, seconds_left: float) -> None:
        """Reserve what was counted besides the current request, while its window lasts."""
        added = _Reserved(counted, size, monotonic() + min(_SECONDS, seconds_left))
        with self._lock:
            if len(self._by_key) >= MAX_KEYS:
                self._by_key.clear()
            present = self._by_key.get(counted.key)
            if present is not None and present.ends_at == added.ends_at:
                # Another thread has counted in the meantime.
                added.left += present.left
                added.count = max(added.count, present.count)
            self._by_key[counted.key] = added

    def forget(self) -> None:
        """Count all requests in the database again, because limits have changed."""
        with self._lock:
            self._by_key.clear()
