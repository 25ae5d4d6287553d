"""Clock of a server for tests: it can be frozen, set and advanced."""

from datetime import datetime, timedelta

from ingot.core.db.clocks import wall_clock
from ingot.core.db.times import Timestamp, timestamp, to_datetime
from ingot.core.errors import Invalid

DETERMINISTIC_START = Timestamp("2020-01-01T00:00:00.000Z")
# Dates that the instance computes from the time, such as those of expiry, must stay within the calendar.
_FIRST_YEAR, _LAST_YEAR = 1970, 9000


class ControlledClock:
    """Clock with an offset to the time of the machine, or with a fixed time."""

    def __init__(self, frozen_at: Timestamp | None = None) -> None:
        self._start = frozen_at
        self._offset = timedelta()
        self._frozen = frozen_at

    def __call__(self) -> Timestamp:
        """Return the current time of the instance."""
        if self._frozen is not None:
            return self._frozen
        return timestamp(to_datetime(wall_clock()) + self._offset) if self._offset else wall_clock()

    @property
    def is_frozen(self) -> bool:
        """Whether the time only changes on request."""
        return self._frozen is not None

    def set(self, time: datetime) -> None:
        """Set the time; a clock that is not frozen runs on from there. Raise ``Invalid`` for a time far away."""
        if not _FIRST_YEAR <= time.year <= _LAST_YEAR:
            raise Invalid(f"The year must be between {_FIRST_YEAR} and {_LAST_YEAR}")
        if self._frozen is not None:
            self._frozen = timestamp(time)
        else:
            self._offset = time - to_datetime(wall_clock())

    def freeze(self) -> None:
        """Stop the clock at its current time."""
        self._frozen = self()

    def resume(self) -> None:
        """Let a frozen clock run on from its time."""
        if self._frozen is not None:
            self._offset = to_datetime(self._frozen) - to_datetime(wall_clock())
            self._frozen = None

    def advance(self, seconds: float) -> None:
        """Move the time forward, or back with a negative number."""
        try:
            self.set(to_datetime(self()) + timedelta(seconds=seconds))
        except OverflowError as error:
            raise Invalid("The calendar has no such time") from error

    def reset(self) -> None:
        """Return to the state of the start."""
        self._offset, self._frozen = timedelta(), self._start
