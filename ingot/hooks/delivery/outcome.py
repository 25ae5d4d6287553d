"""What became of one request, when it is tried again, and for how long a hook that keeps failing is left alone."""

import random
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import msgspec

from ingot.db.times import Timestamp, later, moment
from ingot.hooks.tables import DeliveryState

MOST_ATTEMPTS = 16
FIRST_RETRY_SECONDS = 10.0
LONGEST_RETRY_SECONDS = 3600.0
LONGEST_WISH_SECONDS = 86_400.0
FAILURES_IN_A_ROW = 4
"""After so many a hook is left alone for a while."""
FIRST_PAUSE_SECONDS = 60.0
LONGEST_PAUSE_SECONDS = 3600.0
_WORTH_ANOTHER_TRY = (408, 425, 429)


class Outcome(NamedTuple):
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
        again = self.status is None or self.status >= 500 or self.status in _WORTH_ANOTHER_TRY
        return "waiting" if again and not self.final and self.attempt < MOST_ATTEMPTS else "failed"

    def due_at(self, now: Timestamp) -> Timestamp:
        """When it is tried again: later and later, not all at once, and not before the receiver wants it."""
        wish = _wished_seconds(self.response_headers.get("retry-after"), now)
        return later(now, seconds=max(retry_seconds(self.attempt), wish))

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
    longest = min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** (attempt - 1))
    return longest * random.uniform(0.75, 1.0)  # noqa: S311 - Nobody gains by guessing it.


def pause_seconds(failures: int) -> float:
    """For how long a hook is left alone that failed so often in a row; then one delivery tells whether it is well."""
    longest = min(LONGEST_PAUSE_SECONDS, FIRST_PAUSE_SECONDS * 2.0 ** min(failures - FAILURES_IN_A_ROW, 16))
    return longest * random.uniform(0.75, 1.0)  # noqa: S311 - Nobody gains by guessing it.


def _wished_seconds(header: str | None, now: Timestamp) -> float:
    """What ``Retry-After`` asks for, in seconds or as a moment; a day at most."""
    if not header:
        return 0.0
    if header.isdecimal() and len(header) < 12:
        return min(float(header), LONGEST_WISH_SECONDS)
    try:
        wish = (parsedate_to_datetime(header) - moment(now)).total_seconds()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(wish, 0.0), LONGEST_WISH_SECONDS)
