"""Recurring jobs: each occurrence becomes one job, however many workers run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import bindparam, select, update

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
# Locked rows are skipped: the worker that holds the lock enqueues the job and must not block others if it hangs.
_FREE_SLOT = select(recurring_jobs).where(recurring_jobs.c.id == bindparam("slot")).with_for_update(skip_locked=True)
_POSTPONE = (
    update(recurring_jobs)
    .where(recurring_jobs.c.name == bindparam("recurring"))
    .values(next_run_at=bindparam("moment"))
)


RecurringWork = Callable[[Connection], object]


class RecurringJob(NamedTuple):
    """A function that runs periodically as a job, in one transaction."""

    every_seconds: int
    work: RecurringWork
    name: str = ""
    """The name that identifies it to all workers; by default the function's."""

    @property
    def key(self) -> str:
        """The name that identifies it to all workers."""
        return self.name or self.work.__name__


class Schedule:
    """The recurring jobs of a worker, which enqueues them when they are due.

    A job that is new to the database waits for one interval: a new instance contains nothing that it could remove.
    """

    def __init__(self, recurring: Sequence[RecurringJob]) -> None:
        self._recurring = {entry.key: entry for entry in recurring}
        if len(self._recurring) < len(recurring):
            raise ValueError("Two recurring jobs have the same name")

    def handlers(self) -> Mapping[str, JobHandler]:
        """Return the handlers of the recurring jobs by job kind."""
        return {PREFIX + name: _handler(entry) for name, entry in self._recurring.items()}

    def next_moment(self, db: Connection) -> Timestamp | None:
        """Return when the next recurring job is due."""
        if not self._recurring:
            return None
        slots = db.all(RecurringSlot, _SLOTS, names=list(self._recurring))
        if len(slots) < len(self._recurring):
            return db.now
        furthest = self._furthest(db.now)
        return min(db.now if self._is_due(db, slot, furthest) else slot.next_run_at for slot in slots)

    def enqueue_due(self, db: Connection) -> int:
        """Enqueue the due jobs and return their number.

        The slots advance in the same transaction, so that other workers do not enqueue them again.
        """
        slots = {slot.name: slot for slot in db.all(RecurringSlot, _SLOTS, names=list(self._recurring))}
        furthest = self._furthest(db.now)
        count = 0
        for name, entry in self._recurring.items():
            next_run_at = add_duration(db.now, seconds=entry.every_seconds)
            if name not in slots:
                db.insert(recurring_jobs, name=name, next_run_at=next_run_at)
            elif self._is_due(db, slots[name], furthest) and self._is_free(db, slots[name], furthest):
                db.update(recurring_jobs, slots[name].id, next_run_at=next_run_at)
                enqueue(db, PREFIX + name, None, unique_key=PREFIX + name)
                count += 1
        return count

    def _is_free(self, db: Connection, slot: RecurringSlot, furthest: Mapping[int, Timestamp]) -> bool:
        """Lock the slot; return False if another worker holds the lock or has already advanced the slot."""
        locked_slot = db.first(RecurringSlot, _FREE_SLOT, slot=slot.id)
        return locked_slot is not None and self._is_due(db, locked_slot, furthest)

    def _is_due(self, db: Connection, slot: RecurringSlot, furthest: Mapping[int, Timestamp]) -> bool:
        return slot.next_run_at <= db.now or slot.next_run_at > furthest[self._recurring[slot.name].every_seconds]

    def _furthest(self, now: Timestamp) -> dict[int, Timestamp]:
        """Return by interval how far ahead a slot may be; workers ask for this after each commit of a job.

        A slot further ahead was set by a clock that has been set back since. The tolerance covers slots advanced by a
        transaction that started later than this one, or on another machine.
        """
        intervals = {entry.every_seconds for entry in self._recurring.values()}
        return {seconds: add_duration(now, seconds=seconds + SKEW_SECONDS) for seconds in intervals}


def postpone_recurring(db: Connection, entry: RecurringJob, now: Timestamp) -> None:
    """Let a recurring job wait for its whole interval again."""
    db.run(_POSTPONE, recurring=entry.key, moment=add_duration(now, seconds=entry.every_seconds))


def _handler(entry: RecurringJob) -> JobHandler:
    def run(database: Database, payload: Any) -> None:  # noqa: ARG001 - Every handler takes a payload.
        database.write(entry.work)

    return run
