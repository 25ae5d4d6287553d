"""Clock of the demo, which is set to the times in the past at which its work happened."""

from collections.abc import Callable

from ingot.core.db.clocks import wall_clock
from ingot.core.db.times import Timestamp, add_duration

DAYS = 365
"""Days before its last day on which the demo begins."""
_END_OF_WORK = 18
"""Hour at which a day of the demo has ended; a day of work that has not ended yet is left out."""
Step = tuple[int, int, Callable[[], object]]
"""Age in days and hour at which something happens, and a function that does it."""


class DemoClock:
    """Clock that shows the time of the last ``set``; it advances only by ``tick``."""

    def __init__(self, now: Timestamp | None = None) -> None:
        self._last_day = add_duration(now or wall_clock(), hours=-_END_OF_WORK)
        self._time = add_duration(self._last_day, days=-DAYS)

    def __call__(self) -> Timestamp:
        """Return the time of the demo."""
        return self._time

    def set(self, days_ago: int, hour: int = 9) -> None:
        """Set the clock to an hour of a day in the past; it never goes back."""
        day = add_duration(self._last_day, days=-days_ago)[:10]
        self._time = max(self._time, Timestamp(f"{day}T{hour:02}:00:00.000Z"))

    def tick(self, seconds: int = 60) -> None:
        """Let some time pass."""
        self._time = add_duration(self._time, seconds=seconds)
