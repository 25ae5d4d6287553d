"""Clocks get set: nothing may wait for a moment that only the old clock would have reached."""

from collections.abc import Callable
from time import monotonic

from sqlalchemy import bindparam, or_, select

from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration, to_datetime
from ingot.core.jobs.tables import Job, jobs

JUMP_SECONDS = 5.0
SKEW_SECONDS = 60.0
"""By how much the clocks of several machines may differ without anything being taken for a jump."""

_AHEAD = select(jobs).where(
    or_(
        (jobs.c.state == "waiting") & (jobs.c.placed_at > bindparam("soon")),
        (jobs.c.state == "running") & (jobs.c.leased_until > bindparam("lapse")),
    )
)
_ANY_AHEAD = _AHEAD.with_only_columns(jobs.c.id).limit(1)
_AHEAD_LOCKED = _AHEAD.with_for_update(skip_locked=True)


class ClockJumpDetector:
    """Notices that the wall clock was set, or that the machine slept."""

    def __init__(self, clock: Callable[[], Timestamp]) -> None:
        self._clock = clock
        self._distance = self._measure()

    def jumped(self) -> bool:
        """Whether the clock was set since the last call; slow corrections are none."""
        before, self._distance = self._distance, self._measure()
        return abs(self._distance - before) > JUMP_SECONDS

    def _measure(self) -> float:
        return to_datetime(self._clock()).timestamp() - monotonic()


def has_clock_skew(db: Connection, lease_seconds: float) -> bool:
    """Whether a row was written by a clock that is ahead of ours."""
    return db.value(_ANY_AHEAD, **_limits(db, lease_seconds)) is not None


def repair_clock_skew(db: Connection, lease_seconds: float) -> int:
    """Let rows that a clock ahead of ours wrote wait no longer than was meant; says how many there were."""
    found = db.all(Job, _AHEAD_LOCKED, **_limits(db, lease_seconds))
    for job in found:
        if job.state == "running":
            db.update(jobs, job.id, leased_until=add_duration(db.now, seconds=lease_seconds))
            continue
        meant = (to_datetime(job.run_at) - to_datetime(job.placed_at)).total_seconds()
        db.update(jobs, job.id, run_at=add_duration(db.now, seconds=meant), placed_at=db.now)
    return len(found)


def _limits(db: Connection, lease_seconds: float) -> dict[str, Timestamp]:
    return {
        "soon": add_duration(db.now, seconds=SKEW_SECONDS),
        "lapse": add_duration(db.now, seconds=lease_seconds + SKEW_SECONDS),
    }
