"""Time tracking: the estimate of an issuable and the time spent on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from ingot.collaboration.planning.timelogs.service import add_timelog, delete_timelog
from ingot.collaboration.planning.timelogs.tables import Timelog
from ingot.collaboration.subjects import Subject
from ingot.core.access.actor import Actor
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp
from ingot.core.errors import Invalid, NotFound

MAX_SECONDS = 2**31 - 1
EXCEEDS_TOTAL = "Time to subtract exceeds the total time spent"


class TimeTracked(Protocol):
    """A record with time tracking."""

    @property
    def time_estimate(self) -> int:
        """The estimate in seconds; 0 for none."""

    @property
    def total_time_spent(self) -> int:
        """The seconds spent so far."""


T = TypeVar("T", bound=TimeTracked)


@dataclass(frozen=True, slots=True)
class TimeTracking(Generic[T]):
    """State changes of the time tracking of one kind of issuable."""

    lock: Callable[[Connection, T], T]
    """Locks the row until the end of the transaction and returns its current record."""
    write: Callable[[Connection, Actor, T, str, int], T]
    """Sets a column of a locked row and emits the event of the change."""
    subject: Callable[[T], Subject]
    """Returns the row as a subject, to which entries refer."""

    def set_estimate(self, db: Connection, actor: Actor, row: T, seconds: int) -> T:
        """Set the estimate; 0 removes it."""
        locked = self.lock(db, row)
        return locked if locked.time_estimate == seconds else self.write(db, actor, locked, "time_estimate", seconds)

    def add_spent_time(
        self,
        db: Connection,
        actor: Actor,
        row: T,
        seconds: int,
        summary: str | None = None,
        spent_at: Timestamp | None = None,
    ) -> T:
        """Add to the time spent, or subtract a negative amount; raise ``Invalid`` if the total would be negative."""
        locked = self.lock(db, row)
        total = locked.total_time_spent + seconds
        if total < 0:
            raise Invalid(time_spent=[EXCEEDS_TOTAL])
        if total > MAX_SECONDS:
            raise Invalid(time_spent=["is too long"])
        if seconds:
            add_timelog(db, actor.user_id, self.subject(locked), seconds, summary, spent_at)
        return self._set_spent(db, actor, locked, total)

    def reset_spent_time(self, db: Connection, actor: Actor, row: T) -> T:
        """Set the time spent to 0, by an entry that subtracts all of it."""
        locked = self.lock(db, row)
        if locked.total_time_spent:
            add_timelog(db, actor.user_id, self.subject(locked), -locked.total_time_spent, None, None)
        return self._set_spent(db, actor, locked, 0)

    def remove_timelog(self, db: Connection, actor: Actor, row: T, timelog: Timelog) -> T:
        """Delete an entry and subtract it; raise ``NotFound`` if it was deleted meanwhile."""
        locked = self.lock(db, row)
        if not delete_timelog(db, timelog.id):
            raise NotFound("Timelog")
        # Without the entry, later ones may have subtracted more than was spent.
        return self._set_spent(
            db, actor, locked, min(MAX_SECONDS, max(0, locked.total_time_spent - timelog.time_spent))
        )

    def _set_spent(self, db: Connection, actor: Actor, locked: T, total: int) -> T:
        return locked if locked.total_time_spent == total else self.write(db, actor, locked, "total_time_spent", total)
