"""What became of one request, when it is tried again, and for how long a hook that keeps failing is left alone."""

import random
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import msgspec

from ingot.core.db.times import Timestamp, add_duration, to_datetime
from ingot.integrations.webhooks.tables import DeliveryState

MAX_ATTEMPTS = 16
FIRST_RETRY_SECONDS = 10.0
MAX_RETRY_SECONDS = 3600.0
MAX_RETRY_AFTER_SECONDS = 86_400.0
FAILURES_BEFORE_PAUSE = 4
"""After so many a hook is left alone for a while."""
FIRST_PAUSE_SECONDS = 60.0
MAX_PAUSE_SECONDS = 3600.0
_RETRYABLE_STATUSES = (408, 425, 429)


class DeliveryOutcome(NamedTuple):
    """One request, and what was answered; without a status there was no answer."""

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
    """Whether another try would not help, whatever the status."""
    silent: bool = False
    """Whether there was nothing to say, so that nothing was sent."""

    @property
    def succeeded(self) -> bool:
        """Whether the receiver took it."""
        return self.silent or (self.status is not None and 200 <= self.status < 300)

    @property
    def state(self) -> DeliveryState:
        """What becomes of the delivery."""
        if self.succeeded:
            return "done"
        again = self.status is None or self.status >= 500 or self.status in _RETRYABLE_STATUSES
        return "waiting" if again and not self.final and self.attempt < MAX_ATTEMPTS else "failed"

    def due_at(self, now: Timestamp) -> Timestamp:
        """When it is tried again: later and later, not all at once, and not before the receiver wants it."""
        wish = _retry_after_seconds(self.response_headers.get("retry-after"), now)
        return add_duration(now, seconds=max(retry_seconds(self.attempt), wish))

    def row(self) -> dict[str, Any]:
        """What is kept of it."""
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
    """How long to wait after so many attempts."""
    longest = min(MAX_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.75, 1.0)  # noqa: S311 - Nobody gains by guessing it.


def pause_seconds(failures: int) -> float:
    """For how long a hook is left alone that failed so often in a row; then one delivery tells whether it is well."""
    longest = min(MAX_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(failures - FAILURES_BEFORE_PAUSE, 16))
    return longest * random.uniform(0.75, 1.0)  # noqa: S311 - Nobody gains by guessing it.


def _retry_after_seconds(header: str | None, now: Timestamp) -> float:
    """What ``Retry-RepositoryState`` asks for, in seconds or as a moment; a day at most."""
    if not header:
        return 0.0
    if header.isdecimal() and len(header) < 12:
        return min(float(header), MAX_RETRY_AFTER_SECONDS)
    try:
        wish = (parsedate_to_datetime(header) - to_datetime(now)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(wish, 0.0), MAX_RETRY_AFTER_SECONDS)
