"""``ingot jobs``: run one job worker, or list, retry and delete jobs, whether or not the server runs."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import get_args

from ingot.cli.options import add_instance_options, prepare_instance, settings_from_arguments
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Conflict, NotFound, Unavailable
from ingot.core.jobs.admin import delete_job, list_jobs, retry_dead, retry_job
from ingot.core.jobs.job_processes import JobProcesses
from ingot.core.jobs.tables import Job, JobState
from ingot.core.log import Log, route_logging
from ingot.core.nodes.heartbeat import Heartbeat
from ingot.core.settings import Settings
from ingot.server.allocator import begin_collecting
from ingot.server.app import open_database
from ingot.server.jobs import job_worker
from ingot.server.webhook_deliveries import WebhookDeliveries

_COLUMN_TITLES = ("ID", "KIND", "STATE", "ATTEMPTS", "RUN AT", "LAST ERROR")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_instance_options(parser)
    parser.add_argument("--log-format", choices=("auto", "json", "pretty"), help="format of log lines")
    parser.description = "Run one job worker; with a verb, list, retry or delete jobs."
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    # An option omitted after the verb must not replace its value from before the verb.
    no_default = argparse.SUPPRESS
    listing = verbs.add_parser("list", help="list waiting, running and dead jobs", argument_default=no_default)
    listing.add_argument("--state", choices=get_args(JobState), default=None, help="list only jobs in this state")
    listing.add_argument("--limit", metavar="N", type=int, default=100, help="maximum number of jobs (default: 100)")
    retry = verbs.add_parser("retry", help="run dead or waiting jobs now", argument_default=no_default)
    retry.add_argument("id", type=int, nargs="*", default=[])
    retry.add_argument("--all-dead", action="store_true", default=False, help="retry all dead jobs")
    drop = verbs.add_parser("drop", help="delete jobs", argument_default=no_default)
    drop.add_argument("id", type=int, nargs="+")
    for verb in (listing, retry, drop):
        add_instance_options(verb)


def run(arguments: argparse.Namespace) -> None:
    """Work until a signal arrives, or run the verb; several machines may work on the same database."""
    if arguments.verb == "retry" and bool(arguments.id) == arguments.all_dead:
        sys.exit("ingot: retry takes either the IDs of jobs or --all-dead")
    settings = settings_from_arguments(arguments)
    prepare_instance(settings)
    if arguments.verb is None:
        serve(settings)
        return
    database = open_database(settings)
    try:
        if arguments.verb == "list":
            print(database.read(_list_jobs(arguments)))
        else:
            print(database.write(_change_job(arguments)))
    except (Conflict, NotFound, Unavailable) as error:
        sys.exit(f"ingot: {error}")
    finally:
        database.close()


def serve(settings: Settings, lifeline: int | None = None, processes: JobProcesses | None = None) -> None:
    """Run jobs until SIGTERM or until the supervisor exits; running jobs are finished first."""
    log = Log(settings.log_format)
    route_logging(log)
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    signal.signal(signal.SIGTERM, lambda *_: None)
    if lifeline is None:
        signal.signal(signal.SIGINT, lambda *_: None)
    database = open_database(settings)
    begin_collecting()
    with Heartbeat(settings, database, ["jobs"], log):
        stops = [wake] if lifeline is None else [wake, lifeline]
        finished = run_jobs(settings, database, log, stops, processes)
    if finished:
        database.close()
    else:
        exit_at_once()


def run_jobs(
    settings: Settings, database: Database, log: Log, stops: Sequence[int], processes: JobProcesses | None = None
) -> bool:
    """Run jobs and webhook deliveries until one of the descriptors is readable; return whether all have finished."""
    worker = job_worker(settings, database, log, processes)
    deliveries = WebhookDeliveries(settings, database, log)
    deliveries.start(stops)
    drained = worker.run(stops)
    return deliveries.stop() and drained


def exit_at_once() -> None:
    """Exit although threads still use the database.

    Their jobs were returned to the queue, and open transactions are rolled back when the process exits.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _list_jobs(arguments: argparse.Namespace) -> Callable[[Connection], str]:
    def work(db: Connection) -> str:
        jobs, total = list_jobs(db, arguments.state, max(0, arguments.limit))
        if total == 0:
            return "There are no jobs." if arguments.state is None else f"There are no {arguments.state} jobs."
        lines = [_COLUMN_TITLES, *map(_row, jobs)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )
        more = total - len(jobs)
        return f"{text}\n… and {more} more" if more else text

    return work


def _row(job: Job) -> tuple[str, ...]:
    return str(job.id), job.kind, job.state, str(job.attempts), job.run_at, job.last_error or ""


def _change_job(arguments: argparse.Namespace) -> Callable[[Connection], str]:
    def work(db: Connection) -> str:
        if arguments.verb == "drop":
            return "\n".join(_deleted_message(delete_job(db, job_id)) for job_id in arguments.id)
        if arguments.all_dead:
            count = retry_dead(db)
            return f"{count} {'job runs' if count == 1 else 'jobs run'} again."
        return "\n".join(_retry_message(job_id, retry_job(db, job_id)) for job_id in arguments.id)

    return work


def _deleted_message(job: Job) -> str:
    running = " It was running; its effects so far remain." if job.state == "running" else ""
    return f"Dropped job {job.id} ({job.kind}).{running}"


def _retry_message(job_id: int, retried_id: int) -> str:
    return (
        f"Job {job_id} runs again." if job_id == retried_id else f"Job {retried_id}, a duplicate of {job_id}, runs now."
    )
