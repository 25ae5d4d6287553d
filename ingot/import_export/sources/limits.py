"""Rate limits of a source, and the delay before a request is repeated."""

import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

from ingot.core.outgoing.client import HttpResponse

MAX_TRIES = 5
MAX_WAIT_SECONDS = 30.0
"""Longest delay within a run; the run is interrupted for a longer one, so that it blocks no worker."""
_FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 3600.0
_RETRIED = frozenset({429, 502, 503, 504})


def back_off(attempt: int) -> float:
    """Return the delay before the retry after this attempt, the first being 0."""
    return float(_FIRST_DELAY_SECONDS * 2**attempt)


def retry_delay(response: HttpResponse, attempt: int, now: Callable[[], float] = time.time) -> float | None:
    """Return the delay after which a request must be repeated, or None if the response is final.

    GitHub uses 403 besides 429 for its rate limits, with ``Retry-After`` or no remaining requests.
    """
    named = _retry_after(response, now)
    if response.status == 403:
        if named is not None:
            return named
        return _until_reset(response, now) if remaining_requests(response) == 0 else None
    if response.status not in _RETRIED:
        return None
    if named is None and response.status == 429:
        named = _until_reset(response, now)
    return back_off(attempt) if named is None else named


def quota_delay(response: HttpResponse, reserve: int, now: Callable[[], float] = time.time) -> float:
    """Return the delay before the next request: until the quota is renewed if at most ``reserve`` requests remain."""
    remaining = remaining_requests(response)
    if remaining is None or remaining > reserve:
        return 0.0
    return _until_reset(response, now) or 0.0


def remaining_requests(response: HttpResponse) -> int | None:
    """Return the number of requests that the source still accepts, if it says so."""
    return _number(response, "ratelimit-remaining", "x-ratelimit-remaining")


def _until_reset(response: HttpResponse, now: Callable[[], float]) -> float | None:
    """Return the seconds until the quota is renewed; the header is a time at GitLab and GitHub, seconds elsewhere."""
    reset = _number(response, "ratelimit-reset", "x-ratelimit-reset")
    if reset is None:
        return None
    return _bounded(reset - now() if reset > 1_000_000_000 else reset)


def _retry_after(response: HttpResponse, now: Callable[[], float]) -> float | None:
    text = response.header("retry-after")
    if text is None:
        return None
    if text.strip().isdecimal():
        return _bounded(int(text.strip()[:9]))
    try:
        return _bounded(parsedate_to_datetime(text).timestamp() - now())
    except (TypeError, ValueError):
        return None


def _number(response: HttpResponse, *names: str) -> int | None:
    for name in names:
        text = (response.header(name) or "").strip()
        if text.isdecimal() and len(text) < 15:
            return int(text)
    return None


def _bounded(seconds: float) -> float:
    return min(max(seconds, 0.0), _LONGEST_DELAY_SECONDS)
