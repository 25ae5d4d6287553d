"""Counting of requests for the rate limits; off by default."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import NamedTuple

from ingot.accounts.instance.admitted_addresses import AdmittedAddresses
from ingot.accounts.instance.all_settings import AllSettings, decode_all_settings
from ingot.accounts.instance.rate_limits import UNIQUE_ADDRESSES, ActiveLimit, active_limits, any_active
from ingot.accounts.instance.reserved_requests import Renewal, ReservedRequests
from ingot.accounts.instance.settings import cached_stored_settings
from ingot.accounts.instance.tables import StoredSettings, Throttle
from ingot.accounts.instance.throttles import count_attempt, seconds_left
from ingot.core.api.rate_limits import LimitedRequest, RequestKind
from ingot.core.api.responses import Header, quota_headers
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.core.errors import Throttled

RELOAD_SECONDS = 0.2


class _Counted(NamedTuple):
    limit: ActiveLimit
    throttle: Throttle
    size: int = 1
    """Number of requests that were counted at once."""
    seconds_left: float = 0.0

    @property
    def left(self) -> int:
        return self.limit.requests - self.throttle.count + self.size - 1

    @property
    def per_minute(self) -> int:
        return -(-self.limit.requests * 60 // max(1, self.limit.seconds))


class InstanceRateLimits:
    """Counters of requests in the database, shared by all workers and machines.

    Requests of frequent callers are counted ahead of time (reserved_requests.py). The settings are read again after 0.2
    seconds. Checking for each call whether the database changed cost 7 % of every call (measured), for a feature that
    is off by default.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._document = ""
        self._settings = AllSettings()
        self._any_active = False
        self._by_route: dict[tuple[RequestKind, str, str], tuple[ActiveLimit, ...]] = {}
        self._loaded_at = float("-inf")
        self._addresses = AdmittedAddresses(database)
        self._reserved = ReservedRequests()

    async def applying(self, kind: RequestKind, method: str, route: str, pool: Executor) -> Sequence[ActiveLimit]:
        """Return the limits that count requests to a route; empty if there are none."""
        if monotonic() - self._loaded_at > RELOAD_SECONDS:
            self._load(await self._database.read_async(cached_stored_settings, pool))
        return self._limits(kind, method, route) if self._any_active else ()

    def take(self, limits: Sequence[ActiveLimit], request: LimitedRequest) -> list[Header]:
        """Count a request and return the headers of the tightest quota; raise Throttled when one is used up."""
        for limit in limits:
            if limit.name == UNIQUE_ADDRESSES:
                self._addresses.admit(limit, request)
        counting = _counting(limits, request)
        if not counting:
            return []
        headers = self._take_reserved(counting)
        if headers is None:
            counted = self._database.write(partial(self._count, counting))
            for each in counted:
                self._reserved.add(each.throttle, each.size, each.seconds_left)
            headers = _headers(counted)
        return headers

    def take_reserved(self, limits: Sequence[ActiveLimit], request: LimitedRequest) -> list[Header] | None:
        """Count a request without the database and return the headers; return None if ``take`` must count it."""
        if any(limit.name == UNIQUE_ADDRESSES for limit in limits):
            return None
        counting = _counting(limits, request)
        return self._take_reserved(counting) if counting else []

    def _take_reserved(self, counting: dict[str, ActiveLimit]) -> list[Header] | None:
        taken = self._reserved.take(list(counting))
        if taken is None:
            return None
        return _headers([_Counted(counting[throttle.key], throttle) for throttle in taken])

    def take_inside(self, method: str, route: str, request: LimitedRequest) -> None:
        """Count a change by a page or a GraphQL query, or a call by a tool; raise Throttled beyond a limit."""
        if monotonic() - self._loaded_at > RELOAD_SECONDS:
            self._load(self._database.read(cached_stored_settings))
        if self._any_active:
            self.take(self._limits("inside", method, route), request)

    def _load(self, stored: StoredSettings) -> None:
        if stored.document != self._document:
            settings = decode_all_settings(stored)
            self._settings, self._by_route, self._document = settings, {}, stored.document
            self._any_active = any_active(settings)
            self._addresses.forget()
            self._reserved.forget()
        self._loaded_at = monotonic()

    def _limits(self, kind: RequestKind, method: str, route: str) -> tuple[ActiveLimit, ...]:
        by_route, settings = self._by_route, self._settings
        limits = by_route.get((kind, method, route))
        if limits is None:
            limits = by_route[kind, method, route] = active_limits(settings, kind, method, route)
        return limits

    def _count(self, counting: dict[str, ActiveLimit], db: Connection) -> list[_Counted]:
        counted = [self._count_one(db, key, limit) for key, limit in counting.items()]
        tightest = min(counted, key=lambda each: each.left)
        if tightest.left < 0:
            text = self._settings.rate_limiting_response_text or ""
            raise Throttled(seconds_left(db, tightest.throttle), tightest.per_minute, text)
        return counted

    def _count_one(self, db: Connection, key: str, limit: ActiveLimit) -> _Counted:
        renewals = [Renewal(1, 0)]

        def ahead(before: Throttle) -> int:
            renewals.append(self._reserved.renew(before, limit.requests))
            return renewals[-1].size - 1 - renewals[-1].unused

        throttle = count_attempt(db, key, limit.seconds, ahead)
        ends = to_datetime(throttle.ends_at) - to_datetime(db.now)
        return _Counted(limit, throttle, renewals[-1].size, ends.total_seconds())


def _counting(limits: Sequence[ActiveLimit], request: LimitedRequest) -> dict[str, ActiveLimit]:
    """Return the limits that count a request, by the keys of their counters."""
    return {
        _key(limit, request): limit for limit in limits if limit.name != UNIQUE_ADDRESSES and _counts(limit, request)
    }


def _headers(counted: Sequence[_Counted]) -> list[Header]:
    if not counted:
        return []
    tightest = min(counted, key=lambda each: each.left)
    resets = int(to_datetime(tightest.throttle.ends_at).timestamp())
    used = tightest.limit.requests - tightest.left
    return quota_headers(tightest.per_minute, used, tightest.left, resets)


def _counts(limit: ActiveLimit, request: LimitedRequest) -> bool:
    is_user = bool(request.caller.name)
    if limit.callers != "all" and is_user != (limit.callers == "users"):
        return False
    if limit.exempts_administrators and request.actor.admin:
        return False
    if request.actor.known and request.actor.username.lower() in limit.exempt_users:
        return False
    return not limit.protected_paths or request.path.startswith(limit.protected_paths)


def _key(limit: ActiveLimit, request: LimitedRequest) -> str:
    """Return the key of a counter; values of the path are hashed, because they may be long."""
    parts = [limit.name]
    if limit.by_caller:
        parts.append(request.caller.name or request.caller.network)
    if limit.per:
        # Paths of projects and groups are the same in upper and lower case.
        values = "\0".join(request.params.get(name, "").lower() for name in limit.per)
        parts.append(sha256(values.encode("utf-8", "surrogateescape")).hexdigest()[:32])
    return " ".join(parts)
