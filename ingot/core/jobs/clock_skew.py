"""Detection and repair of changes of the system clock, after which jobs could wait for a time far in the future."""

from collections.abc import Callable
from time import monotonic

from sqlalchemy import bindparam, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration, to_datetime
from ingot.core.jobs.tables import Job, jobs

JUMP_SECONDS = 5.0
SKEW_SECONDS = 60.0
"""Tolerated difference between the clocks of several machines."""

_AHEAD = select(jobs).where(
    or_(
        (jobs.c.state == "waiting") & (jobs.c.placed_at > bindparam("soon")),
        (jobs.c.state == "running") & (jobs.c.leased_until > bindparam("lapse")),
    )
)
_ANY_AHEAD = _AHEAD.with_only_columns(jobs.c.id).limit(1)
_AHEAD_LOCKED = _AHEAD.with_for_update(skip_locked=True)


class ClockJumpDetector:
    """Detects that the system clock was set or that the machine was suspended."""

    def __init__(self, clock: Callable[[], Timestamp]) -> None:
        self._clock = clock
        self._distance = self._measure()

    def jumped(self) -> bool:
        """Return whether the clock was set since the last call; gradual corrections do not count."""
        before, self._distance = self._distance, self._measure()
        return abs(self._distance - before) > JUMP_SECONDS

    def _measure(self) -> float:
        return to_datetime(self._clock()).timestamp() - monotonic()


def has_clock_skew(db: Connection, lease_seconds: float) -> bool:
    """Return whether a job was written by a clock that is ahead of this one."""
    return db.value(_ANY_AHEAD, **_limits(db, lease_seconds)) is not None


def repair_clock_skew(db: Connection, lease_seconds: float) -> int:
    """Correct the times of jobs written by a clock that is ahead; return their number."""
    skewed = db.all(Job, _AHEAD_LOCKED, **_limits(db, lease_seconds))
    for job in skewed:
        if job.state == "running":
            db.update(jobs, job.id, leased_until=add_duration(db.now, seconds=lease_seconds))
            continue
        delay = (to_datetime(job.run_at) - to_datetime(job.placed_at)).total_seconds()
        db.update(jobs, job.id, run_at=add_duration(db.now, seconds=delay), placed_at=db.now)
    return len(skewed)


def _limits(db: Connection, lease_seconds: float) -> dict[str, Timestamp]:
    return {
        "soon": add_duration(db.now, seconds=SKEW_SECONDS),
        "lapse": add_duration(db.now, seconds=lease_seconds + SKEW_SECONDS),
    }
