"""Job worker: claims and runs jobs and enqueues recurring ones; several workers can share a database."""

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
from ingot.core.errors import Conflict, Unavailable
from ingot.core.jobs.clock_skew import ClockJumpDetector, has_clock_skew, repair_clock_skew
from ingot.core.jobs.handlers import JobHandler, RetryLater, describe_error
from ingot.core.jobs.job_processes import JobProcesses, JobProcessFailure
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

ROLE = "jobs"
THREADS = 4
LEASE_SECONDS = 60.0
GRACE_SECONDS = 8.0
"""Shorter than the supervisor's timeout, so that unfinished jobs are released before the process is killed."""
MAX_SLEEP_SECONDS = 30.0
LOCKED_SECONDS = 0.2
DATABASE_ERROR_SECONDS = 2.0
CLOCK_REPAIR_SECONDS = 60.0
_RECORD_RETRY_PAUSES = (0.2, 1.0, 5.0, 15.0)


class JobWorker:
    """Claims jobs and runs them, one at a time for a caller or concurrently until it is stopped."""

    def __init__(
        self,
        database: Database,
        handlers: Mapping[str, JobHandler],
        recurring: Sequence[RecurringJob],
        log: Callable[..., None],
        *,
        lease_seconds: float = LEASE_SECONDS,
        processes: JobProcesses | None = None,
        process_kinds: Sequence[str] = (),
    ) -> None:
        self._database = database
        self._schedule = Schedule(recurring)
        recurring_handlers = self._schedule.handlers()
        self._handlers = {**handlers, **recurring_handlers}
        if processes is not None:
            self._handlers |= processes.handlers(process_kinds)
        elsewhere = recurring_handlers.keys() & process_kinds
        self._one_at_a_time = (recurring_handlers.keys() - elsewhere, elsewhere)
        """Recurring jobs that run here and in other processes; with one of each at a time, few connections are open."""
        self._unknown_kinds: set[str] = set()
        """Kinds that only a newer version on another node can run; they are left to it."""
        self._log = log
        self._lease_seconds = lease_seconds
        self._threads = WorkerThreads(THREADS, self._perform)
        self._clock = ClockJumpDetector(database.clock)
        self._trust_leases_at = 0.0
        self._renew_at = 0.0
        self._repair_clock_at = 0.0
        self._database_failing = False

    def run_once(self) -> bool:
        """Run one due job in this thread; return whether there was any work."""
        self._maintain()
        capacity = self._capacity(1)
        if self._seconds_left(capacity) > 0:
            return False
        claimed, enqueued = self._database.write(partial(self._claim, capacity))
        for job in claimed:
            self._perform(job)
        return bool(claimed or enqueued)

    def run(self, stops: Sequence[int], grace_seconds: float = GRACE_SECONDS) -> bool:
        """Work until one of the file descriptors ``stops`` is readable.

        Returns whether all running jobs ended within the grace period.
        """
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not select.select(stops, [], [], 0)[0]:
                self._step(watch, [*stops, self._threads.wakeup_fd])
            return self._drain(grace_seconds)

    def _step(self, watch: Watch, wakeup_fds: Sequence[int]) -> None:
        try:
            self._threads.collect()
            self._maintain()
            pause = self._start_due()
            self._database_failing = False
        except (Unavailable, Conflict) as error:
            if not self._database_failing:
                self._log("job queue unavailable", error=str(error))
            self._database_failing, pause = True, DATABASE_ERROR_SECONDS
        if self._threads.running:
            pause = min(pause, max(0.0, self._renew_at - monotonic()))
        watch.wait(pause, wakeup_fds)

    def _start_due(self) -> float:
        """Start due jobs while threads are free; return the seconds until there may be more."""
        while self._threads.free:
            capacity = self._capacity(self._threads.free)
            seconds = self._seconds_left(capacity)
            if seconds > 0:
                return min(seconds, MAX_SLEEP_SECONDS)
            # Claim one job at a time, because each may saturate its kind for the next round.
            claimed, enqueued = self._database.write(partial(self._claim, capacity._replace(limit=1)))
            if not claimed and not enqueued:
                # Another transaction holds the row locks; its commit will wake this worker.
                return LOCKED_SECONDS
            for job in claimed:
                self._threads.start(job)
        return MAX_SLEEP_SECONDS

    def _capacity(self, limit: int) -> JobCapacity:
        running = {job.kind for job in self._threads.running}
        waiting = [kind for group in self._one_at_a_time if group & running for kind in group]
        refused = [*self._threads.saturated_kinds(), *self._unknown_kinds, *waiting]
        return JobCapacity(limit, refused, takeovers=monotonic() >= self._trust_leases_at)

    def _seconds_left(self, capacity: JobCapacity) -> float:
        """Return the seconds until work is due; two short reads, so that polling takes no lock."""

        def query(db: Connection) -> float:
            moments = [moment for moment in (next_due_at(db, capacity), self._schedule.next_moment(db)) if moment]
            if not moments:
                return MAX_SLEEP_SECONDS
            return (to_datetime(min(moments)) - to_datetime(db.now)).total_seconds()

        return self._database.read(query)

    def _claim(self, capacity: JobCapacity, db: Connection) -> tuple[list[Job], int]:
        enqueued = self._schedule.enqueue_due(db)
        return claim_jobs(db, capacity, self._lease_seconds), enqueued

    def _maintain(self) -> None:
        """Renew leases, and repair the queue after the clock was set."""
        now = monotonic()
        if self._clock.jumped():
            # Leases seem to have expired although their holders are alive; give these time to renew them.
            self._trust_leases_at = now + self._lease_seconds
            self._repair_clock_at = now
            self._renew_at = now
        if now >= self._renew_at:
            self._renew_at = now + self._lease_seconds / 3
            running = self._threads.running
            if running:
                self._database.write(lambda db: renew_leases(db, running, self._lease_seconds))
        if now >= self._repair_clock_at:
            self._repair_clock_at = now + CLOCK_REPAIR_SECONDS
            if self._database.read(lambda db: has_clock_skew(db, self._lease_seconds)):
                count = self._database.write(lambda db: repair_clock_skew(db, self._lease_seconds))
                self._log("job clock skew repaired", count=count)

    def _drain(self, grace_seconds: float) -> bool:
        deadline = monotonic() + grace_seconds
        self._threads.collect()
        while self._threads.running and monotonic() < deadline:
            wait = min(deadline, self._renew_at) - monotonic()
            select.select([self._threads.wakeup_fd], [], [], max(0.0, wait))
            self._threads.collect()
            try:
                self._maintain()
            except (Unavailable, Conflict) as error:  # The leases outlast the grace period.
                self._log("job queue unavailable", error=str(error))
        unfinished = self._threads.running
        if unfinished:
            self._log("jobs released", jobs=[job.id for job in unfinished])
            try:
                self._database.write(lambda db: release_jobs(db, unfinished))
            except (Unavailable, Conflict) as error:  # Others get them when the leases are over.
                self._log("jobs not released", error=str(error))
        return not unfinished

    def _perform(self, job: Job) -> None:
        """Run a job and record its outcome; exceptions of the handler are caught and logged."""
        if job.kind not in self._handlers:
            self._leave(job)
            return
        payload: Any = None
        outcome: Callable[[Connection], bool] = partial(finish_job, job=job)
        try:
            payload = msgspec.json.decode(job.payload)
            self._handlers[job.kind](self._database, payload)
        except RetryLater as retry:
            outcome = partial(postpone_job, job=job, seconds=retry.seconds, reason=retry.reason)
        except JobProcessFailure as failure:
            outcome = partial(fail_job, job=job, error=failure.description)
        except Exception as error:  # noqa: BLE001 - An exception of a handler must not stop the worker.
            reason = describe_error(error, payload, silent=self._database.engine.errors)
            outcome = partial(fail_job, job=job, error=reason)
            # The message is omitted because it may quote the payload.
            stack = "".join(traceback.format_tb(error.__traceback__))
            name = type(error).__name__
            self._log("job failed", kind=job.kind, job=job.id, attempts=job.attempts, error=name, where=stack)
        if self._record_outcome(outcome) is False:
            self._log("job was taken over", kind=job.kind, job=job.id)

    def _leave(self, job: Job) -> None:
        """Return a job of an unknown kind to the queue, for another node that knows it."""
        self._log("job of an unknown kind", kind=job.kind, job=job.id)
        self._unknown_kinds.add(job.kind)
        self._record_outcome(partial(postpone_job, job=job, seconds=0.0))

    def _record_outcome(self, outcome: Callable[[Connection], Any]) -> Any:
        """Write an outcome, with retries, because finished work should not run again after a brief database error."""
        for pause in (*_RECORD_RETRY_PAUSES, None):
            try:
                return self._database.write(outcome)
            except (Unavailable, Conflict) as error:
                if pause is None:
                    self._log("job outcome not recorded", error=str(error))
                    return None
                time.sleep(pause)
        raise AssertionError("unreachable")
