"""Empties the queue, and does what recurs."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.times import Timestamp, later
from ingot.jobs.queue import claim, fail, finish
from ingot.jobs.tables import Job

Handler = Callable[[Database, Any], None]
"""Runs a job; it may run units of work of its own, and must be safe to run twice."""


class Recurring(NamedTuple):
    """Work that comes back by itself."""

    every_seconds: int
    work: Callable[[Connection], Any]


class Worker:
    """One loop of a job process; any number may run against one database."""

    def __init__(
        self,
        database: Database,
        handlers: Mapping[str, Handler],
        recurring: Sequence[Recurring],
        log: Callable[..., None],
    ) -> None:
        self._database = database
        self._handlers = handlers
        self._recurring = recurring
        self._log = log
        self._next: dict[int, Timestamp] = {}

    def run_once(self) -> bool:
        """Do one piece of work; says whether there was any."""
        job = self._database.write(claim)
        if job is not None:
            self._run(job)
            return True
        return self._run_recurring()

    def _run(self, job: Job) -> None:
        handler = self._handlers.get(job.kind)
        try:
            if handler is None:
                raise LookupError(f"No handler for jobs of kind {job.kind}")
            handler(self._database, msgspec.json.decode(job.payload))
        except Exception as error:  # noqa: BLE001 - Whatever a handler raises must not end the worker.
            reason = f"{type(error).__name__}: {error}"
            self._database.write(lambda db: fail(db, job, reason))
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("job failed", kind=job.kind, job=job.id, error=type(error).__name__, where=where)
            return
        self._database.write(lambda db: finish(db, job))

    def _run_recurring(self) -> bool:
        now = self._database.clock()
        for place, recurring in enumerate(self._recurring):
            due = self._next.get(place)
            # A clock that was set back must not put the work off for long.
            if due is None or due <= now or due > later(now, seconds=recurring.every_seconds):
                self._next[place] = later(now, seconds=recurring.every_seconds)
                self._database.write(recurring.work)
                return True
        return False
