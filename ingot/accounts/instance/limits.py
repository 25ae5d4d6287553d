"""Counting of requests for the rate limits; off by default."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import NamedTuple

from ingot.accounts.instance.admitted_addresses import AdmittedAddresses
from ingot.accounts.instance.all_settings import AllSettings, decode_all_settings
from ingot.accounts.instance.rate_limits import ActiveLimit, ActiveLimits, active_limits, any_active
from ingot.accounts.instance.reserved_requests import CountedRequest, Quota, Renewal, ReservedRequests
from ingot.accounts.instance.settings import cached_stored_settings
from ingot.accounts.instance.tables import StoredSettings, Throttle
from ingot.accounts.instance.throttles import count_attempt, seconds_left
from ingot.core.api.rate_limits import LimitedRequest, RequestKind
from ingot.core.api.responses import Header
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.core.errors import Throttled
from ingot.core.http.transfer_slots import user_name

RELOAD_SECONDS = 0.2


class _Counted(NamedTuple):
    limit: ActiveLimit
    throttle: Throttle
    size: int
    """Number of requests that were counted at once."""
    seconds_left: float

    @property
    def left(self) -> int:
        return self.limit.requests - self.throttle.count + self.size - 1


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
        self._by_route: dict[tuple[RequestKind, str, str], ActiveLimits | None] = {}
        self._loaded_at = float("-inf")
        self._addresses = AdmittedAddresses(database)
        self._reserved = ReservedRequests()

    async def applying(self, kind: RequestKind, method: str, route: str, pool: Executor) -> ActiveLimits | None:
        """Return the limits that count requests to a route; None if there are none."""
        if monotonic() - self._loaded_at > RELOAD_SECONDS:
            self._load(await self._database.read_async(cached_stored_settings, pool))
        return self._limits(kind, method, route) if self._any_active else None

    def take(self, limits: ActiveLimits, request: LimitedRequest) -> list[Header]:
        """Count a request and return the headers of the tightest quota; raise Throttled when one is used up."""
        if limits.addresses is not None:
            self._addresses.admit(limits.addresses, request)
        counting = _counting(limits, request)
        if not counting:
            return []
        return _headers(self._reserved.take(counting) or self._reserve(counting))

    def _reserve(self, counting: dict[str, ActiveLimit]) -> list[CountedRequest]:
        """Count a request and those that are reserved; raise Throttled when a limit is used up."""
        requests = []
        for limit, throttle, size, seconds in self._database.write(partial(self._count, counting)):
            quota = Quota(limit, throttle.ends_at)
            self._reserved.add(quota, throttle, size, seconds)
            requests.append(CountedRequest(quota, throttle.count - size + 1))
        return requests

    def take_reserved(self, limits: ActiveLimits, request: LimitedRequest) -> list[Header] | None:
        """Count a request without the database and return the headers; return None if ``take`` must count it."""
        if limits.addresses is not None and not self._addresses.is_admitted(request):
            return None
        counting = _counting(limits, request)
        if not counting:
            return []
        counted = self._reserved.take(counting)
        return None if counted is None else _headers(counted)

    def take_again(self, limits: ActiveLimits, user_id: int) -> list[Header] | None:
        """Count a further request of a user as ``take_reserved``, sooner; return None if that must count it."""
        return self._reserved.take_one(f"{limits.single} {user_name(user_id)}") if limits.single else None

    def take_inside(self, method: str, route: str, request: LimitedRequest) -> None:
        """Count a change by a page or a GraphQL query, or a call by a tool; raise Throttled beyond a limit."""
        if monotonic() - self._loaded_at > RELOAD_SECONDS:
            self._load(self._database.read(cached_stored_settings))
        limits = self._limits("inside", method, route) if self._any_active else None
        if limits is not None:
            self.take(limits, request)

    def _load(self, stored: StoredSettings) -> None:
        if stored.document != self._document:
            settings = decode_all_settings(stored)
            self._settings, self._by_route, self._document = settings, {}, stored.document
            self._any_active = any_active(settings)
            self._addresses.forget()
            self._reserved.forget()
        self._loaded_at = monotonic()

    def _limits(self, kind: RequestKind, method: str, route: str) -> ActiveLimits | None:
        by_route, settings = self._by_route, self._settings
        try:
            return by_route[kind, method, route]
        except KeyError:
            limits = by_route[kind, method, route] = active_limits(settings, kind, method, route)
            return limits

    def _count(self, counting: dict[str, ActiveLimit], db: Connection) -> list[_Counted]:
        counted = [self._count_one(db, key, limit) for key, limit in counting.items()]
        tightest = min(counted, key=lambda each: each.left)
        if tightest.left < 0:
            text = self._settings.rate_limiting_response_text or ""
            raise Throttled(seconds_left(db, tightest.throttle), tightest.limit.per_minute, text)
        return counted

    def _count_one(self, db: Connection, key: str, limit: ActiveLimit) -> _Counted:
        renewals = [Renewal(1, 0)]

        def ahead(before: Throttle) -> int:
            renewals.append(self._reserved.renew(before, limit.requests))
            return renewals[-1].size - 1 - renewals[-1].unused

        throttle = count_attempt(db, key, limit.seconds, ahead)
        ends = to_datetime(throttle.ends_at) - to_datetime(db.now)
        return _Counted(limit, throttle, renewals[-1].size, ends.total_seconds())


def _counting(limits: ActiveLimits, request: LimitedRequest) -> dict[str, ActiveLimit]:
    """Return the limits that count a request, by the keys of their counters."""
    of_caller = limits.users if request.caller.name else limits.anonymous
    return {_key(limit, request): limit for limit in of_caller if not _is_exempt(limit, request)}


def _headers(counted: Sequence[CountedRequest]) -> list[Header]:
    """Return the headers of the quota of which the fewest requests are left."""
    quota, used = counted[0] if len(counted) == 1 else min(counted, key=lambda each: each.left)
    return quota.headers(used)


def _is_exempt(limit: ActiveLimit, request: LimitedRequest) -> bool:
    if limit.exempts_administrators and request.actor.admin:
        return True
    if limit.exempt_users and request.actor.username.lower() in limit.exempt_users:
        return True
    return bool(limit.protected_paths) and not request.path.startswith(limit.protected_paths)


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
