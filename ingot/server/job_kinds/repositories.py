"""Jobs of ``repositories``."""

from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringWork
from ingot.core.settings import Settings
from ingot.server.job_kinds.job_context import JobContext
from ingot.server.job_kinds.job_table import DAILY, FREQUENTLY, HOURLY, MINUTELY, JobTable

table = JobTable()


@table.kind
def reconcile_ref_changes(context: JobContext) -> JobHandler:
    from ingot.repositories.ref_changes.apply import reconcile_all

    return lambda database, _: reconcile_all(database, context.store)


@table.seldom_kind
def sweep_lfs(context: JobContext) -> JobHandler:
    from ingot.repositories.lfs.jobs import LfsSweepJob

    return LfsSweepJob(context.lfs_files).sweep


@table.seldom_kind
def check_revocation_list(context: JobContext) -> JobHandler:
    from ingot.repositories.certificates.jobs import RevocationJobs

    return RevocationJobs(context.import_guard).check


@table.kind
def update_remote_mirror(context: JobContext) -> JobHandler:
    from ingot.repositories.mirrors.jobs import MirrorJobs

    return MirrorJobs(context.store, context.guard).update


@table.kind
def update_pull_mirror(context: JobContext) -> JobHandler:
    from ingot.repositories.pull_mirrors.jobs import PullMirrorJobs

    return PullMirrorJobs(context.store, context.guard).run


@table.kind
def move_repository(context: JobContext) -> JobHandler:
    from ingot.repositories.storage_moves.mover import RepositoryMover

    return RepositoryMover(context.store).run


@table.every(HOURLY)
def enqueue_failed_updates(_: Settings) -> RecurringWork:
    from ingot.repositories.mirrors.service import enqueue_failed_updates

    return enqueue_failed_updates


@table.every(FREQUENTLY)
def enqueue_due_pulls(_: Settings) -> RecurringWork:
    from ingot.repositories.pull_mirrors.service import enqueue_due_pulls

    return enqueue_due_pulls


@table.every(MINUTELY)
def enqueue_reconciliation(_: Settings) -> RecurringWork:
    from ingot.repositories.ref_changes.apply import enqueue_reconciliation

    return enqueue_reconciliation


@table.every(DAILY)
def enqueue_lfs_sweep(_: Settings) -> RecurringWork:
    from ingot.repositories.lfs.jobs import enqueue_lfs_sweep

    return enqueue_lfs_sweep


@table.every(DAILY)
def enqueue_revocation_checks(_: Settings) -> RecurringWork:
    from ingot.repositories.certificates.service import enqueue_revocation_checks

    return enqueue_revocation_checks
