"""Jobs and webhook deliveries in a thread of a server that consists of one process."""

import os
import select
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager

from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Unavailable
from ingot.core.jobs.worker import ROLE
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.jobs import job_worker
from ingot.server.webhook_deliveries import LateDispatcher, has_due_delivery

_CHECK_SECONDS = 1.0
"""Longest time until a job is noticed that became due without a commit."""
_DELIVERY_SECONDS = 30.0
_POLL_SECONDS = 0.005


class BackgroundJobs:
    """Runner of jobs, one at a time, which can be paused; the first delivery starts the dispatcher."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self._database = database
        self._log = log
        self._worker = job_worker(settings, database, log)
        self._dispatcher = LateDispatcher(settings, database, log)
        self._turn = threading.Lock()
        """Held while jobs run, and while they are paused."""
        self._thread = threading.Thread(target=self._run, name="jobs", daemon=True)
        self._stopping, self._stopper = os.pipe()

    def start(self) -> None:
        """Run jobs as they become due."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the running job and the running deliveries."""
        os.close(self._stopper)
        if self._thread.is_alive():
            self._thread.join()
        with self.paused():
            pass

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Run no job and no delivery during a block."""
        with self._turn:
            self._dispatcher.stop()
            yield

    def run_due(self) -> None:
        """Run everything that is due now, including the jobs and deliveries that follow from it; then return."""
        deadline = time.monotonic() + _DELIVERY_SECONDS
        with self._turn:
            while True:
                self._run_jobs()
                if not self._database.read(has_due_delivery):
                    self._dispatcher.stop()
                    return
                self._dispatcher.start_if_needed()
                if time.monotonic() > deadline:
                    raise Unavailable("Webhook deliveries did not end in time")
                time.sleep(_POLL_SECONDS)

    def _run(self) -> None:
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not _is_closed(self._stopping):
                try:
                    with self._turn:
                        self._run_jobs()
                        self._dispatcher.start_if_needed()
                except (Unavailable, Conflict) as error:
                    self._log("job queue unavailable", error=str(error))
                except Exception as error:  # noqa: BLE001 - A failure must not end the thread unnoticed.
                    where = "".join(traceback.format_tb(error.__traceback__))
                    self._log("job worker failed", error=type(error).__name__, where=where)
                watch.wait(_CHECK_SECONDS, [self._stopping])

    def _run_jobs(self) -> None:
        while self._worker.run_once():
            pass


def _is_closed(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])
