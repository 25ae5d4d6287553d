"""Jobs of ``import_export``, ``integrations`` and ``webhooks``: what servers send to each other."""

from functools import partial
from typing import TYPE_CHECKING

from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import FREQUENTLY, HOURLY, JobTable

if TYPE_CHECKING:
    from ingot.import_export.exports.jobs import ExportJobs

table = JobTable()


@table.kind
def run_import(context: JobContext) -> JobHandler:
    from ingot.import_export.runs.jobs import ImportRunJob

    return ImportRunJob(context.settings, context.store, context.import_guard).run


def _export_jobs(context: JobContext) -> "ExportJobs":
    from ingot.import_export.exports.jobs import ExportJobs
    from ingot.import_export.exports.project_archive import ProjectFiles
    from ingot.import_export.exports.store import export_store_of

    files = ProjectFiles(context.store, context.uploads, context.lfs_files)
    return ExportJobs(export_store_of(context.settings), files, context.guard)


@table.kind
def export_archive(context: JobContext) -> JobHandler:
    return _export_jobs(context).write_archive


@table.kind
def export_relations(context: JobContext) -> JobHandler:
    return _export_jobs(context).write_relations


@table.seldom_kind
def sweep_exports(context: JobContext) -> JobHandler:
    return _export_jobs(context).sweep


@table.kind
def mail_pushes(context: JobContext) -> JobHandler:
    from ingot.integrations.jobs import PushMailJob

    return PushMailJob(context.payload_completion, context.store, context.settings.base_url).run


@table.kind
def notify_jira(context: JobContext) -> JobHandler:
    from ingot.integrations.jira_references import JiraNotifier

    return JiraNotifier(context.payload_completion, context.guard, context.log).run


@table.every(FREQUENTLY)
def fail_lost_runs(_: Settings) -> RecurringWork:
    from ingot.import_export.runs.service import fail_lost_runs

    return fail_lost_runs


@table.every(FREQUENTLY)
def fail_lost_exports(_: Settings) -> RecurringWork:
    from ingot.import_export.exports.service import fail_lost_exports

    return fail_lost_exports


@table.every(HOURLY)
def enqueue_export_sweep(_: Settings) -> RecurringWork:
    from ingot.import_export.exports.jobs import enqueue_export_sweep

    return enqueue_export_sweep


@table.every(FREQUENTLY)
def delete_old_webhook_events(settings: Settings) -> RecurringWork:
    from ingot.webhooks.service import delete_old_events

    return partial(delete_old_events, days=settings.hook_log_days)
