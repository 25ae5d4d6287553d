"""Rate limits of API calls; off by default."""

from time import monotonic

from ingot.accounts.instance.settings import InstanceSettings, current_settings
from ingot.accounts.instance.throttles import count_attempt, seconds_left
from ingot.core.access.actor import Actor
from ingot.core.api.responses import Header, quota_headers
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.times import to_datetime
from ingot.errors import Throttled

RELOAD_SECONDS = 0.2


class ApiRateLimits:
    """Counter of API calls in the database, shared by all workers and machines."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._settings = InstanceSettings()
        self._loaded_at = float("-inf")

    @property
    def active(self) -> bool:
        """Return whether any limit is configured; the settings are read again after 0.2 seconds.

        This runs on every call. Checking each time whether the database changed cost 7 % of every call (measured), for
        a feature that is off by default.
        """
        now = monotonic()
        if now - self._loaded_at > RELOAD_SECONDS:
            self._settings = self._database.read(current_settings)
            self._loaded_at = now
        settings = self._settings
        return settings.throttle_authenticated_api_enabled or settings.throttle_unauthenticated_enabled

    def take(self, db: Connection, actor: Actor, ip: str) -> list[Header]:
        """Count one call and return the quota headers; raise Throttled when the quota is used up."""
        settings = self._settings
        if actor.known:
            if not settings.throttle_authenticated_api_enabled:
                return []
            limit = settings.throttle_authenticated_api_requests_per_period
            period = settings.throttle_authenticated_api_period_in_seconds
            key = f"calls of {actor.user_id}"
        else:
            if not settings.throttle_unauthenticated_enabled:
                return []
            limit = settings.throttle_unauthenticated_requests_per_period
            period = settings.throttle_unauthenticated_period_in_seconds
            key = f"calls from {ip}"
        counted = count_attempt(db, key, period)
        per_minute = -(-limit * 60 // max(1, period))
        if counted.count > limit:
            raise Throttled(seconds_left(db, counted), per_minute)
        resets = int(to_datetime(counted.ends_at).timestamp())
        return quota_headers(per_minute, counted.count, limit - counted.count, resets)
