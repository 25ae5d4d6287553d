"""Jobs of ``projects``."""

from typing import TYPE_CHECKING

from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import DAILY, FREQUENTLY, HOURLY, JobTable

if TYPE_CHECKING:
    from ingot.projects.projects.jobs import ProjectJobs

table = JobTable()


def _project_jobs(context: JobContext) -> "ProjectJobs":
    from ingot.projects.projects.clone_bundles import clone_bundles
    from ingot.projects.projects.jobs import ProjectJobs

    return ProjectJobs(context.store, context.uploads, clone_bundles(context.settings))


@table.kind
def remove_project(context: JobContext) -> JobHandler:
    return _project_jobs(context).remove


@table.kind
def remove_repository(context: JobContext) -> JobHandler:
    return _project_jobs(context).remove_repository


@table.kind
def housekeep_project(context: JobContext) -> JobHandler:
    return _project_jobs(context).housekeep


@table.kind
def update_project_statistics(context: JobContext) -> JobHandler:
    return _project_jobs(context).update_statistics


@table.kind
def reconcile_head(context: JobContext) -> JobHandler:
    return _project_jobs(context).reconcile_head


@table.seldom_kind
def sweep_repositories(context: JobContext) -> JobHandler:
    return _project_jobs(context).sweep


@table.seldom_kind
def sweep_packs(context: JobContext) -> JobHandler:
    return _project_jobs(context).sweep_packs


@table.kind
def copy_fork(context: JobContext) -> JobHandler:
    from ingot.projects.forks.jobs import ForkJobs

    return ForkJobs(context.store).run


@table.kind
def import_project(context: JobContext) -> JobHandler:
    from ingot.projects.imports.jobs import ImportJobs

    return ImportJobs(context.store, context.import_guard).run


@table.seldom_kind
def sweep_uploads(context: JobContext) -> JobHandler:
    from ingot.projects.uploads.jobs import UploadJobs

    return UploadJobs(context.uploads).sweep


@table.kind
def delete_scheduled_project(_: JobContext) -> JobHandler:
    from ingot.projects.projects.delayed_deletion import run_project_deletion

    return run_project_deletion


@table.kind
def delete_scheduled_group(_: JobContext) -> JobHandler:
    from ingot.projects.projects.delayed_deletion import run_group_deletion

    return run_group_deletion


@table.kind
def check_inactive_project(_: JobContext) -> JobHandler:
    from ingot.projects.projects.inactive_projects import check_inactive_project

    return check_inactive_project


@table.kind
def delete_environments(_: JobContext) -> JobHandler:
    from ingot.projects.environments.jobs import delete_due_environments

    return delete_due_environments


@table.every(HOURLY)
def enqueue_environment_deletion(_: Settings) -> RecurringWork:
    from ingot.projects.environments.jobs import enqueue_environment_deletion

    return enqueue_environment_deletion


@table.every(HOURLY)
def delete_unconfirmed_users(_: Settings) -> RecurringWork:
    from ingot.projects.groups.unconfirmed_users import delete_unconfirmed_users

    return delete_unconfirmed_users


@table.every(HOURLY)
def delete_expired_memberships(_: Settings) -> RecurringWork:
    from ingot.projects.members.service import delete_expired_memberships

    return delete_expired_memberships


@table.every(HOURLY)
def delete_expired_invitations(_: Settings) -> RecurringWork:
    from ingot.projects.invitations.service import delete_expired_invitations

    return delete_expired_invitations


@table.every(HOURLY)
def delete_ended_bots(_: Settings) -> RecurringWork:
    from ingot.projects.access_tokens.service import delete_ended_bots

    return delete_ended_bots


@table.every(HOURLY)
def delete_expired_shares(_: Settings) -> RecurringWork:
    from ingot.projects.sharing.service import delete_expired_shares

    return delete_expired_shares


@table.every(HOURLY)
def delete_expired_group_shares(_: Settings) -> RecurringWork:
    from ingot.projects.group_shares.service import delete_expired_group_shares

    return delete_expired_group_shares


@table.every(HOURLY)
def enqueue_repository_sweep(_: Settings) -> RecurringWork:
    from ingot.projects.projects.jobs import enqueue_repository_sweep

    return enqueue_repository_sweep


@table.every(HOURLY)
def enqueue_due_projects(_: Settings) -> RecurringWork:
    from ingot.projects.projects.delayed_deletion import enqueue_due_projects

    return enqueue_due_projects


@table.every(HOURLY)
def enqueue_due_groups(_: Settings) -> RecurringWork:
    from ingot.projects.groups.delayed_deletion import enqueue_due_groups

    return enqueue_due_groups


@table.every(DAILY)
def enqueue_inactive_projects(_: Settings) -> RecurringWork:
    from ingot.projects.projects.inactive_projects import enqueue_inactive_projects

    return enqueue_inactive_projects


@table.every(FREQUENTLY)
def fail_lost_imports(_: Settings) -> RecurringWork:
    from ingot.projects.imports.service import fail_lost_imports

    return fail_lost_imports


@table.every(FREQUENTLY)
def fail_lost_copies(_: Settings) -> RecurringWork:
    from ingot.projects.forks.service import fail_lost_copies

    return fail_lost_copies


@table.every(DAILY)
def enqueue_upload_sweep(_: Settings) -> RecurringWork:
    from ingot.projects.uploads.jobs import enqueue_upload_sweep

    return enqueue_upload_sweep


@table.every(DAILY, lambda settings: bool(settings.storage_in_bucket))
def enqueue_pack_sweep(_: Settings) -> RecurringWork:
    from ingot.projects.projects.jobs import enqueue_pack_sweep

    return enqueue_pack_sweep
