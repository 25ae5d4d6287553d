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

    @property
    def left(self) -> int:
        return self.limit.requests - self.throttle.count

    @property
    def per_minute(self) -> int:
        return -(-self.limit.requests * 60 // max(1, self.limit.seconds))


class InstanceRateLimits:
    """Counters of requests in the database, shared by all workers and machines.

    The settings are read again after 0.2 seconds. Checking for each call whether the database changed cost 7 % of every
    call (measured), for a feature that is off by default.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._document = ""
        self._settings = AllSettings()
        self._any_active = False
        self._by_route: dict[tuple[RequestKind, str, str], tuple[ActiveLimit, ...]] = {}
        self._loaded_at = float("-inf")
        self._addresses = AdmittedAddresses(database)

    async def applying(self, kind: RequestKind, method: str, route: str, pool: Executor) -> Sequence[ActiveLimit]:
        """Return the limits that count requests to a route; empty if there are none."""
        if monotonic() - self._loaded_at > RELOAD_SECONDS:
            self._load(await self._database.read_async(cached_stored_settings, pool))
        return self._limits(kind, method, route) if self._any_active else ()

    def take(self, limits: Sequence[ActiveLimit], request: LimitedRequest) -> list[Header]:
        """Count a request and return the headers of the tightest quota; raise Throttled when one is used up."""
        counting = []
        for limit in limits:
            if limit.name == UNIQUE_ADDRESSES:
                self._addresses.admit(limit, request)
            elif _counts(limit, request):
                counting.append(limit)
        return self._database.write(partial(self._count, counting, request)) if counting else []

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
        self._loaded_at = monotonic()

    def _limits(self, kind: RequestKind, method: str, route: str) -> tuple[ActiveLimit, ...]:
        by_route, settings = self._by_route, self._settings
        limits = by_route.get((kind, method, route))
        if limits is None:
            limits = by_route[kind, method, route] = active_limits(settings, kind, method, route)
        return limits

    def _count(self, limits: list[ActiveLimit], request: LimitedRequest, db: Connection) -> list[Header]:
        counted = [_Counted(limit, count_attempt(db, _key(limit, request), limit.seconds)) for limit in limits]
        tightest = min(counted, key=lambda each: each.left)
        if tightest.left < 0:
            text = self._settings.rate_limiting_response_text or ""
            raise Throttled(seconds_left(db, tightest.throttle), tightest.per_minute, text)
        resets = int(to_datetime(tightest.throttle.ends_at).timestamp())
        return quota_headers(tightest.per_minute, tightest.throttle.count, tightest.left, resets)


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
