"""Composition root of jobs: builds the worker with the handlers of all kinds of jobs, and the sender of webhooks."""

from functools import partial
from typing import TYPE_CHECKING

from ingot.accounts.instance.outgoing_rules import instance_guard, is_silent
from ingot.core.db.database import Database
from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.job_processes import JobProcesses, run_requested_jobs
from ingot.core.jobs.schedule import PREFIX, RecurringJob, Schedule
from ingot.core.jobs.worker import JobWorker
from ingot.core.late_imports import Deferred, DeferredFunction
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.app import configure_caches, open_database
from ingot.server.composition import deferred_store

if TYPE_CHECKING:
    from ingot.webhooks.delivery.dispatcher import HookDispatcher

_MINUTELY = 60
_MAINTENANCE_KINDS = (
    "sweep_repositories",
    "sweep_uploads",
    "sweep_lfs",
    "check_directory",
    "expire_artifacts",
    "sweep_artifacts",
    "sweep_traces",
    "archive_traces",
    "sweep_packages",
    "sweep_secure_files",
    "sweep_terraform_states",
    "sweep_sites",
    "remove_old_deployments",
    "clean_up_container_tags",
    "delete_old_pipelines",
    "sweep_exports",
)
"""Kinds of jobs that run seldom, and need modules that the others do not need."""
_reconcile_all = DeferredFunction("ingot.repositories.ref_changes.apply:reconcile_all")
_run_auto_merge = DeferredFunction("ingot.collaboration.merge_requests.merge.perform:run_auto_merge")
_remove_leftover_branch = DeferredFunction(
    "ingot.collaboration.merge_requests.merge.source_removal:remove_leftover_branch"
)


def job_worker(
    settings: Settings,
    database: Database,
    log: Log,
    processes: JobProcesses | None = None,
) -> JobWorker:
    """Build the worker that runs the jobs of the queue; maintenance runs in other processes, if there are any."""
    configure_caches(settings)
    recurring = recurring_jobs(settings)
    seldom = [PREFIX + entry.key for entry in recurring if not _is_minutely(entry)]
    return JobWorker(
        database,
        job_handlers(settings, database, log),
        recurring,
        log,
        processes=processes,
        process_kinds=[*seldom, *_MAINTENANCE_KINDS],
    )


def minutely_jobs(settings: Settings) -> list[RecurringJob]:
    """Return the recurring jobs that a worker runs in its own process, because they run so often."""
    return [entry for entry in recurring_jobs(settings) if _is_minutely(entry)]


def _is_minutely(entry: RecurringJob) -> bool:
    return entry.every_seconds <= _MINUTELY


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
    store, base_url = deferred_store(settings), settings.base_url
    guard, import_guard = instance_guard(settings, database), instance_guard(settings, database, reads_only=True)
    uploads = Deferred("ingot.projects.uploads.files:upload_files", settings)
    artifacts = Deferred("ingot.ci.artifacts.store:artifact_store_of", settings)
    traces = Deferred("ingot.ci.traces.store:trace_store_of", settings)
    packages = Deferred("ingot.packages.files.store:package_store_of", settings)
    secure_files = Deferred("ingot.ci.secure_files.files:secure_file_store_of", settings)
    states = Deferred("ingot.ci.terraform.files:state_store_of", settings)
    site_files = (settings, artifacts, Deferred("ingot.sites.files.store:site_store_of", settings))
    completion = _payload_completion(settings, database, log)
    lfs = Deferred("ingot.repositories.lfs.files:lfs_files_of", settings)
    exports = Deferred("ingot.import_export.exports.store:export_store_of", settings)
    project_files = Deferred("ingot.import_export.exports.project_archive:ProjectFiles", store, uploads, lfs)
    export_files = (exports, project_files, guard)
    bundles = Deferred("ingot.projects.projects.clone_bundles:clone_bundles", settings)
    of_projects = (store, uploads, bundles)
    return {
        "mail": _unless_silent(DeferredFunction("ingot.core.mail.delivery:MailSender.deliver", settings)),
        "notify": DeferredFunction("ingot.notifications.jobs:NotificationJob.notify", settings, store),
        "notify_of_pipeline": DeferredFunction("ingot.notifications.pipelines:PipelineMailJob.run", settings),
        "notify_of_commit": DeferredFunction("ingot.notifications.commits:CommitMailJob.run", settings, store),
        "remove_project": DeferredFunction("ingot.projects.projects.jobs:ProjectJobs.remove", *of_projects),
        "remove_repository": DeferredFunction(
            "ingot.projects.projects.jobs:ProjectJobs.remove_repository", *of_projects
        ),
        "housekeep_project": DeferredFunction("ingot.projects.projects.jobs:ProjectJobs.housekeep", *of_projects),
        "update_project_statistics": DeferredFunction(
            "ingot.projects.projects.jobs:ProjectJobs.update_statistics", *of_projects
        ),
        "reconcile_head": DeferredFunction("ingot.projects.projects.jobs:ProjectJobs.reconcile_head", *of_projects),
        "sweep_repositories": DeferredFunction("ingot.projects.projects.jobs:ProjectJobs.sweep", *of_projects),
        "reconcile_ref_changes": lambda database, _: _reconcile_all(database, store.value),
        "copy_fork": DeferredFunction("ingot.projects.forks.jobs:ForkJobs.run", store),
        "run_import": DeferredFunction("ingot.import_export.runs.jobs:ImportRunJob.run", settings, store, import_guard),
        "import_project": DeferredFunction("ingot.projects.imports.jobs:ImportJobs.run", store, import_guard),
        "sweep_uploads": DeferredFunction("ingot.projects.uploads.jobs:UploadJobs.sweep", uploads),
        "complete_diff_versions": DeferredFunction(
            "ingot.collaboration.merge_requests.versions.source_tracker:HeadTracker.collect", store
        ),
        "auto_merge": lambda database, number: _run_auto_merge(database, store.value, number),
        "advance_merge_train": DeferredFunction("ingot.ci.merge_trains.jobs:TrainJob.run", store),
        "apply_push_options": DeferredFunction(
            "ingot.collaboration.merge_requests.push_options:MergeRequestPushOptions.run", store
        ),
        "remove_source_branch": lambda database, number: _remove_leftover_branch(database, store.value, number),
        "sweep_lfs": DeferredFunction("ingot.repositories.lfs.jobs:LfsSweepJob.sweep", lfs),
        "update_remote_mirror": DeferredFunction("ingot.repositories.mirrors.jobs:MirrorJobs.update", store, guard),
        "update_pull_mirror": DeferredFunction("ingot.repositories.pull_mirrors.jobs:PullMirrorJobs.run", store, guard),
        "create_pipelines": DeferredFunction("ingot.ci.pipelines.jobs:PipelineCreation.run", store),
        "start_delayed_job": DeferredFunction("ingot.ci.pipelines.maintenance:start_delayed_job"),
        "start_downstream_pipeline": DeferredFunction(
            "ingot.ci.downstream.jobs:DownstreamJobs.start", store, artifacts
        ),
        "follow_downstream_pipeline": DeferredFunction(
            "ingot.ci.downstream.jobs:DownstreamJobs.follow", store, artifacts
        ),
        "cancel_pipelines": DeferredFunction("ingot.ci.downstream.jobs:DownstreamJobs.cancel", store, artifacts),
        "drop_stuck_jobs": DeferredFunction("ingot.ci.pipelines.maintenance:drop_stuck_jobs"),
        "stop_environments": DeferredFunction("ingot.ci.pipelines.auto_stop:stop_due_environments"),
        "remove_pipeline_refs": DeferredFunction("ingot.ci.pipelines.maintenance:PipelineRefJob.run", store),
        "run_pipeline_schedule": DeferredFunction("ingot.ci.schedules.jobs:run_schedule"),
        "create_scheduled_pipeline": DeferredFunction("ingot.ci.schedules.jobs:ScheduleJobs.create", store),
        "process_commit_messages": DeferredFunction(
            "ingot.collaboration.issues.discussions.jobs:CommitMessageJob.read", store, base_url
        ),
        "record_deployed_merge_requests": DeferredFunction(
            "ingot.collaboration.merge_requests.deployments.jobs:DeploymentRecorder.run", store
        ),
        "mail_pushes": DeferredFunction("ingot.integrations.jobs:PushMailJob.run", completion, store),
        "notify_jira": DeferredFunction("ingot.integrations.jira_references:JiraNotifier.run", completion, guard, log),
        "check_directory": DeferredFunction(
            "ingot.accounts.identity_providers.directory_users:DirectoryCheck.run", settings
        ),
        "delete_artifact_files": DeferredFunction("ingot.ci.artifacts.jobs:ArtifactJobs.delete_files", artifacts),
        "expire_artifacts": DeferredFunction("ingot.ci.artifacts.jobs:ArtifactJobs.expire", artifacts),
        "sweep_artifacts": DeferredFunction("ingot.ci.artifacts.jobs:ArtifactJobs.sweep", artifacts),
        "delete_traces": DeferredFunction("ingot.ci.jobs.jobs:TraceJobs.delete", traces),
        "sweep_traces": DeferredFunction("ingot.ci.jobs.jobs:TraceJobs.sweep", traces),
        "archive_traces": DeferredFunction("ingot.ci.jobs.jobs:TraceJobs.archive", traces),
        "delete_package_files": DeferredFunction("ingot.packages.cleanup:PackageJobs.delete_files", packages),
        "sweep_packages": DeferredFunction("ingot.packages.cleanup:PackageJobs.sweep", packages),
        "delete_secure_files": DeferredFunction("ingot.ci.secure_files.jobs:SecureFileJobs.delete", secure_files),
        "sweep_secure_files": DeferredFunction("ingot.ci.secure_files.jobs:SecureFileJobs.sweep", secure_files),
        "delete_terraform_states": DeferredFunction("ingot.ci.terraform.jobs:StateFileJobs.delete", states),
        "sweep_terraform_states": DeferredFunction("ingot.ci.terraform.jobs:StateFileJobs.sweep", states),
        "verify_pages_domain": DeferredFunction("ingot.sites.domains.verification:DomainVerification.run", settings),
        "obtain_certificate": DeferredFunction("ingot.sites.domains.acme_orders:CertificateOrders.run", settings),
        "deploy_site": DeferredFunction("ingot.sites.deployments.jobs:SiteJobs.deploy", *site_files),
        "delete_site_files": DeferredFunction("ingot.sites.deployments.jobs:SiteJobs.delete_files", *site_files),
        "remove_old_deployments": DeferredFunction("ingot.sites.deployments.jobs:SiteJobs.remove_old", *site_files),
        "sweep_sites": DeferredFunction("ingot.sites.deployments.jobs:SiteJobs.sweep", *site_files),
        "delete_old_pipelines": DeferredFunction("ingot.ci.pipelines.old_pipelines:delete_old_pipelines"),
        "delete_scheduled_project": DeferredFunction("ingot.projects.projects.delayed_deletion:run_project_deletion"),
        "check_inactive_project": DeferredFunction("ingot.projects.projects.inactive_projects:check_inactive_project"),
        "delete_scheduled_group": DeferredFunction("ingot.projects.projects.delayed_deletion:run_group_deletion"),
        "clean_up_container_tags": DeferredFunction("ingot.packages.containers.cleanup:clean_up_tags"),
        "export_archive": DeferredFunction("ingot.import_export.exports.jobs:ExportJobs.write_archive", *export_files),
        "export_relations": DeferredFunction(
            "ingot.import_export.exports.jobs:ExportJobs.write_relations", *export_files
        ),
        "sweep_exports": DeferredFunction("ingot.import_export.exports.jobs:ExportJobs.sweep", *export_files),
        "move_repository": DeferredFunction("ingot.repositories.storage_moves.mover:RepositoryMover.run", store),
    }


def recurring_jobs(settings: Settings) -> list[RecurringJob]:
    """Return the functions that run periodically; the names of the functions identify them to all workers."""
    daily, hourly, frequent, minutely = 86_400, 3600, 600, _MINUTELY
    delete_old_events = DeferredFunction("ingot.webhooks.service:delete_old_events")
    directory_check = "ingot.accounts.identity_providers.directory_users:enqueue_directory_check"
    periods = {
        "ingot.accounts.sessions.service:delete_expired_sessions": frequent,
        "ingot.accounts.emails.service:delete_unconfirmed_emails": hourly,
        "ingot.accounts.sessions.dormant_users:deactivate_dormant_users": hourly,
        "ingot.accounts.instance.throttles:delete_expired_throttles": frequent,
        "ingot.core.db.row_changes:delete_old_row_changes": frequent,
        "ingot.projects.members.service:delete_expired_memberships": hourly,
        "ingot.projects.invitations.service:delete_expired_invitations": hourly,
        "ingot.projects.access_tokens.service:delete_ended_bots": hourly,
        "ingot.repositories.mirrors.service:enqueue_failed_updates": hourly,
        "ingot.repositories.pull_mirrors.service:enqueue_due_pulls": frequent,
        "ingot.projects.sharing.service:delete_expired_shares": hourly,
        "ingot.projects.group_shares.service:delete_expired_group_shares": hourly,
        "ingot.projects.projects.jobs:enqueue_repository_sweep": hourly,
        "ingot.projects.projects.delayed_deletion:enqueue_due_projects": hourly,
        "ingot.projects.groups.delayed_deletion:enqueue_due_groups": hourly,
        "ingot.projects.projects.inactive_projects:enqueue_inactive_projects": daily,
        **({directory_check: hourly} if settings.ldap_url else {}),
        "ingot.projects.imports.service:fail_lost_imports": frequent,
        "ingot.projects.forks.service:fail_lost_copies": frequent,
        "ingot.import_export.runs.service:fail_lost_runs": frequent,
        "ingot.repositories.ref_changes.apply:enqueue_reconciliation": minutely,
        "ingot.ci.pipelines.stuck_jobs:enqueue_stuck_job_search": minutely,
        "ingot.ci.pipelines.due_environments:enqueue_environment_stops": minutely,
        "ingot.ci.pipelines.maintenance:enqueue_old_ref_removal": daily,
        "ingot.projects.uploads.jobs:enqueue_upload_sweep": daily,
        "ingot.repositories.lfs.jobs:enqueue_lfs_sweep": daily,
        "ingot.ci.artifacts.jobs:enqueue_artifact_expiry": frequent,
        "ingot.ci.schedules.jobs:enqueue_overdue_schedules": frequent,
        "ingot.ci.artifacts.jobs:enqueue_artifact_sweep": daily,
        "ingot.ci.jobs.jobs:enqueue_trace_sweep": daily,
        "ingot.packages.cleanup:enqueue_package_sweep": daily,
        "ingot.ci.secure_files.jobs:enqueue_sweep": daily,
        "ingot.ci.terraform.jobs:enqueue_sweep": daily,
        "ingot.sites.deployments.jobs:enqueue_site_sweep": daily,
        "ingot.sites.deployments.jobs:enqueue_deployment_removal": hourly,
        "ingot.sites.domains.verification:enqueue_verifications": hourly,
        **({"ingot.sites.domains.acme_orders:enqueue_renewals": hourly} if settings.pages_acme_email else {}),
        "ingot.packages.containers.cleanup:enqueue_tag_cleanups": hourly,
        "ingot.ci.pipelines.old_pipelines:enqueue_pipeline_deletion": hourly,
        "ingot.import_export.exports.service:fail_lost_exports": frequent,
        "ingot.import_export.exports.jobs:enqueue_export_sweep": hourly,
        **({"ingot.ci.jobs.jobs:enqueue_trace_archival": frequent} if "traces" in settings.kinds_in_bucket else {}),
    }
    return [
        *(RecurringJob(seconds, DeferredFunction(reference)) for reference, seconds in periods.items()),
        RecurringJob(frequent, partial(delete_old_events, days=settings.hook_log_days), "delete_old_webhook_events"),
    ]


def hook_dispatcher(settings: Settings, database: Database, log: Log) -> "HookDispatcher":
    """Build the dispatcher of webhook deliveries in the job process."""
    from ingot.integrations.message_formats import format_request
    from ingot.webhooks.delivery.dispatcher import HookDispatcher

    completion = _payload_completion(settings, database, log).value
    return HookDispatcher(
        database, instance_guard(settings, database), completion, settings.base_url, log, format_request
    )


def _unless_silent(handler: JobHandler) -> JobHandler:
    """Return a handler that drops jobs while the server is in silent mode."""

    def run(database: Database, payload: object) -> None:
        if not database.read(is_silent):
            handler(database, payload)

    return run


def _payload_completion(settings: Settings, database: Database, log: Log) -> Deferred:
    reference = "ingot.webhooks.payload_completion:PayloadCompletion"
    return Deferred(reference, database, deferred_store(settings), log)
