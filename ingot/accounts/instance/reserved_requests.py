"""Requests of the rate limits that this process has counted in the database ahead of time.

Counting in the database costs a write. A caller with many requests would pay for each, so that one write counts those
of the next ten seconds: twice as many as the one before if they were used up earlier, otherwise as many as were used,
and at most a twentieth of those that the limit leaves. All processes together never admit more than the limit. A caller
who turns to another process is refused up to a twentieth early; limits with fewer than 40 requests left are always
counted one by one.
"""

from collections.abc import Collection
from threading import Lock
from time import monotonic
from typing import NamedTuple

from ingot.accounts.instance.rate_limits import ActiveLimit
from ingot.accounts.instance.tables import Throttle
from ingot.core.api.responses import Header, quota_headers
from ingot.core.db.times import Timestamp, to_datetime

MAX_KEYS = 10_000
_SECONDS = 10.0
_SHARE = 20


class Renewal(NamedTuple):
    """Change of a counter."""

    size: int
    """The current request and those that are reserved."""
    unused: int


class Quota:
    """Requests that a limit admits in a window, and the headers of responses that are the same for all of them."""

    __slots__ = ("_limit", "_reset", "requests")

    def __init__(self, limit: ActiveLimit, ends_at: Timestamp) -> None:
        self.requests = limit.requests
        self._limit, _, _, self._reset = quota_headers(limit.per_minute, 0, 0, int(to_datetime(ends_at).timestamp()))

    def headers(self, used: int) -> list[Header]:
        """Return the headers after a number of requests."""
        left = self.requests - used
        return [self._limit, (b"ratelimit-observed", b"%d" % used), (b"ratelimit-remaining", b"%d" % left), self._reset]


class CountedRequest(NamedTuple):
    """A request that was counted, and its number in the window."""

    quota: Quota
    used: int

    @property
    def left(self) -> int:
        """Return how many requests remain."""
        return self.quota.requests - self.used


class _Reserved:
    """Requests of a caller in a window, which only this process may use."""

    __slots__ = ("count", "ends_at", "left", "quota", "since", "size", "until")

    def __init__(self, quota: Quota, counted: Throttle, size: int, since: float, until: float) -> None:
        self.quota = quota
        self.ends_at: Timestamp = counted.ends_at
        self.count = counted.count
        self.size = size
        self.left = size - 1
        self.since = since
        self.until = until


class ReservedRequests:
    """Reserved requests by the key of their counter."""

    def __init__(self) -> None:
        self._by_key: dict[str, _Reserved] = {}
        self._lock = Lock()

    def take(self, keys: Collection[str]) -> list[CountedRequest] | None:
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
            return [CountedRequest(each.quota, each.count - each.left) for each in taken]

    def take_one(self, key: str) -> list[Header] | None:
        """Take one request of a counter and return the headers; return None if there is none."""
        with self._lock:
            reserved = self._by_key.get(key)
            if reserved is None or not reserved.left or monotonic() >= reserved.until:
                return None
            reserved.left -= 1
            return reserved.quota.headers(reserved.count - reserved.left)

    def renew(self, before: Throttle, limit: int) -> Renewal:
        """Return how many requests to count now; those that were reserved and not used are given back."""
        with self._lock:
            reserved = self._by_key.pop(before.key, None)
        if reserved is None or reserved.ends_at != before.ends_at:
            return Renewal(1, 0)
        now = monotonic()
        if now < reserved.until:
            expected = reserved.size if reserved.left else 2 * reserved.size
        else:
            expected = int((reserved.size - reserved.left) * _SECONDS / (now - reserved.since))
        left = limit - before.count + reserved.left
        return Renewal(max(1, min(expected, left // _SHARE)), reserved.left)

    def add(self, quota: Quota, counted: Throttle, size: int, seconds_left: float) -> None:
        """Reserve what was counted besides the current request, while its window lasts."""
        now = monotonic()
        added = _Reserved(quota, counted, size, now, now + min(_SECONDS, seconds_left))
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
