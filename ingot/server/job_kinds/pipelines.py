"""Jobs of ``ci`` about pipelines, merge trains and environments."""

from typing import TYPE_CHECKING

from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import DAILY, FREQUENTLY, HOURLY, MINUTELY, JobTable

if TYPE_CHECKING:
    from ingot.ci.downstream.jobs import DownstreamJobs

table = JobTable()


@table.kind
def create_pipelines(context: JobContext) -> JobHandler:
    from ingot.ci.pipelines.jobs import PipelineCreation

    return PipelineCreation(context.store).run


@table.seldom_kind
def expire_component_usages(_: JobContext) -> JobHandler:
    from ingot.ci.catalog.jobs import expire_component_usages

    return expire_component_usages


@table.kind
def create_scheduled_pipeline(context: JobContext) -> JobHandler:
    from ingot.ci.schedules.jobs import ScheduleJobs

    return ScheduleJobs(context.store).create


@table.kind
def run_pipeline_schedule(_: JobContext) -> JobHandler:
    from ingot.ci.schedules.jobs import run_schedule

    return run_schedule


@table.kind
def advance_merge_train(context: JobContext) -> JobHandler:
    from ingot.ci.merge_trains.jobs import TrainJob

    return TrainJob(context.store).run


@table.kind
def start_delayed_job(_: JobContext) -> JobHandler:
    from ingot.ci.pipelines.maintenance import start_delayed_job

    return start_delayed_job


def _downstream_jobs(context: JobContext) -> "DownstreamJobs":
    from ingot.ci.downstream.jobs import DownstreamJobs

    return DownstreamJobs(context.store, context.artifacts)


@table.kind
def start_downstream_pipeline(context: JobContext) -> JobHandler:
    return _downstream_jobs(context).start


@table.kind
def follow_downstream_pipeline(context: JobContext) -> JobHandler:
    return _downstream_jobs(context).follow


@table.kind
def follow_mirrored_pipeline(context: JobContext) -> JobHandler:
    return _downstream_jobs(context).mirror


@table.kind
def cancel_pipelines(context: JobContext) -> JobHandler:
    return _downstream_jobs(context).cancel


@table.kind
def drop_stuck_jobs(_: JobContext) -> JobHandler:
    from ingot.ci.pipelines.maintenance import drop_stuck_jobs

    return drop_stuck_jobs


@table.kind
def stop_environments(_: JobContext) -> JobHandler:
    from ingot.ci.pipelines.auto_stop import stop_due_environments

    return stop_due_environments


@table.kind
def remove_pipeline_refs(context: JobContext) -> JobHandler:
    from ingot.ci.pipelines.maintenance import PipelineRefJob

    return PipelineRefJob(context.store).run


@table.seldom_kind
def delete_old_pipelines(_: JobContext) -> JobHandler:
    from ingot.ci.pipelines.old_pipelines import delete_old_pipelines

    return delete_old_pipelines


@table.every(MINUTELY)
def enqueue_stuck_job_search(_: Settings) -> RecurringWork:
    from ingot.ci.pipelines.stuck_jobs import enqueue_stuck_job_search

    return enqueue_stuck_job_search


@table.every(MINUTELY)
def enqueue_environment_stops(_: Settings) -> RecurringWork:
    from ingot.ci.pipelines.due_environments import enqueue_environment_stops

    return enqueue_environment_stops


@table.every(FREQUENTLY)
def enqueue_overdue_schedules(_: Settings) -> RecurringWork:
    from ingot.ci.schedules.jobs import enqueue_overdue_schedules

    return enqueue_overdue_schedules


@table.every(HOURLY)
def enqueue_pipeline_deletion(_: Settings) -> RecurringWork:
    from ingot.ci.pipelines.old_pipelines import enqueue_pipeline_deletion

    return enqueue_pipeline_deletion


@table.every(DAILY)
def enqueue_old_ref_removal(_: Settings) -> RecurringWork:
    from ingot.ci.pipelines.maintenance import enqueue_old_ref_removal

    return enqueue_old_ref_removal


@table.every(DAILY)
def enqueue_usage_expiry(_: Settings) -> RecurringWork:
    from ingot.ci.catalog.jobs import enqueue_usage_expiry

    return enqueue_usage_expiry
