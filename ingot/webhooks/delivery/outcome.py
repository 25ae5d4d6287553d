"""Outcome of one delivery attempt, retry times, and pauses of hooks that fail repeatedly."""

import random
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import msgspec

from ingot.core.db.times import Timestamp, add_duration, to_datetime
from ingot.webhooks.delivery.tables import DeliveryState

MAX_ATTEMPTS = 16
FIRST_RETRY_SECONDS = 10.0
MAX_RETRY_SECONDS = 3600.0
MAX_RETRY_AFTER_SECONDS = 86_400.0
FAILURES_BEFORE_PAUSE = 4
"""Number of consecutive failures after which a hook is paused."""
FIRST_PAUSE_SECONDS = 60.0
MAX_PAUSE_SECONDS = 3600.0
_RETRYABLE_STATUSES = (408, 425, 429)


class DeliveryOutcome(NamedTuple):
    """One attempt and its response; without a response, ``status`` is None."""

    delivery_id: int
    hook_id: int
    attempt: int
    url: str
    request_headers: dict[str, str]
    status: int | None
    response_headers: dict[str, str]
    response_body: str
    seconds: float
    error: str | None
    sent_at: Timestamp
    final: bool
    """True if a retry would not help, regardless of the status."""
    silent: bool = False
    """True if nothing was sent because the event needs no message."""

    @property
    def succeeded(self) -> bool:
        """Return whether the receiver accepted the event, or there was nothing to send."""
        return self.silent or (self.status is not None and 200 <= self.status < 300)

    @property
    def state(self) -> DeliveryState:
        """Return the new state of the delivery."""
        if self.succeeded:
            return "done"
        retryable = self.status is None or self.status >= 500 or self.status in _RETRYABLE_STATUSES
        return "waiting" if retryable and not self.final and self.attempt < MAX_ATTEMPTS else "failed"

    def due_at(self, now: Timestamp) -> Timestamp:
        """Return the time of the next attempt: exponential backoff with jitter, but not before ``Retry-After``."""
        requested = _retry_after_seconds(self.response_headers.get("retry-after"), now)
        return add_duration(now, seconds=max(retry_seconds(self.attempt), requested))

    def row(self) -> dict[str, Any]:
        """Return the row of the attempt."""
        return {
            "delivery_id": self.delivery_id,
            "hook_id": self.hook_id,
            "attempt": self.attempt,
            "url": self.url,
            "request_headers": msgspec.json.encode(self.request_headers).decode(),
            "status": self.status,
            "response_headers": msgspec.json.encode(self.response_headers).decode(),
            "response_body": self.response_body,
            "seconds": self.seconds,
            "error": self.error,
            "created_at": self.sent_at,
        }


def retry_seconds(attempt: int) -> float:
    """Return the backoff after this many attempts."""
    backoff = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** (attempt - 1))
    return backoff * random.uniform(0.75, 1.0)  # noqa: S311 - Jitter is not a secret.


def pause_seconds(failures: int) -> float:
    """Return the pause of a hook after this many consecutive failures; one delivery then probes the receiver."""
    backoff = min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(failures - FAILURES_BEFORE_PAUSE, 16))
    return backoff * random.uniform(0.75, 1.0)  # noqa: S311 - Jitter is not a secret.


def _retry_after_seconds(header: str | None, now: Timestamp) -> float:
    """Return the seconds that ``Retry-After`` requests, as a number or as a date; at most a day."""
    if not header:
        return 0.0
    if header.isdecimal() and len(header) < 12:
        return min(float(header), MAX_RETRY_AFTER_SECONDS)
    try:
        seconds = (parsedate_to_datetime(header) - to_datetime(now)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_SECONDS)
