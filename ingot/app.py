"""Composition root: builds the database, the routes, the subscribers, the HTTP components and the job worker."""

import re
import traceback
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import literal, select

from ingot.accounts.authentication import authenticate
from ingot.accounts.identity_providers.directory_users import CHECK_DIRECTORY, DirectoryCheck, enqueue_directory_check
from ingot.accounts.instance.limits import ApiRateLimits
from ingot.accounts.instance.ports import RunnerRegistration
from ingot.accounts.instance.throttles import delete_expired_throttles
from ingot.accounts.keys.ports import KeyProjects
from ingot.accounts.sessions.service import delete_expired_sessions
from ingot.accounts.tokens.usage import TokenUsageTracker
from ingot.cache import REGISTRY
from ingot.ci.artifacts.jobs import (
    EXPIRE_ARTIFACTS,
    SWEEP_ARTIFACTS,
    ArtifactJobs,
    enqueue_artifact_expiry,
    enqueue_artifact_sweep,
)
from ingot.ci.artifacts.queries import artifact_summaries
from ingot.ci.artifacts.service import DELETE_ARTIFACT_FILES
from ingot.ci.artifacts.store import artifact_store_of
from ingot.ci.downstream.jobs import DownstreamJobs
from ingot.ci.downstream.subscribers import FOLLOW_DOWNSTREAM_PIPELINE
from ingot.ci.job_records.deployment_jobs import DeploymentJobViews
from ingot.ci.job_records.ports import JobArtifacts
from ingot.ci.job_tokens.authentication import actor_by_job_token
from ingot.ci.job_tokens.queries import allows_job_token
from ingot.ci.jobs.jobs import ARCHIVE_TRACES, SWEEP_TRACES, TraceJobs, enqueue_trace_archival, enqueue_trace_sweep
from ingot.ci.jobs.service import DELETE_TRACES, delete_job_files
from ingot.ci.pipelines.auto_stop import STOP_ENVIRONMENTS, enqueue_environment_stops, stop_due_environments
from ingot.ci.pipelines.hierarchy import CANCEL_PIPELINES
from ingot.ci.pipelines.jobs import CREATE_PIPELINES, PipelineCreation, configured_refs
from ingot.ci.pipelines.maintenance import (
    DROP_STUCK_JOBS,
    PipelineRefJob,
    drop_stuck_jobs,
    enqueue_old_ref_removal,
    enqueue_stuck_job_search,
    start_delayed_job,
)
from ingot.ci.pipelines.ports import CiEnvironment
from ingot.ci.pipelines.project_settings import project_ci_settings
from ingot.ci.pipelines.service import REMOVE_PIPELINE_REFS
from ingot.ci.pipelines.transitions import START_DELAYED_JOB, START_DOWNSTREAM_PIPELINE
from ingot.ci.runner_protocol.polls import RunnerPolls
from ingot.ci.runners.registration import instance_registration_token
from ingot.ci.schedules.jobs import CREATE_SCHEDULED_PIPELINE, ScheduleJobs, enqueue_overdue_schedules, run_schedule
from ingot.ci.schedules.service import RUN_SCHEDULE
from ingot.ci.traces.store import trace_store_of
from ingot.collaboration.boards.ports import BoardDefaults
from ingot.collaboration.issues.discussions.jobs import READ_COMMITS, CommitMessageJob
from ingot.collaboration.issues.discussions.mentions import mention_subscriptions
from ingot.collaboration.issues.ports import IssueMergeRequests
from ingot.collaboration.issues.subject_kind import ISSUE_KIND
from ingot.collaboration.merge_requests.discussions.follow_up_issues import follow_up_description
from ingot.collaboration.merge_requests.discussions.mention_subscribers import ReferenceSubscriber
from ingot.collaboration.merge_requests.editing.relations import RelatedMergeRequests
from ingot.collaboration.merge_requests.merge.merge_options import AUTO_MERGE, REMOVE_LEFTOVER_BRANCH
from ingot.collaboration.merge_requests.merge.queries import merge_request_heads
from ingot.collaboration.merge_requests.merge.staged import remove_leftover_branch, run_auto_merge
from ingot.collaboration.merge_requests.merge.subscribers import subscriptions as merge_subscriptions
from ingot.collaboration.merge_requests.reviews.suggestion_recorder import SuggestionRecorder
from ingot.collaboration.merge_requests.subject_kind import MERGE_REQUEST_KIND
from ingot.collaboration.merge_requests.versions.source_tracker import COLLECT_VERSIONS, HeadTracker
from ingot.collaboration.participants.ports import SubjectKinds
from ingot.core.access.actor import Actor
from ingot.core.access.credentials import Credentials
from ingot.core.api.component import ApiComponent
from ingot.core.api.internal_client import InternalClient
from ingot.core.api.kernel import Kernel
from ingot.core.api.router import Router
from ingot.core.api.routes import Endpoint
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database, wall_clock
from ingot.core.db.engine_factory import engine_for
from ingot.core.db.ports import Ports
from ingot.core.db.times import Timestamp
from ingot.core.db.vault import Vault
from ingot.core.disk_probe import DiskProbe
from ingot.core.disk_space import DiskSpace
from ingot.core.events.bus import Subscriptions, collect_subscribers
from ingot.core.http.body_budget import BodyBudget
from ingot.core.http.deferred_component import DeferredComponent
from ingot.core.http.frontend import HttpFrontend
from ingot.core.http.metrics import Metrics
from ingot.core.http.request import Component
from ingot.core.jobs.schedule import RecurringJob
from ingot.core.jobs.statistics import queue_stats
from ingot.core.jobs.worker import JobWorker
from ingot.core.mail.delivery import MAIL_JOB, MailSender
from ingot.core.outgoing.guard import SsrfGuard
from ingot.discovery.markdown.references import find_links
from ingot.discovery.notifications.commits import NOTIFY_OF_COMMIT, CommitMailJob
from ingot.discovery.notifications.jobs import NotificationJob
from ingot.discovery.notifications.notices import NOTIFY
from ingot.discovery.notifications.pipelines import NOTIFY_OF_PIPELINE, PipelineMailJob
from ingot.errors import Unavailable
from ingot.git.maintenance.store import RepositoryStore
from ingot.integrations.services.jira_references import NOTIFY_JIRA, JiraNotifier
from ingot.integrations.services.jobs import MAIL_PUSHES, PushMailJob
from ingot.integrations.services.message_formats import format_request
from ingot.integrations.services.subscribers import integration_subscriptions
from ingot.integrations.webhooks.delivery.dispatcher import HookDispatcher
from ingot.integrations.webhooks.payload_completion import PayloadCompletion
from ingot.integrations.webhooks.service import delete_old_events
from ingot.integrations.webhooks.subscribers import hook_subscriptions, push_hook_subscriptions
from ingot.log import Log
from ingot.projects.deploy_keys.queries import projects_of_key
from ingot.projects.environments.ports import DeploymentJobs
from ingot.projects.forks.jobs import ForkJobs
from ingot.projects.forks.service import COPY_FORK, fail_lost_copies
from ingot.projects.group_projects.queries import has_more_visible_project, storage_sizes
from ingot.projects.group_shares.service import delete_expired_group_shares
from ingot.projects.groups.ports import GroupProjects
from ingot.projects.imports.jobs import ImportJobs
from ingot.projects.imports.service import IMPORT_PROJECT, fail_lost_imports
from ingot.projects.members.service import delete_expired_memberships
from ingot.projects.projects import api as projects
from ingot.projects.projects.default_branch import RECONCILE_HEAD
from ingot.projects.projects.jobs import SWEEP_PROJECTS, ProjectJobs, enqueue_repository_sweep
from ingot.projects.projects.ports import BranchDeletions, CiSettingsReader, JobTokenScopes, ReferenceLinks
from ingot.projects.projects.service import HOUSEKEEP_PROJECT, REMOVE_PROJECT, UPDATE_PROJECT_STATISTICS
from ingot.projects.projects.views import instance_urls_at
from ingot.projects.sharing.service import delete_expired_shares
from ingot.projects.uploads.files import upload_files
from ingot.projects.uploads.jobs import SWEEP_UPLOADS, UploadJobs, enqueue_upload_sweep
from ingot.registry import SUBSCRIPTIONS, all_endpoints
from ingot.repositories.commits.ports import CommitMergeRequests
from ingot.repositories.lfs.files import lfs_files_of
from ingot.repositories.lfs.jobs import SWEEP_LFS, LfsSweepJob, enqueue_lfs_sweep
from ingot.repositories.ref_changes.ports import MergeRequestHeads, PipelineConfigurations
from ingot.repositories.ref_changes.queries import is_deletion_pending
from ingot.repositories.ref_changes.staged import RECONCILE_CHANGES, enqueue_reconciliation, reconcile_all
from ingot.repositories.storage_moves.service import MOVE_REPOSITORY
from ingot.repositories.storage_moves.staged import RepositoryMover
from ingot.settings import Settings
from ingot.transport.activity import UserActivity
from ingot.transport.authorization import HttpAuthorization
from ingot.transport.backend import GitBackend
from ingot.transport.git_http import GitHttp
from ingot.transport.lfs_http import LfsHttp

if TYPE_CHECKING:
    from ingot.web.component import PagesComponent
    from ingot.web.live.streams import LiveStreams

REQUEST_STATEMENT_SECONDS = 8.0
"""Limit of one statement of a request on PostgreSQL; more than the wait for a lock, less than clients wait."""
_PING = select(literal(1))
# Some clients still use the older prefix for uploads, and for nothing else.
LEGACY_API_PREFIX = b"/api/v3"
_PROBED_FOLDERS = ("", "repositories", "uploads", "lfs", "artifacts", "traces")
_NEVER_MATCHES = re.compile(rb"(?!)")
_LEGACY_ROUTES = re.compile(rb"/projects/[^/]+/uploads/?")


def open_database(
    settings: Settings, clock: Callable[[], Timestamp] = wall_clock, *, statement_seconds: float | None = None
) -> Database:
    """Open the database of an instance whose data directory exists."""
    secret = bytes.fromhex((settings.data / "secrets" / "instance.key").read_text().strip())
    store = projects.repository_store(settings)
    tracker = HeadTracker(store)
    subscribers = collect_subscribers(list_subscriptions(settings, store, tracker))
    engine = engine_for(settings.database, statement_seconds)
    tracker.database = Database(engine, Vault(secret), subscribers, fill_ports(store, settings), clock)
    return tracker.database


def list_subscriptions(settings: Settings, store: RepositoryStore, tracker: HeadTracker) -> list[Subscriptions]:
    """Return the subscriptions of every package, in the order in which subscribers run (docs/events.md).

    Webhooks of a push come first, because the events that follow from the push are delivered after it. Heads of merge
    requests move before it is determined which of them the push has merged. All other webhooks and integrations come
    last, because their payloads show the effects of the other subscribers.
    """
    addresses = instance_urls_at(settings.base_url, settings)
    return [
        push_hook_subscriptions(addresses),
        *SUBSCRIPTIONS,
        CommitMessageJob(store, settings.base_url).subscriptions,
        tracker.subscriptions,
        SuggestionRecorder(store).subscriptions,
        PipelineCreation(store).subscriptions,
        merge_subscriptions,
        mention_subscriptions(settings.base_url),
        ReferenceSubscriber(settings.base_url).subscriptions,
        hook_subscriptions(addresses),
        integration_subscriptions(addresses),
    ]


def fill_ports(store: RepositoryStore, settings: Settings) -> Ports:
    """Fill every port: the queries that packages declare and higher packages implement."""
    related = RelatedMergeRequests(store)
    guard = SsrfGuard(settings.allow_local_requests, settings.allowed_outgoing_networks)
    return Ports(
        PipelineConfigurations(configured_refs),
        CiSettingsReader(project_ci_settings),
        CiEnvironment(settings.base_url, settings.reported_version, guard),
        RunnerRegistration(instance_registration_token),
        DeploymentJobs(DeploymentJobViews(store, settings.base_url).views),
        KeyProjects(projects_of_key),
        GroupProjects(storage_sizes, has_more_visible_project),
        ReferenceLinks(find_links),
        BranchDeletions(is_deletion_pending),
        CommitMergeRequests(related.list_introducing),
        MergeRequestHeads(merge_request_heads),
        SubjectKinds((ISSUE_KIND, MERGE_REQUEST_KIND)),
        JobArtifacts(artifact_summaries, delete_job_files),
        JobTokenScopes(allows_job_token),
        BoardDefaults(has_first_board=settings.profile == "9.4"),
        IssueMergeRequests(related.list_closing, related.list_related, follow_up_description),
    )


def configure_caches(settings: Settings) -> None:
    """Set the memory budget of all caches of this process."""
    REGISTRY.configure(settings.cache_mb * 2**20)


@cache
def api_router() -> Router[Endpoint]:
    """Return the router of all API endpoints; built before the workers are forked, so that they share its memory."""
    return Router(all_endpoints(), attrgetter("slashes"))


class App:
    """The HTTP application of one web worker."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        log: Log,
        metrics_folder: Path | None,
        endpoints: Sequence[Endpoint] | None = None,
        roles: Sequence[str] = ("jobs", "ssh"),
    ) -> None:
        configure_caches(settings)
        self._roles = roles
        self.database = database
        self._settings = settings
        self._log = log
        router = api_router() if endpoints is None else Router(endpoints, attrgetter("slashes"))
        self._router = router
        self._bodies = bodies = BodyBudget()
        self.kernel = Kernel(router, database, self._authenticate, ApiRateLimits(database), settings, bodies)
        self._usage = TokenUsageTracker(database, self.kernel.writer)
        activity = UserActivity(database, self.kernel.writer)
        authorization = HttpAuthorization(settings, database, self.kernel.pool, activity)
        git = GitHttp(GitBackend(settings, database, self.kernel.pool, log), authorization)
        self.expects_requests = git.expects_requests
        """Whether a client is between the requests of a push or fetch."""
        api = ApiComponent(self.kernel)
        self.polls = RunnerPolls(settings, database, self.kernel, api, projects.repository_store(settings))
        # Every component that serves paths; the first that handles a request responds to it.
        self.components: list[Component] = [
            self.polls,
            api,
            ApiComponent(self.kernel, LEGACY_API_PREFIX, _LEGACY_ROUTES),
            # Clients that probe for other APIs, such as GraphQL, get a 404 in JSON.
            ApiComponent(self.kernel, b"/api", _NEVER_MATCHES),
            LfsHttp(settings, database, self.kernel.pool, authorization, bodies),
            git,
            DeferredComponent(_static_files),
            DeferredComponent(lambda: self.streams),
            DeferredComponent(lambda: self.pages),
        ]
        self._disk_probe = DiskProbe([settings.data / name for name in _PROBED_FOLDERS])
        self._disks = DiskSpace(settings)
        self._metrics = Metrics(metrics_folder, partial(database.read, queue_stats), REGISTRY, self._disks)
        self.front = HttpFrontend(settings, self.components, self.health, self._metrics, log)

    @cached_property
    def pages(self) -> "PagesComponent":
        """The pages; their modules are loaded before the workers are forked, or when a page is first requested."""
        from ingot.web.component import PagesComponent

        return PagesComponent(self._settings, self.database, self.kernel.pool, self._client, self._bodies)

    @cached_property
    def streams(self) -> "LiveStreams":
        """The event streams of the pages, loaded with these."""
        from ingot.web.live.streams import LiveStreams

        return LiveStreams(self.database, self.kernel.pool, self._client)

    @cached_property
    def _client(self) -> InternalClient:
        return InternalClient(self._router.declared, self.database, self._settings)

    def _authenticate(self, db: Connection, credentials: Credentials) -> Actor:
        if credentials.token is None and credentials.job_token is not None:
            return actor_by_job_token(db, credentials.job_token)
        actor = authenticate(db, credentials)
        self._usage.note(actor.token_id)
        return actor

    def reconcile(self) -> None:
        """Complete ref changes that a crash interrupted, before requests are served; a job retries those that fail."""
        try:
            reconcile_all(self.database, projects.repository_store(self._settings))
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - One damaged repository must not stop the start.
            stack = "".join(traceback.format_tb(error.__traceback__))
            self._log("reconciliation failed", error=type(error).__name__, where=stack)

    def health(self) -> dict[str, str]:
        """Return the current state of the database, of the disks and of each role."""
        # The database comes first: if it does not answer, the roles are not looked up.
        database = _database_state(self.database)
        disk = "ok" if self._disk_probe.is_writable() and not self._disks.low_volumes() else "failed"
        roles = {role: _role_state(self.database, role) for role in self._roles}
        return {"database": database, "disk": disk, **roles}

    def drain(self) -> None:
        """Report that this worker is not ready, answer the polls of runners that wait, and end live updates."""
        self.front.drain()
        self.polls.drain()
        if self._has_streams:
            self.streams.drain()

    @property
    def _has_streams(self) -> bool:
        return "streams" in vars(self)

    def close(self) -> None:
        """Wait for running requests, then close the database."""
        self._metrics.close()
        self.polls.close()
        if self._has_streams:
            self.streams.close()
        self.kernel.close()
        self.database.close()


def job_worker(settings: Settings, database: Database, log: Log) -> JobWorker:
    """Build the worker that runs the jobs of the queue."""
    configure_caches(settings)
    store, files = projects.repository_store(settings), upload_files(settings)
    project_jobs, tracker = ProjectJobs(store, files), HeadTracker(store)
    artifact_jobs, trace_jobs = ArtifactJobs(artifact_store_of(settings)), TraceJobs(trace_store_of(settings))
    downstream_jobs = DownstreamJobs(store, artifact_store_of(settings))
    guard, completion = (
        SsrfGuard(settings.allow_local_requests, settings.allowed_outgoing_networks),
        PayloadCompletion(database, store, log),
    )
    return JobWorker(
        database,
        {
            MAIL_JOB: MailSender(settings).deliver,
            NOTIFY: NotificationJob(settings).notify,
            NOTIFY_OF_PIPELINE: PipelineMailJob(settings).run,
            NOTIFY_OF_COMMIT: CommitMailJob(settings, store).run,
            REMOVE_PROJECT: project_jobs.remove,
            HOUSEKEEP_PROJECT: project_jobs.housekeep,
            UPDATE_PROJECT_STATISTICS: project_jobs.update_statistics,
            RECONCILE_HEAD: project_jobs.reconcile_head,
            SWEEP_PROJECTS: project_jobs.sweep,
            RECONCILE_CHANGES: lambda database, _: reconcile_all(database, store),
            MOVE_REPOSITORY: RepositoryMover(store).run,
            COPY_FORK: ForkJobs(store).run,
            IMPORT_PROJECT: ImportJobs(store, guard).run,
            SWEEP_UPLOADS: UploadJobs(files).sweep,
            COLLECT_VERSIONS: tracker.collect,
            AUTO_MERGE: lambda database, number: run_auto_merge(database, store, number),
            REMOVE_LEFTOVER_BRANCH: lambda database, number: remove_leftover_branch(database, store, number),
            SWEEP_LFS: LfsSweepJob(lfs_files_of(settings)).sweep,
            CREATE_PIPELINES: PipelineCreation(store).run,
            START_DELAYED_JOB: start_delayed_job,
            START_DOWNSTREAM_PIPELINE: downstream_jobs.start,
            FOLLOW_DOWNSTREAM_PIPELINE: downstream_jobs.follow,
            CANCEL_PIPELINES: downstream_jobs.cancel,
            DROP_STUCK_JOBS: drop_stuck_jobs,
            STOP_ENVIRONMENTS: stop_due_environments,
            REMOVE_PIPELINE_REFS: PipelineRefJob(store).run,
            RUN_SCHEDULE: run_schedule,
            CREATE_SCHEDULED_PIPELINE: ScheduleJobs(store).create,
            READ_COMMITS: CommitMessageJob(store, settings.base_url).read,
            MAIL_PUSHES: PushMailJob(completion, store).run,
            NOTIFY_JIRA: JiraNotifier(completion, guard, log).run,
            CHECK_DIRECTORY: DirectoryCheck(settings).run,
            DELETE_ARTIFACT_FILES: artifact_jobs.delete_files,
            EXPIRE_ARTIFACTS: artifact_jobs.expire,
            SWEEP_ARTIFACTS: artifact_jobs.sweep,
            DELETE_TRACES: trace_jobs.delete,
            SWEEP_TRACES: trace_jobs.sweep,
            ARCHIVE_TRACES: trace_jobs.archive,
        },
        [
            RecurringJob(600, delete_expired_sessions),
            RecurringJob(600, delete_expired_throttles),
            RecurringJob(3600, delete_expired_memberships),
            RecurringJob(3600, delete_expired_shares),
            RecurringJob(3600, delete_expired_group_shares),
            RecurringJob(3600, enqueue_repository_sweep),
            *([RecurringJob(3600, enqueue_directory_check)] if settings.ldap_url else []),
            RecurringJob(600, fail_lost_imports),
            RecurringJob(600, fail_lost_copies),
            RecurringJob(60, enqueue_reconciliation),
            RecurringJob(60, enqueue_stuck_job_search),
            RecurringJob(60, enqueue_environment_stops),
            RecurringJob(86_400, enqueue_old_ref_removal),
            RecurringJob(86_400, enqueue_upload_sweep),
            RecurringJob(86_400, enqueue_lfs_sweep),
            RecurringJob(600, enqueue_artifact_expiry),
            RecurringJob(600, enqueue_overdue_schedules),
            RecurringJob(86_400, enqueue_artifact_sweep),
            RecurringJob(86_400, enqueue_trace_sweep),
            *([RecurringJob(600, enqueue_trace_archival)] if "traces" in settings.kinds_in_bucket else []),
            RecurringJob(600, partial(delete_old_events, days=settings.hook_log_days), "delete_old_webhook_events"),
        ],
        log,
    )


def hook_dispatcher(settings: Settings, database: Database, log: Log) -> HookDispatcher:
    """Build the dispatcher of webhook deliveries in the job process."""
    guard = SsrfGuard(settings.allow_local_requests, settings.allowed_outgoing_networks)
    completion = PayloadCompletion(database, projects.repository_store(settings), log)
    return HookDispatcher(database, guard, completion, settings.base_url, log, format_request)


def _static_files() -> Component:
    from ingot.web.files.static import StaticFiles

    return StaticFiles()


def _database_state(database: Database) -> str:
    try:
        database.read(lambda db: db.value(_PING))
    except Unavailable:  # Readiness reports it.
        return "failed"
    return "ok"


def _role_state(database: Database, role: str) -> str:
    return "ok" if database.engine.is_served(role) else "failed"
