"""Jobs and webhook deliveries in a thread of a server that consists of one process."""

import os
import select
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, Unavailable
from ingot.core.jobs.worker import ROLE
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.jobs import hook_dispatcher, job_worker
from ingot.server.webhook_deliveries import has_waiting_delivery

if TYPE_CHECKING:
    from ingot.webhooks.delivery.dispatcher import HookDispatcher

_CHECK_SECONDS = 1.0
"""Longest time until a job is noticed that became due without a commit."""
_DELIVERY_SECONDS = 30.0
_POLL_SECONDS = 0.005


class BackgroundJobs:
    """Runner of jobs, one at a time, which can be paused; the first due delivery starts the dispatcher."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self._settings = settings
        self._database = database
        self._log = log
        self._worker = job_worker(settings, database, log)
        self._dispatcher: HookDispatcher | None = None
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
            self._stop_dispatcher()
            yield

    def run_due(self) -> None:
        """Run everything that is due now, including the jobs and deliveries that follow from it; then return."""
        deadline = time.monotonic() + _DELIVERY_SECONDS
        with self._turn:
            while True:
                self._run_jobs()
                if not self._database.read(_needs_dispatcher):
                    self._stop_dispatcher()
                    return
                self._start_dispatcher()
                if time.monotonic() > deadline:
                    raise Unavailable("Webhook deliveries did not end in time")
                time.sleep(_POLL_SECONDS)

    def _run(self) -> None:
        with closing(self._database.engine.watch(ROLE)) as watch:
            while not _is_closed(self._stopping):
                try:
                    with self._turn:
                        self._run_jobs()
                        if self._dispatcher is None and self._database.read(_needs_dispatcher):
                            self._start_dispatcher()
                except (Unavailable, Conflict) as error:
                    self._log("job queue unavailable", error=str(error))
                except Exception as error:  # noqa: BLE001 - A failure must not end the thread unnoticed.
                    where = "".join(traceback.format_tb(error.__traceback__))
                    self._log("job worker failed", error=type(error).__name__, where=where)
                watch.wait(_CHECK_SECONDS, [self._stopping])

    def _run_jobs(self) -> None:
        while self._worker.run_once():
            pass

    def _stop_dispatcher(self) -> None:
        if self._dispatcher is not None:
            self._dispatcher.stop()
            self._dispatcher = None

    def _start_dispatcher(self) -> None:
        if self._dispatcher is None:
            self._dispatcher = hook_dispatcher(self._settings, self._database, self._log)
            self._dispatcher.start()


def _needs_dispatcher(db: Connection) -> bool:
    """Return whether a delivery is due; the modules of webhooks are not imported before there is any."""
    if not has_waiting_delivery(db):
        return False
    from ingot.webhooks.delivery.claims import has_due_delivery

    return has_due_delivery(db)


def _is_closed(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])
