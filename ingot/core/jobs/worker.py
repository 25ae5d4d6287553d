"""Empties the queue, and does what recurs; any number of workers may run against one database."""

import select
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from time import monotonic
from typing import Any

import msgspec

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.engines import Watch
from ingot.core.db.times import to_datetime
from ingot.core.jobs.clock_skew import ClockJumpDetector, has_clock_skew, repair_clock_skew
from ingot.core.jobs.handlers import JobHandler, RetryLater, describe_error
from ingot.core.jobs.leases import (
    JobCapacity,
    claim_jobs,
    fail_job,
    finish_job,
    next_due_at,
    postpone_job,
    release_jobs,
    renew_leases,
)
from ingot.core.jobs.schedule import RecurringJob, Schedule
from ingot.core.jobs.tables import Job
from ingot.core.jobs.thread_pool import WorkerThreads
from ingot.errors import Conflict, Unavailable

ROLE = "jobs"
THREADS = 4
LEASE_SECONDS = 60.0
GRACE_SECONDS = 8.0
"""Shorter than the supervisor's patience, so that unfinished jobs are given back before the end."""
MAX_SLEEP_SECONDS = 30.0
LOCKED_SECONDS = 0.2
DATABASE_ERROR_SECONDS = 2.0
CLOCK_REPAIR_SECONDS = 60.0
_RECORD_RETRY_PAUSES = (0.2, 1.0, 5.0, 15.0)


class JobWorker:
    """Takes jobs and runs them, one by one for a caller or side by side until it is told to stop."""

    def __init__(
        self,
        database: Database,
        handlers: Mapping[str, JobHandler],
        recurring: Sequence[RecurringJob],
        log: Callable[..., None],
        *,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._database = database
        self._schedule = Schedule(recurring)
        self._handlers = {**handlers, **self._schedule.handlers()}
        self._log = log
        self._lease_seconds = lease_seconds
        self._crew = WorkerThreads(THREADS, self._perform)
        self._clock = ClockJumpDetector(database.clock)
        self._trust_leases_at = 0.0
        self._renew_at = 0.0
        self._repair_clock_at = 0.0
        self._database_failing = False

    def run_once(self) -> bool:
        """Do one piece of work here and now; says whether there was any."""
        self._tend()
        wanted = JobCapacity(1, takeovers=monotonic() >= self._trust_leases_at)
        if self._seconds_left(wanted) > 0:
            return False
        taken, made = self._database.write(partial(self._take, wanted))
        for job in taken:
            self._perform(job)
        return bool(taken or made)

    def run(self, stops: Sequence[int], grace_seconds: float = GRACE_SECONDS) -> bool:
        """Work until one of ``stops`` can be read; says whether all that ran came to its end in the time of grace."""
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not select.select(stops, [], [], 0)[0]:
                self._step(watch, [*stops, self._crew.wakeup_fd])
            return self._drain(grace_seconds)

    def _step(self, watch: Watch, others: Sequence[int]) -> None:
        try:
            self._crew.collect()
            self._tend()
            pause = self._start_due()
            self._database_failing = False
        except (Unavailable, Conflict) as error:
            if not self._database_failing:
                self._log("jobs wait", error=str(error))
            self._database_failing, pause = True, DATABASE_ERROR_SECONDS
        if self._crew.running:
            pause = min(pause, max(0.0, self._renew_at - monotonic()))
        watch.wait(pause, others)

    def _start_due(self) -> float:
        """Start what is due as long as there are free threads; gives the time until there may be more."""
        while self._crew.free:
            takeovers = monotonic() >= self._trust_leases_at
            wanted = JobCapacity(self._crew.free, self._crew.saturated_kinds(), takeovers)
            seconds = self._seconds_left(wanted)
            if seconds > 0:
                return min(seconds, MAX_SLEEP_SECONDS)
            # Of one kind at most as many as leave a thread to the others; the next round looks for those.
            taken, made = self._database.write(partial(self._take, wanted._replace(limit=1)))
            if not taken and not made:
                # Whoever holds the rows' locks is about to commit, and that will wake us.
                return LOCKED_SECONDS
            for job in taken:
                self._crew.start(job)
        return MAX_SLEEP_SECONDS

    def _seconds_left(self, params: JobCapacity) -> float:
        """How long there is nothing to do; two short reads, so that looking takes no lock."""

        def look(db: Connection) -> float:
            moments = [found for found in (next_due_at(db, params), self._schedule.next_moment(db)) if found]
            if not moments:
                return MAX_SLEEP_SECONDS
            return (to_datetime(min(moments)) - to_datetime(db.now)).total_seconds()

        return self._database.read(look)

    def _take(self, params: JobCapacity, db: Connection) -> tuple[list[Job], int]:
        made = self._schedule.enqueue_due(db)
        return claim_jobs(db, params, self._lease_seconds), made

    def _tend(self) -> None:
        """Keep what is held, and mend what a clock that was set has done to the queue."""
        now = monotonic()
        if self._clock.jumped():
            # Leases look over although their holders live; they get the time to renew them.
            self._trust_leases_at = now + self._lease_seconds
            self._repair_clock_at = now
            self._renew_at = now
        if now >= self._renew_at:
            self._renew_at = now + self._lease_seconds / 3
            held = self._crew.running
            if held:
                self._database.write(lambda db: renew_leases(db, held, self._lease_seconds))
        if now >= self._repair_clock_at:
            self._repair_clock_at = now + CLOCK_REPAIR_SECONDS
            if self._database.read(lambda db: has_clock_skew(db, self._lease_seconds)):
                count = self._database.write(lambda db: repair_clock_skew(db, self._lease_seconds))
                self._log("jobs straightened", count=count)

    def _drain(self, grace_seconds: float) -> bool:
        deadline = monotonic() + grace_seconds
        self._crew.collect()
        while self._crew.running and monotonic() < deadline:
            wait = min(deadline, self._renew_at) - monotonic()
            select.select([self._crew.wakeup_fd], [], [], max(0.0, wait))
            self._crew.collect()
            try:
                self._tend()
            except (Unavailable, Conflict) as error:  # The leases are longer than the time of grace.
                self._log("jobs wait", error=str(error))
        held = self._crew.running
        if held:
            self._log("jobs given back", jobs=[job.id for job in held])
            try:
                self._database.write(lambda db: release_jobs(db, held))
            except (Unavailable, Conflict) as error:  # Others get them when the leases are over.
                self._log("jobs not released", error=str(error))
        return not held

    def _perform(self, job: Job) -> None:
        """Run one job and write down what became of it; nothing that its handler raises gets out."""
        payload: Any = None
        outcome: Callable[[Connection], bool] = partial(finish_job, job=job)
        try:
            payload = msgspec.json.decode(job.payload)
            handler = self._handlers.get(job.kind)
            if handler is None:
                raise LookupError("No handler for jobs of this kind")
            handler(self._database, payload)
        except RetryLater as wish:
            outcome = partial(postpone_job, job=job, seconds=wish.seconds, reason=wish.reason)
        except Exception as error:  # noqa: BLE001 - Whatever a handler raises must not end the worker.
            reason = describe_error(error, payload, silent=self._database.engine.errors)
            outcome = partial(fail_job, job=job, error=reason)
            # The message is left out: it may quote what the job was about.
            where = "".join(traceback.format_tb(error.__traceback__))
            name = type(error).__name__
            self._log("job failed", kind=job.kind, job=job.id, attempts=job.attempts, error=name, where=where)
        if self._record_outcome(outcome) is False:
            self._log("job was taken over", kind=job.kind, job=job.id)

    def _record_outcome(self, outcome: Callable[[Connection], Any]) -> Any:
        """Write an outcome down, with patience: work that is done should not be done again for a moment's trouble."""
        for pause in (*_RECORD_RETRY_PAUSES, None):
            try:
                return self._database.write(outcome)
            except (Unavailable, Conflict) as error:
                if pause is None:
                    self._log("job not settled", error=str(error))
                    return None
                time.sleep(pause)
        raise AssertionError("unreachable")
