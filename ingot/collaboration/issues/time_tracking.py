"""How long something takes, and took: kept alike for all that is planned."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.errors import Invalid

MAX_SECONDS = 2**31 - 1


class TimeTracked(Protocol):
    """What takes time."""

    @property
    def time_estimate(self) -> int:
        """How many seconds it is thought to take."""

    @property
    def total_time_spent(self) -> int:
        """How many it took so far."""


T = TypeVar("T", bound=TimeTracked)


@dataclass(frozen=True, slots=True)
class TimeTracker(Generic[T]):
    """Keeps it as the room says to which a row belongs."""

    hold: Callable[[Connection, T], T]
    """The row as it is now, which nobody else changes meanwhile."""
    write: Callable[[Connection, Actor, T, str, int], T]
    """Set a column of a row that is held, and announce it."""

    def set_estimate(self, db: Connection, actor: Actor, row: T, seconds: int) -> T:
        """Say how long it takes."""
        held = self.hold(db, row)
        return held if held.time_estimate == seconds else self.write(db, actor, held, "time_estimate", seconds)

    def add_spent_time(self, db: Connection, actor: Actor, row: T, seconds: int) -> T:
        """Add to the time that it took, or take some back; never below nothing."""
        held = self.hold(db, row)
        total = held.total_time_spent + seconds
        if total < 0:
            raise Invalid("Time to subtract exceeds the total time spent")
        if total > MAX_SECONDS:
            raise Invalid("Time spent is too long")
        return self._set_spent(db, actor, held, total)

    def reset_spent_time(self, db: Connection, actor: Actor, row: T) -> T:
        """Forget the time that it took."""
        return self._set_spent(db, actor, self.hold(db, row), 0)

    def _set_spent(self, db: Connection, actor: Actor, held: T, total: int) -> T:
        return held if held.total_time_spent == total else self.write(db, actor, held, "total_time_spent", total)
