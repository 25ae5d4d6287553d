"""Composition root of jobs: the worker with the handlers of all kinds (``server/job_kinds``), and the dispatcher."""

from functools import partial
from typing import TYPE_CHECKING

from ingot.accounts.instance.outgoing_rules import instance_guard
from ingot.core.db.database import Database
from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.job_processes import JobProcesses, run_requested_jobs
from ingot.core.jobs.schedule import PREFIX, RecurringJob, RecurringWork, Schedule
from ingot.core.jobs.worker import JobWorker
from ingot.core.late_imports import LateFunction
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.app import configure_caches, open_database
from ingot.server.job_kinds import (
    accounts,
    ci_files,
    collaboration,
    packages,
    pipelines,
    projects,
    repositories,
    sites,
    transfers,
)
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import MINUTELY, RecurringEntry

if TYPE_CHECKING:
    from ingot.webhooks.delivery.dispatcher import HookDispatcher

_MODULES = (accounts, projects, repositories, pipelines, ci_files, collaboration, packages, sites, transfers)
_TABLES = [module.table for module in _MODULES]


def job_worker(
    settings: Settings,
    database: Database,
    log: Log,
    processes: JobProcesses | None = None,
) -> JobWorker:
    """Build the worker that runs the jobs of the queue; maintenance runs in other processes, if there are any."""
    configure_caches(settings)
    seldom_recurring = [
        PREFIX + entry.load.__name__ for entry in _recurring_entries(settings) if entry.every_seconds > MINUTELY
    ]
    seldom_kinds = [kind for table in _TABLES for kind in table.seldom]
    return JobWorker(
        database,
        job_handlers(settings, database, log),
        recurring_jobs(settings),
        log,
        processes=processes,
        process_kinds=[*seldom_recurring, *seldom_kinds],
    )


def minutely_work(settings: Settings) -> list[RecurringWork]:
    """Return what the recurring jobs do that a worker runs in its own process, because they run so often."""
    return [entry.load(settings) for entry in _recurring_entries(settings) if entry.every_seconds <= MINUTELY]


def run_maintenance(settings: Settings, descriptor: int) -> None:
    """Run jobs for the worker at the other end of a socket; for a process that was just forked."""
    log = Log(settings.log_format)
    configure_caches(settings)
    database = open_database(settings)
    handlers = {**job_handlers(settings, database, log), **Schedule(recurring_jobs(settings)).handlers()}
    run_requested_jobs(descriptor, database, handlers, log)
    database.close()


def job_handlers(settings: Settings, database: Database, log: Log) -> dict[str, JobHandler]:
    """Return the handler of each kind of job; the modules that enqueue a kind declare it as a constant."""
    context = JobContext(settings, database, log)
    kinds = {kind: load for table in _TABLES for kind, load in table.kinds.items()}
    return {kind: LateFunction(partial(load, context)) for kind, load in kinds.items()}


def recurring_jobs(settings: Settings) -> list[RecurringJob]:
    """Return the functions that run periodically."""
    return [
        RecurringJob(entry.every_seconds, LateFunction(partial(entry.load, settings)), entry.load.__name__)
        for entry in _recurring_entries(settings)
    ]


def _recurring_entries(settings: Settings) -> list[RecurringEntry]:
    return [entry for table in _TABLES for entry in table.recurring if entry.is_needed(settings)]


def hook_dispatcher(settings: Settings, database: Database, log: Log) -> "HookDispatcher":
    """Build the dispatcher of webhook deliveries in the job process."""
    from ingot.integrations.requests import RequestFormatter
    from ingot.webhooks.delivery.dispatcher import HookDispatcher

    completion = JobContext(settings, database, log).payload_completion
    guard, formatter = instance_guard(settings, database), RequestFormatter(database)
    return HookDispatcher(database, guard, completion, settings.base_url, log, formatter)
