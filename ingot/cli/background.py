"""SSH server and job worker in one process, as ``ingot serve`` runs them by default to save memory."""

import asyncio
import os
import socket
import threading
import traceback

import uvloop

from ingot.cli.jobs import exit_at_once, run_jobs
from ingot.cli.ssh import GRACE_SECONDS, serve_ssh
from ingot.core.db.database import Database
from ingot.core.jobs.job_processes import JobProcesses
from ingot.core.log import Log, route_logging
from ingot.core.nodes.heartbeat import Heartbeat
from ingot.core.settings import Settings
from ingot.server.app import configure_caches


class _JobThread(threading.Thread):
    """Thread that runs the job worker until its pipe is closed; the process ends if the worker fails."""

    def __init__(self, settings: Settings, database: Database, log: Log, processes: JobProcesses | None) -> None:
        super().__init__(name="jobs", daemon=True)
        self._processes = processes
        self._settings = settings
        self._database = database
        self._log = log
        self._stopping, self._stopper = os.pipe()
        self.finished = False
        """Whether no thread of the worker uses the database any more."""

    def run(self) -> None:
        """Run jobs."""
        try:
            self.finished = run_jobs(self._settings, self._database, self._log, [self._stopping], self._processes)
        except BaseException as error:  # noqa: BLE001 - The supervisor restarts the whole process.
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("job worker failed", error=type(error).__name__, where=where)
            os._exit(1)

    def stop(self) -> None:
        """Claim no more jobs, and end when those that run have ended."""
        os.close(self._stopper)


def serve(
    settings: Settings,
    database: Database,
    listener: socket.socket | None,
    lifeline: int,
    processes: JobProcesses | None,
) -> None:
    """Serve SSH and run jobs until SIGTERM or until the supervisor exits."""
    log = Log(settings.log_format)
    route_logging(log)
    configure_caches(settings)
    jobs = _JobThread(settings, database, log, processes)
    jobs.start()
    with (
        Heartbeat(settings, database, ["jobs", "ssh"], log),
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(serve_ssh(settings, database, log, listener, lifeline, jobs.stop))
    jobs.join(GRACE_SECONDS)
    if jobs.finished:
        database.close()
    else:
        exit_at_once()
