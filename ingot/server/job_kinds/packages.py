"""Jobs of ``packages``."""

from typing import TYPE_CHECKING

from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import DAILY, HOURLY, JobTable

if TYPE_CHECKING:
    from ingot.packages.cleanup import PackageJobs

table = JobTable()


def _package_jobs(context: JobContext) -> "PackageJobs":
    from ingot.packages.cleanup import PackageJobs

    return PackageJobs(context.packages)


@table.kind
def delete_package_files(context: JobContext) -> JobHandler:
    return _package_jobs(context).delete_files


@table.seldom_kind
def sweep_packages(context: JobContext) -> JobHandler:
    return _package_jobs(context).sweep


@table.seldom_kind
def clean_up_container_tags(_: JobContext) -> JobHandler:
    from ingot.packages.containers.cleanup import clean_up_tags

    return clean_up_tags


@table.every(DAILY)
def enqueue_package_sweep(_: Settings) -> RecurringWork:
    from ingot.packages.cleanup import enqueue_package_sweep

    return enqueue_package_sweep


@table.every(HOURLY)
def enqueue_tag_cleanups(_: Settings) -> RecurringWork:
    from ingot.packages.containers.cleanup import enqueue_tag_cleanups

    return enqueue_tag_cleanups
