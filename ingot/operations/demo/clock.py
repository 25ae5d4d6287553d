"""Clock of the demo, which is set to the times in the past at which its work happened."""

from ingot.core.db.clocks import wall_clock
from ingot.core.db.times import Timestamp, add_duration

DAYS = 365
"""Days before today on which the demo begins."""


class DemoClock:
    """Clock that shows the time of the last ``set``, each second of which passes with a call of ``tick``."""

    def __init__(self) -> None:
        self._today = wall_clock()
        self._time = add_duration(self._today, days=-DAYS)

    def __call__(self) -> Timestamp:
        """Return the time of the demo."""
        return self._time

    def set(self, days_ago: int, hour: int = 9) -> None:
        """Set the clock to an hour of a day in the past, or to now if that has not come yet; it never goes back."""
        day = Timestamp(f"{add_duration(self._today, days=-days_ago)[:10]}T{hour:02}:00:00.000Z")
        self._time = max(self._time, min(day, self._today))

    def tick(self) -> None:
        """Let a minute pass, unless it would be in the future."""
        self._time = min(add_duration(self._time, minutes=1), max(self._time, self._today))
