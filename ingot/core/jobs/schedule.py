"""Work that comes back by itself: each occurrence becomes one job, however many workers there are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.expressions import in_list
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.jobs.clock_skew import SKEW_SECONDS
from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.queue import enqueue
from ingot.core.jobs.tables import RecurringSlot, recurring_jobs

PREFIX = "recurring:"
_SLOTS = select(recurring_jobs).where(in_list(recurring_jobs.c.name, "names")).order_by(recurring_jobs.c.id)
# Skipped where it is locked: whoever holds it makes the job, and may hang without holding up others.
_FREE_SLOT = select(recurring_jobs).where(recurring_jobs.c.id == bindparam("slot")).with_for_update(skip_locked=True)


class RecurringJob(NamedTuple):
    """Work that comes back by itself; it runs as a job, in one transaction."""

    every_seconds: int
    work: Callable[[Connection], Any]
    name: str = ""
    """By what it is known to all workers; by itself the function's name."""

    @property
    def key(self) -> str:
        """The name under which all workers know it."""
        return self.name or f"{self.work.__module__}.{self.work.__qualname__}"


class Schedule:
    """Turns time into jobs."""

    def __init__(self, recurring: Sequence[RecurringJob]) -> None:
        self._recurring = {entry.key: entry for entry in recurring}
        if len(self._recurring) < len(recurring):
            raise ValueError("Two pieces of recurring work have the same name")

    def handlers(self) -> Mapping[str, JobHandler]:
        """What runs the jobs that this makes, by kind."""
        return {PREFIX + name: _handler(entry) for name, entry in self._recurring.items()}

    def next_moment(self, db: Connection) -> Timestamp | None:
        """When the next piece of work is due."""
        if not self._recurring:
            return None
        slots = db.all(RecurringSlot, _SLOTS, names=list(self._recurring))
        if len(slots) < len(self._recurring):
            return db.now
        return min(db.now if self._is_due(db, slot) else slot.next_run_at for slot in slots)

    def enqueue_due(self, db: Connection) -> int:
        """Make jobs of what is due; the slot moves on in the same transaction, so others find nothing to do."""
        slots = {slot.name: slot for slot in db.all(RecurringSlot, _SLOTS, names=list(self._recurring))}
        made = 0
        for name, entry in self._recurring.items():
            next_run_at = add_duration(db.now, seconds=entry.every_seconds)
            if name not in slots:
                db.insert(recurring_jobs, name=name, next_run_at=next_run_at)
            elif self._is_due(db, slots[name]) and self._is_free(db, slots[name]):
                db.update(recurring_jobs, slots[name].id, next_run_at=next_run_at)
            else:
                continue
            enqueue(db, PREFIX + name, None, unique_key=PREFIX + name)
            made += 1
        return made

    def _is_free(self, db: Connection, slot: RecurringSlot) -> bool:
        """Take the slot's lock; not where another worker has it, or had it and moved the slot on."""
        now = db.first(RecurringSlot, _FREE_SLOT, slot=slot.id)
        return now is not None and self._is_due(db, now)

    def _is_due(self, db: Connection, slot: RecurringSlot) -> bool:
        # A slot further away than the work's own rhythm was set by a clock that has been put back since. A little
        # further is no sign of that: who moved it on may have begun after this transaction did, or on another machine.
        furthest = add_duration(db.now, seconds=self._recurring[slot.name].every_seconds + SKEW_SECONDS)
        return slot.next_run_at <= db.now or slot.next_run_at > furthest


def _handler(entry: RecurringJob) -> JobHandler:
    def run(database: Database, payload: Any) -> None:  # noqa: ARG001 - Every handler gets its payload.
        database.write(entry.work)

    return run
