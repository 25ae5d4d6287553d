"""``ingot jobs``: one job worker."""

import argparse
import os
import select
import signal

from ingot.app import job_worker, open_database
from ingot.cli.options import add_instance_options, prepare_instance, settings_of
from ingot.errors import Unavailable
from ingot.jobs.worker import Worker
from ingot.log import Log
from ingot.settings import Settings

IDLE_SECONDS = 0.5
TROUBLE_SECONDS = 2.0


def declare(parser: argparse.ArgumentParser) -> None:
    """Say what the command takes."""
    add_instance_options(parser)
    parser.add_argument("--log-format", choices=("auto", "json", "pretty"), help="how log lines look")


def run(arguments: argparse.Namespace) -> None:
    """Work until a signal; other machines may work on the same database."""
    settings = settings_of(arguments)
    prepare_instance(settings)
    serve(settings)


def serve(settings: Settings, lifeline: int | None = None) -> None:
    """Empty the queue until SIGTERM or until the supervisor is gone; a job that runs is finished first."""
    log = Log(settings.log_format)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGTERM, lambda *_: None)
    watched = [wake] if lifeline is None else [wake, lifeline]
    database = open_database(settings)
    worker = job_worker(settings, database, log)
    beacon = database.engine.announce("jobs")
    try:
        pause = 0.0
        while not select.select(watched, [], [], pause)[0]:
            pause = _work(worker, log)
    finally:
        beacon.close()
        database.close()


def _work(worker: Worker, log: Log) -> float:
    """Do one piece of work, and say how long to wait for the next."""
    try:
        return 0.0 if worker.run_once() else IDLE_SECONDS
    except Unavailable as error:
        log("jobs wait", error=str(error))
        return TROUBLE_SECONDS
