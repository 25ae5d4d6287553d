"""Jobs of ``ci`` about files: artifacts, logs, secure files and Terraform states."""

from typing import TYPE_CHECKING

from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import DAILY, FREQUENTLY, JobTable

if TYPE_CHECKING:
    from ingot.ci.artifacts.jobs import ArtifactJobs
    from ingot.ci.jobs.jobs import TraceJobs
    from ingot.ci.secure_files.jobs import SecureFileJobs
    from ingot.ci.terraform.jobs import StateFileJobs

table = JobTable()


def _artifact_jobs(context: JobContext) -> "ArtifactJobs":
    from ingot.ci.artifacts.jobs import ArtifactJobs

    return ArtifactJobs(context.artifacts)


@table.kind
def delete_artifact_files(context: JobContext) -> JobHandler:
    return _artifact_jobs(context).delete_files


@table.seldom_kind
def expire_artifacts(context: JobContext) -> JobHandler:
    return _artifact_jobs(context).expire


@table.seldom_kind
def sweep_artifacts(context: JobContext) -> JobHandler:
    return _artifact_jobs(context).sweep


def _trace_jobs(context: JobContext) -> "TraceJobs":
    from ingot.ci.jobs.jobs import TraceJobs

    return TraceJobs(context.traces)


@table.kind
def delete_traces(context: JobContext) -> JobHandler:
    return _trace_jobs(context).delete


@table.seldom_kind
def sweep_traces(context: JobContext) -> JobHandler:
    return _trace_jobs(context).sweep


@table.seldom_kind
def archive_traces(context: JobContext) -> JobHandler:
    return _trace_jobs(context).archive


def _secure_file_jobs(context: JobContext) -> "SecureFileJobs":
    from ingot.ci.secure_files.files import secure_file_store_of
    from ingot.ci.secure_files.jobs import SecureFileJobs

    return SecureFileJobs(secure_file_store_of(context.settings))


@table.kind
def delete_secure_files(context: JobContext) -> JobHandler:
    return _secure_file_jobs(context).delete


@table.seldom_kind
def sweep_secure_files(context: JobContext) -> JobHandler:
    return _secure_file_jobs(context).sweep


def _terraform_jobs(context: JobContext) -> "StateFileJobs":
    from ingot.ci.terraform.files import state_store_of
    from ingot.ci.terraform.jobs import StateFileJobs

    return StateFileJobs(state_store_of(context.settings))


@table.kind
def delete_terraform_states(context: JobContext) -> JobHandler:
    return _terraform_jobs(context).delete


@table.seldom_kind
def sweep_terraform_states(context: JobContext) -> JobHandler:
    return _terraform_jobs(context).sweep


@table.every(FREQUENTLY)
def enqueue_artifact_expiry(_: Settings) -> RecurringWork:
    from ingot.ci.artifacts.jobs import enqueue_artifact_expiry

    return enqueue_artifact_expiry


@table.every(DAILY)
def enqueue_artifact_sweep(_: Settings) -> RecurringWork:
    from ingot.ci.artifacts.jobs import enqueue_artifact_sweep

    return enqueue_artifact_sweep


@table.every(DAILY)
def enqueue_trace_sweep(_: Settings) -> RecurringWork:
    from ingot.ci.jobs.jobs import enqueue_trace_sweep

    return enqueue_trace_sweep


@table.every(FREQUENTLY, lambda settings: "traces" in settings.kinds_in_bucket)
def enqueue_trace_archival(_: Settings) -> RecurringWork:
    from ingot.ci.jobs.jobs import enqueue_trace_archival

    return enqueue_trace_archival


@table.every(DAILY)
def enqueue_secure_file_sweep(_: Settings) -> RecurringWork:
    from ingot.ci.secure_files.jobs import enqueue_sweep

    return enqueue_sweep


@table.every(DAILY)
def enqueue_terraform_state_sweep(_: Settings) -> RecurringWork:
    from ingot.ci.terraform.jobs import enqueue_sweep

    return enqueue_sweep
