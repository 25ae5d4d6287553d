"""Clocks: that of this machine, and that of a PostgreSQL server, which all nodes of an instance share."""

import time
from datetime import UTC, datetime

from ingot.core.db.times import Timestamp

_RENEW_SECONDS = 60.0
"""Time after which a sample replaces an earlier one in any case, because clocks drift."""
_STEP_SECONDS = 1.0
"""Difference that no network delay explains: the clock of the server was set, or another server took over."""
_formatted_second: tuple[int, str] = (0, "")


def wall_clock() -> Timestamp:
    """Return the current time of this machine."""
    return _format(time.time_ns())


def _format(nanoseconds: int) -> Timestamp:
    """Format a time; called for every request, so the text is formatted once per second."""
    global _formatted_second  # noqa: PLW0603 - One pair, replaced as a whole: threads may race.
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    formatted, text = _formatted_second
    if formatted != seconds:
        text = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}"
        _formatted_second = seconds, text
    return Timestamp(f"{text}.{rest // 1_000_000:03d}Z")


def elapsed() -> float:
    """Return the seconds since the machine started; unlike the wall clock, nothing sets this clock."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class ServerClock:
    """Clock of a server, continued between samples by the time that has elapsed here.

    A sample is late by the time that the response took. The sample that was on its way for the shortest time is used,
    so that the clock does not go back when a later response is slower.
    """

    def __init__(self) -> None:
        self._ahead: float | None = None
        self._sampled_at = 0.0
        self._asked_at = 0.0

    def sample(self, server_seconds: float) -> None:
        """Record the time that the server has just reported, in seconds since 1970."""
        now = self._asked_at = elapsed()
        ahead = server_seconds - now
        if (
            self._ahead is None
            or ahead > self._ahead
            or self._ahead - ahead > _STEP_SECONDS
            or now - self._sampled_at > _RENEW_SECONDS
        ):
            self._ahead, self._sampled_at = ahead, now

    @property
    def is_due(self) -> bool:
        """Return whether the server should be asked again."""
        return self._ahead is not None and elapsed() - self._asked_at > _RENEW_SECONDS

    def now(self) -> Timestamp:
        """Return the time of the server; before the first sample, that of this machine."""
        return wall_clock() if self._ahead is None else _format(int((elapsed() + self._ahead) * 1e9))

    def offset(self) -> float:
        """Return the seconds by which the clock of this machine is ahead of the server's."""
        return 0.0 if self._ahead is None else time.time() - elapsed() - self._ahead
