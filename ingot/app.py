"""Composition root: builds the database, the routes, the subscribers, the HTTP components and the job worker.

Modules that a server does not need to start are named by references and imported when they are first needed, see
"Loading on demand" in docs/internals.md.
"""

import asyncio
import re
import traceback
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import literal, select

from ingot.accounts.authentication import authenticate
from ingot.accounts.instance.limits import ApiRateLimits
from ingot.accounts.tokens.usage import TokenUsageTracker
from ingot.cache import REGISTRY
from ingot.composition import deferred_store, fill_ports, list_subscriptions, outgoing_guard
from ingot.core.access.actor import Actor
from ingot.core.access.credentials import Credentials
from ingot.core.api.component import ApiComponent
from ingot.core.api.internal_client import InternalClient
from ingot.core.api.kernel import Kernel
from ingot.core.api.route_table import RouteTable
from ingot.core.api.routes import Endpoint
from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.engine_factory import engine_for
from ingot.core.db.times import Timestamp
from ingot.core.db.vault import Vault
from ingot.core.disk_probe import DiskProbe
from ingot.core.disk_space import DiskSpace
from ingot.core.events.bus import DeferredSubscribers
from ingot.core.http.body_budget import BodyBudget
from ingot.core.http.deferred_component import DeferredComponent
from ingot.core.http.frontend import HttpFrontend
from ingot.core.http.metrics import DatabaseFigures, Metrics
from ingot.core.http.request import Component
from ingot.core.jobs.handlers import JobHandler
from ingot.core.jobs.schedule import RecurringJob
from ingot.core.jobs.statistics import queue_stats
from ingot.core.jobs.worker import JobWorker
from ingot.core.nodes.heartbeat import Heartbeat
from ingot.core.nodes.queries import list_nodes
from ingot.errors import Unavailable
from ingot.late_imports import Deferred, DeferredFunction
from ingot.log import Log
from ingot.registry import endpoint_table, subscription_index
from ingot.settings import Settings

if TYPE_CHECKING:
    from ingot.ci.packages.containers.registry_http import RegistryHttp
    from ingot.ci.runner_protocol.polls import RunnerPolls
    from ingot.graphql.component import GraphqlComponent
    from ingot.integrations.webhooks.delivery.dispatcher import HookDispatcher
    from ingot.transport.authorization import HttpAuthorization
    from ingot.transport.git_http import GitHttp
    from ingot.transport.lfs_http import LfsHttp
    from ingot.web.component import PagesComponent
    from ingot.web.live.streams import LiveStreams

REQUEST_STATEMENT_SECONDS = 8.0
"""Limit of one statement of a request on PostgreSQL; more than the wait for a lock, less than clients wait."""
_PING = select(literal(1))
# Some clients still use the older prefix for uploads, and for nothing else.
LEGACY_API_PREFIX = b"/api/v3"
_PROBED_FOLDERS = ("", "repositories", "uploads", "lfs", "artifacts", "traces", "packages")
_NEVER_MATCHES = re.compile(rb"(?!)")
_LEGACY_ROUTES = re.compile(rb"/projects/[^/]+/uploads/?")
# Requests with other paths do not cause the modules of a component to be imported.
_RUNNER_PATHS = re.compile(rb"/api/v4/jobs/.+")
_GRAPHQL_PATHS = re.compile(rb"/api/graphql/?")
_REGISTRY_PATHS = re.compile(rb"/v2(?:/.*)?|/jwt/auth")
_LFS_PATHS = re.compile(rb"/.+\.git/.+")
_GIT_PATHS = re.compile(rb"/.+(?:\.git/.+|/(?:info/refs|git-upload-pack|git-receive-pack)/?)")
_actor_by_job_token = DeferredFunction("ingot.ci.job_tokens.authentication:actor_by_job_token")
_actor_by_client_secret = DeferredFunction("ingot.ci.packages.access.authentication:actor_by_client_secret")
_reconcile_all = DeferredFunction("ingot.repositories.ref_changes.staged:reconcile_all")
_run_auto_merge = DeferredFunction("ingot.collaboration.merge_requests.merge.staged:run_auto_merge")
_remove_leftover_branch = DeferredFunction("ingot.collaboration.merge_requests.merge.staged:remove_leftover_branch")


def open_database(
    settings: Settings, clock: Callable[[], Timestamp] = wall_clock, *, statement_seconds: float | None = None
) -> Database:
    """Open the database of an instance whose data directory exists."""
    secret = bytes.fromhex((settings.data / "secrets" / "instance.key").read_text().strip())
    subscribers = DeferredSubscribers(subscription_index())
    engine = engine_for(settings.database, statement_seconds, settings.database_direct_url, settings.node)
    database = Database(engine, Vault(secret), subscribers, fill_ports(settings), clock)
    subscribers.subscriptions = list_subscriptions(settings, database)
    return database


def configure_caches(settings: Settings) -> None:
    """Set the memory budget of all caches of this process."""
    REGISTRY.configure(settings.cache_mb * 2**20)


class App:
    """The HTTP application of one web worker."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        log: Log,
        metrics_folder: Path | None,
        table: RouteTable[Endpoint] | None = None,
        roles: Sequence[str] = ("jobs", "ssh"),
        *,
        whole_node: bool = False,
    ) -> None:
        configure_caches(settings)
        self._roles = roles
        self._whole_node = whole_node
        self.database = database
        self._settings = settings
        self._log = log
        self._table = table or endpoint_table()
        self._bodies = bodies = BodyBudget()
        self.kernel = Kernel(self._table, database, self._authenticate, ApiRateLimits(database), settings, bodies)
        self._usage = TokenUsageTracker(database, self.kernel.writer)
        self._api = ApiComponent(self.kernel)
        # Every component that serves paths; the first that handles a request responds to it.
        self.components: list[Component] = [
            DeferredComponent(lambda: self.polls, _RUNNER_PATHS),
            self._api,
            ApiComponent(self.kernel, LEGACY_API_PREFIX, _LEGACY_ROUTES),
            DeferredComponent(lambda: self.graphql, _GRAPHQL_PATHS),
            # Clients that probe for other APIs get a 404 in JSON.
            ApiComponent(self.kernel, b"/api", _NEVER_MATCHES),
            DeferredComponent(lambda: self.registry, _REGISTRY_PATHS),
            DeferredComponent(lambda: self.lfs, _LFS_PATHS),
            DeferredComponent(lambda: self.git, _GIT_PATHS),
            DeferredComponent(DeferredFunction("ingot.web.files.static:StaticFiles")),
            DeferredComponent(lambda: self.streams),
            DeferredComponent(lambda: self.pages),
        ]
        self._disk_probe = DiskProbe([settings.data / name for name in _PROBED_FOLDERS])
        self._disks = DiskSpace(settings)
        figures = partial(database.read, lambda db: DatabaseFigures(queue_stats(db), list_nodes(db)))
        self._metrics = Metrics(metrics_folder, figures, REGISTRY, self._disks)
        self.front = HttpFrontend(settings, self.components, self.health, self._metrics, log)

    @cached_property
    def polls(self) -> "RunnerPolls":
        """The calls that runners repeat."""
        from ingot.ci.runner_protocol.polls import RunnerPolls

        store = deferred_store(self._settings).value
        return RunnerPolls(self._settings, self.database, self.kernel, self._api, store)

    @cached_property
    def graphql(self) -> "GraphqlComponent":
        """The GraphQL API."""
        from ingot.graphql.component import GraphqlComponent

        return GraphqlComponent(self.kernel, lambda: self._client)

    @cached_property
    def git(self) -> "GitHttp":
        """Git over HTTP."""
        from ingot.transport.backend import GitBackend
        from ingot.transport.git_http import GitHttp

        backend = GitBackend(self._settings, self.database, self.kernel.pool, self._log)
        return GitHttp(backend, self._git_authorization)

    @cached_property
    def lfs(self) -> "LfsHttp":
        """Files in Git LFS."""
        from ingot.transport.lfs_http import LfsHttp

        return LfsHttp(self._settings, self.database, self.kernel.pool, self._git_authorization, self._bodies)

    @cached_property
    def registry(self) -> "RegistryHttp":
        """The container registry."""
        from ingot.ci.packages.containers.registry_http import RegistryHttp

        return RegistryHttp(self._settings, self.database, self.kernel.pool, self._bodies)

    @cached_property
    def _git_authorization(self) -> "HttpAuthorization":
        from ingot.transport.activity import UserActivity
        from ingot.transport.authorization import HttpAuthorization

        activity = UserActivity(self.database, self.kernel.writer)
        return HttpAuthorization(self._settings, self.database, self.kernel.pool, activity)

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
        return InternalClient(self._table, self.database, self._settings)

    def _is_loaded(self, component: str) -> bool:
        return component in vars(self)

    def _authenticate(self, db: Connection, credentials: Credentials) -> Actor:
        if credentials.secret is not None:
            client: Actor = _actor_by_client_secret(db, credentials.username, credentials.secret)
            self._usage.note(client.token_id)
            return client
        if credentials.token is None and credentials.job_token is not None:
            actor: Actor = _actor_by_job_token(db, credentials.job_token)
            return actor
        actor = authenticate(db, credentials)
        self._usage.note(actor.token_id)
        return actor

    def reconcile(self) -> None:
        """Complete ref changes that a crash interrupted, before requests are served; a job retries those that fail."""
        try:
            _reconcile_all(self.database, deferred_store(self._settings).value)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - One damaged repository must not stop the start.
            stack = "".join(traceback.format_tb(error.__traceback__))
            self._log("reconciliation failed", error=type(error).__name__, where=stack)

    def heartbeat(self) -> Heartbeat:
        """Return the context in which this worker reports that its machine serves the web."""
        return Heartbeat(self._settings, self.database, ["web"], self._log)

    async def health(self) -> dict[str, str]:
        """Return the current state of the database, of the disks and of each role, of this machine if it serves all."""
        return await asyncio.to_thread(self._health) if self.database.engine.is_remote else self._health()

    def _health(self) -> dict[str, str]:
        # The database comes first: if it does not answer, the roles are not looked up.
        database = _database_state(self.database)
        disk = "ok" if self._disk_probe.is_writable() and not self._disks.low_volumes() else "failed"
        served = partial(self.database.engine.is_served, here=self._whole_node)
        roles = {role: "ok" if served(role) else "failed" for role in self._roles}
        return {"database": database, "disk": disk, **roles}

    def expects_requests(self) -> bool:
        """Return whether a client is between the requests of a push or fetch."""
        return self._is_loaded("git") and self.git.expects_requests()

    def drain(self) -> None:
        """Report that this worker is not ready, answer the polls of runners that wait, and end live updates."""
        self.front.drain()
        self.end_polls()
        if self._is_loaded("streams"):
            self.streams.drain()

    def end_polls(self) -> None:
        """Answer the polls of runners that wait, and hold no more."""
        if self._is_loaded("polls"):
            self.polls.drain()

    def close(self) -> None:
        """Wait for running requests, then close the database."""
        self._metrics.close()
        for component in ("polls", "streams"):
            if self._is_loaded(component):
                getattr(self, component).close()
        self.kernel.close()
        self.database.close()


def job_worker(settings: Settings, database: Database, log: Log, *, is_new_instance: bool = False) -> JobWorker:
    """Build the worker that runs the jobs of the queue."""
    configure_caches(settings)
    handlers = job_handlers(settings, database, log)
    return JobWorker(database, handlers, recurring_jobs(settings), log, is_new_instance=is_new_instance)


def job_handlers(settings: Settings, database: Database, log: Log) -> dict[str, JobHandler]:
    """Return the handler of each kind of job; the modules that enqueue a kind declare it as a constant."""
    store, guard, base_url = deferred_store(settings), outgoing_guard(settings), settings.base_url
    uploads = Deferred("ingot.projects.uploads.files:upload_files", settings)
    artifacts = Deferred("ingot.ci.artifacts.store:artifact_store_of", settings)
    traces = Deferred("ingot.ci.traces.store:trace_store_of", settings)
    packages = Deferred("ingot.ci.packages.files.store:package_store_of", settings)
    completion = _payload_completion(settings, database, log)
    lfs = Deferred("ingot.repositories.lfs.files:lfs_files_of", settings)
    exports = Deferred("ingot.integrations.transfers.exports.store:export_store_of", settings)
    project_files = Deferred("ingot.integrations.transfers.exports.project_archive:ProjectFiles", store, uploads, lfs)
    export_files = (exports, project_files, guard)
    return {
        "mail": DeferredFunction("ingot.core.mail.delivery:MailSender.deliver", settings),
        "notify": DeferredFunction("ingot.discovery.notifications.jobs:NotificationJob.notify", settings),
        "notify_of_pipeline": DeferredFunction("ingot.discovery.notifications.pipelines:PipelineMailJob.run", settings),
        "notify_of_commit": DeferredFunction(
            "ingot.discovery.notifications.commits:CommitMailJob.run", settings, store
        ),
        "remove_project": DeferredFunction("ingot.projects.projects.jobs:ProjectJobs.remove", store, uploads),
        "housekeep_project": DeferredFunction("ingot.projects.projects.jobs:ProjectJobs.housekeep", store, uploads),
        "update_project_statistics": DeferredFunction(
            "ingot.projects.projects.jobs:ProjectJobs.update_statistics", store, uploads
        ),
        "reconcile_head": DeferredFunction("ingot.projects.projects.jobs:ProjectJobs.reconcile_head", store, uploads),
        "sweep_repositories": DeferredFunction("ingot.projects.projects.jobs:ProjectJobs.sweep", store, uploads),
        "reconcile_ref_changes": lambda database, _: _reconcile_all(database, store.value),
        "copy_fork": DeferredFunction("ingot.projects.forks.jobs:ForkJobs.run", store),
        "run_import": DeferredFunction(
            "ingot.integrations.transfers.runs.jobs:ImportRunJob.run", settings, store, guard
        ),
        "import_project": DeferredFunction("ingot.projects.imports.jobs:ImportJobs.run", store, guard),
        "sweep_uploads": DeferredFunction("ingot.projects.uploads.jobs:UploadJobs.sweep", uploads),
        "complete_diff_versions": DeferredFunction(
            "ingot.collaboration.merge_requests.versions.source_tracker:HeadTracker.collect", store
        ),
        "auto_merge": lambda database, number: _run_auto_merge(database, store.value, number),
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
        "mail_pushes": DeferredFunction("ingot.integrations.services.jobs:PushMailJob.run", completion, store),
        "notify_jira": DeferredFunction(
            "ingot.integrations.services.jira_references:JiraNotifier.run", completion, guard, log
        ),
        "check_directory": DeferredFunction(
            "ingot.accounts.identity_providers.directory_users:DirectoryCheck.run", settings
        ),
        "delete_artifact_files": DeferredFunction("ingot.ci.artifacts.jobs:ArtifactJobs.delete_files", artifacts),
        "expire_artifacts": DeferredFunction("ingot.ci.artifacts.jobs:ArtifactJobs.expire", artifacts),
        "sweep_artifacts": DeferredFunction("ingot.ci.artifacts.jobs:ArtifactJobs.sweep", artifacts),
        "delete_traces": DeferredFunction("ingot.ci.jobs.jobs:TraceJobs.delete", traces),
        "sweep_traces": DeferredFunction("ingot.ci.jobs.jobs:TraceJobs.sweep", traces),
        "archive_traces": DeferredFunction("ingot.ci.jobs.jobs:TraceJobs.archive", traces),
        "delete_package_files": DeferredFunction("ingot.ci.packages.cleanup:PackageJobs.delete_files", packages),
        "sweep_packages": DeferredFunction("ingot.ci.packages.cleanup:PackageJobs.sweep", packages),
        "export_archive": DeferredFunction(
            "ingot.integrations.transfers.exports.jobs:ExportJobs.write_archive", *export_files
        ),
        "export_relations": DeferredFunction(
            "ingot.integrations.transfers.exports.jobs:ExportJobs.write_relations", *export_files
        ),
        "sweep_exports": DeferredFunction("ingot.integrations.transfers.exports.jobs:ExportJobs.sweep", *export_files),
        "move_repository": DeferredFunction("ingot.repositories.storage_moves.staged:RepositoryMover.run", store),
    }


def recurring_jobs(settings: Settings) -> list[RecurringJob]:
    """Return the functions that run periodically; the names of the functions identify them to all workers."""
    daily, hourly, frequent, minutely = 86_400, 3600, 600, 60
    delete_old_events = DeferredFunction("ingot.integrations.webhooks.service:delete_old_events")
    directory_check = "ingot.accounts.identity_providers.directory_users:enqueue_directory_check"
    periods = {
        "ingot.accounts.sessions.service:delete_expired_sessions": frequent,
        "ingot.accounts.instance.throttles:delete_expired_throttles": frequent,
        "ingot.projects.members.service:delete_expired_memberships": hourly,
        "ingot.projects.access_tokens.service:delete_ended_bots": hourly,
        "ingot.repositories.mirrors.service:enqueue_failed_updates": hourly,
        "ingot.repositories.pull_mirrors.service:enqueue_due_pulls": frequent,
        "ingot.projects.sharing.service:delete_expired_shares": hourly,
        "ingot.projects.group_shares.service:delete_expired_group_shares": hourly,
        "ingot.projects.projects.jobs:enqueue_repository_sweep": hourly,
        **({directory_check: hourly} if settings.ldap_url else {}),
        "ingot.projects.imports.service:fail_lost_imports": frequent,
        "ingot.projects.forks.service:fail_lost_copies": frequent,
        "ingot.integrations.transfers.runs.service:fail_lost_runs": frequent,
        "ingot.repositories.ref_changes.staged:enqueue_reconciliation": minutely,
        "ingot.ci.pipelines.maintenance:enqueue_stuck_job_search": minutely,
        "ingot.ci.pipelines.auto_stop:enqueue_environment_stops": minutely,
        "ingot.ci.pipelines.maintenance:enqueue_old_ref_removal": daily,
        "ingot.projects.uploads.jobs:enqueue_upload_sweep": daily,
        "ingot.repositories.lfs.jobs:enqueue_lfs_sweep": daily,
        "ingot.ci.artifacts.jobs:enqueue_artifact_expiry": frequent,
        "ingot.ci.schedules.jobs:enqueue_overdue_schedules": frequent,
        "ingot.ci.artifacts.jobs:enqueue_artifact_sweep": daily,
        "ingot.ci.jobs.jobs:enqueue_trace_sweep": daily,
        "ingot.ci.packages.cleanup:enqueue_package_sweep": daily,
        "ingot.integrations.transfers.exports.service:fail_lost_exports": frequent,
        "ingot.integrations.transfers.exports.jobs:enqueue_export_sweep": hourly,
        **({"ingot.ci.jobs.jobs:enqueue_trace_archival": frequent} if "traces" in settings.kinds_in_bucket else {}),
    }
    return [
        *(RecurringJob(seconds, DeferredFunction(reference)) for reference, seconds in periods.items()),
        RecurringJob(frequent, partial(delete_old_events, days=settings.hook_log_days), "delete_old_webhook_events"),
    ]


def hook_dispatcher(settings: Settings, database: Database, log: Log) -> "HookDispatcher":
    """Build the dispatcher of webhook deliveries in the job process."""
    from ingot.integrations.services.message_formats import format_request
    from ingot.integrations.webhooks.delivery.dispatcher import HookDispatcher

    completion = _payload_completion(settings, database, log).value
    return HookDispatcher(database, outgoing_guard(settings), completion, settings.base_url, log, format_request)


def _payload_completion(settings: Settings, database: Database, log: Log) -> Deferred:
    reference = "ingot.integrations.webhooks.payload_completion:PayloadCompletion"
    return Deferred(reference, database, deferred_store(settings), log)


def _database_state(database: Database) -> str:
    try:
        database.read(lambda db: db.value(_PING))
    except Unavailable:  # Readiness reports it.
        return "failed"
    return "ok"
