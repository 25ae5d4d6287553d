"""Composition root: builds the database, the routes, the subscribers and the HTTP components.

Modules that a server does not need to start are imported by functions when they are first needed, see "Loading on
demand" in docs/internals.md.
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
from ingot.accounts.instance.limits import InstanceRateLimits
from ingot.accounts.tokens.usage import TokenUsageTracker
from ingot.core.access.actor import Actor
from ingot.core.access.credentials import Credentials
from ingot.core.api.component import ApiComponent
from ingot.core.api.internal_client import InternalClient
from ingot.core.api.kernel import Kernel
from ingot.core.api.route_table import RouteTable
from ingot.core.api.routes import Endpoint
from ingot.core.cache import REGISTRY
from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.engine_factory import engine_for
from ingot.core.db.replicas import open_replicas
from ingot.core.db.times import Timestamp
from ingot.core.db.vault import Vault
from ingot.core.disk_probe import DiskProbe
from ingot.core.disk_space import DiskSpace
from ingot.core.errors import Unavailable
from ingot.core.events.bus import DeferredSubscribers
from ingot.core.http.body_budget import BodyBudget
from ingot.core.http.deferred_component import DeferredComponent
from ingot.core.http.frontend import HttpFrontend
from ingot.core.http.metrics import DatabaseFigures, Metrics
from ingot.core.http.request import Component
from ingot.core.http.transfer_slots import TransferSlots
from ingot.core.jobs.statistics import queue_stats
from ingot.core.late_imports import LateFunction
from ingot.core.log import Log
from ingot.core.nodes.heartbeat import Heartbeat
from ingot.core.nodes.queries import list_nodes
from ingot.core.settings import Settings
from ingot.git.core.library import recover_read
from ingot.projects.access_tokens.audit_log import TokenAuditLog
from ingot.projects.namespaces.ip_restrictions import actor_at
from ingot.server.composition import fill_ports, list_subscriptions
from ingot.server.ports.web_worker import web_worker_ports
from ingot.server.registry import endpoint_table, subscription_index
from ingot.server.sockets import SitesByHost
from ingot.server.unhandled_errors import classify_error

if TYPE_CHECKING:
    from ingot.ci.runner_protocol.polls import RunnerPolls
    from ingot.graphql.component import GraphqlComponent
    from ingot.mcp.component import McpComponent
    from ingot.packages.containers.registry_http import RegistryHttp
    from ingot.sites.serving.certificates import SiteCertificates
    from ingot.sites.serving.component import SitesComponent
    from ingot.transport.authorization import HttpAuthorization
    from ingot.transport.git_http import GitHttp
    from ingot.transport.lfs_http import LfsHttp
    from ingot.web.component import PagesComponent
    from ingot.web.files.static import StaticFiles
    from ingot.web.live.streams import LiveStreams

REQUEST_STATEMENT_SECONDS = 8.0
"""Limit of one statement of a request on PostgreSQL; more than the wait for a lock, less than clients wait."""
_PING = select(literal(1))
_HEALTH_SECONDS = 4.0
"""Time after which a database that has not answered the check counts as failed."""
_FILES_PER_GIT_TRANSFER = 4
"""Concurrent transfers of files for each git transfer; they need no process."""
# Some clients still use the older prefix for uploads, and for nothing else.
LEGACY_API_PREFIX = b"/api/v3"
_PROBED_FOLDERS = ("", "repositories", "uploads", "lfs", "artifacts", "traces", "packages")
_NEVER_MATCHES = re.compile(rb"(?!)")
_LEGACY_ROUTES = re.compile(rb"/projects/[^/]+/uploads/?")
# Requests with other paths do not cause the modules of a component to be imported.
_RUNNER_PATHS = re.compile(rb"/api/v4/jobs/.+")
_MCP_PATHS = re.compile(rb"/api/v4/mcp/?")
_GRAPHQL_PATHS = re.compile(rb"/api/graphql/?")
_REGISTRY_PATHS = re.compile(rb"/v2(?:/.*)?|/jwt/auth")
_LFS_PATHS = re.compile(rb"/.+\.git/.+")
_GIT_PATHS = re.compile(rb"/.+(?:\.git/.+|/(?:info/refs|git-upload-pack|git-receive-pack)/?)")


@LateFunction
def _actor_by_job_token() -> Callable[[Connection, str], Actor]:
    from ingot.ci.job_tokens.authentication import actor_by_job_token

    return actor_by_job_token


@LateFunction
def _actor_by_client_secret() -> Callable[[Connection, str | None, str], Actor]:
    from ingot.packages.access.authentication import actor_by_client_secret

    return actor_by_client_secret


def open_database(
    settings: Settings,
    clock: Callable[[], Timestamp] = wall_clock,
    *,
    statement_seconds: float | None = None,
    uses_replicas: bool = False,
) -> Database:
    """Open the database of an instance whose data directory exists."""
    secret = bytes.fromhex((settings.data / "secrets" / "instance.key").read_text().strip())
    subscribers = DeferredSubscribers(subscription_index())
    engine = engine_for(settings.database, statement_seconds, settings.database_direct_url, settings.node)
    replicas = open_replicas(settings.database_replicas, statement_seconds) if uses_replicas else None
    database = Database(engine, Vault(secret), subscribers, fill_ports(settings), clock, replicas)
    subscribers.subscriptions = list_subscriptions(settings, database)
    if settings.storage_in_bucket:
        # Imported on demand, because few instances have such repositories.
        from ingot.server.bucket_repositories import attach_bucket

        attach_bucket(settings, database)
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
        only_sites: bool = False,
    ) -> None:
        configure_caches(settings)
        self.only_sites = only_sites
        """Whether nothing but static sites is served."""
        self._roles = roles
        self._whole_node = whole_node
        self._health_check: asyncio.Future[dict[str, str]] | None = None
        self.database = database
        self.settings = settings
        self._log = log
        self._table = table or endpoint_table()
        self._bodies = bodies = BodyBudget()
        self._transfers = TransferSlots(settings.max_transfers * _FILES_PER_GIT_TRANSFER)
        self._limits = InstanceRateLimits(database)
        recover = partial(recover_read, settings.data / "repositories", has_copies=bool(settings.storage_in_bucket))
        self.kernel = Kernel(self._table, database, self._authenticate, self._limits, settings, bodies, recover)
        self._usage = TokenUsageTracker(database, self.kernel.writer)
        self.audit_log = TokenAuditLog(database, self.kernel.writer)
        database.ports.add(web_worker_ports(database, self.kernel.writer))
        self._api = ApiComponent(self.kernel, self._transfers, self.audit_log.note)
        self.sites = DeferredComponent(lambda: self._sites)
        """The static sites, for sockets of their own."""
        # Every component that serves paths; the first that handles a request responds to it.
        self.components: list[Component] = [
            *([self.sites] if only_sites else []),
            *([SitesByHost(settings, self.sites)] if settings.serves_sites else []),
            DeferredComponent(lambda: self.polls, _RUNNER_PATHS),
            DeferredComponent(lambda: self.mcp, _MCP_PATHS),
            self._api,
            ApiComponent(self.kernel, self._transfers, self.audit_log.note, LEGACY_API_PREFIX, _LEGACY_ROUTES),
            DeferredComponent(lambda: self.graphql, _GRAPHQL_PATHS),
            # Clients that probe for other APIs get a 404 in JSON.
            ApiComponent(self.kernel, self._transfers, self.audit_log.note, b"/api", _NEVER_MATCHES),
            DeferredComponent(lambda: self.registry, _REGISTRY_PATHS),
            DeferredComponent(lambda: self.lfs, _LFS_PATHS),
            DeferredComponent(lambda: self.git, _GIT_PATHS),
            DeferredComponent(_static_files),
            DeferredComponent(lambda: self.streams),
            DeferredComponent(lambda: self.pages),
        ]
        self._disk_probe = DiskProbe([settings.data / name for name in _PROBED_FOLDERS])
        self._disks = DiskSpace(settings)
        figures = partial(database.read, lambda db: DatabaseFigures(queue_stats(db), list_nodes(db)))
        replica_reads = database.replicas.outcomes if database.replicas is not None else None
        copies = on_disk = None
        if settings.storage_in_bucket:
            from ingot.server.bucket_repositories import copies_size, copy_stats

            copies, on_disk = partial(copy_stats, settings), partial(copies_size, settings)
        self._metrics = Metrics(metrics_folder, figures, REGISTRY, self._disks, replica_reads, copies, on_disk)
        self.front = HttpFrontend(settings, self.components, self.health, self._metrics, log, classify_error)

    @cached_property
    def polls(self) -> "RunnerPolls":
        """The calls that runners repeat."""
        from ingot.ci.runner_protocol.polls import RunnerPolls
        from ingot.projects.projects.api import repository_store

        store = repository_store(self.settings)
        return RunnerPolls(self.settings, self.database, self.kernel, self._api, store)

    @cached_property
    def graphql(self) -> "GraphqlComponent":
        """The GraphQL API."""
        from ingot.graphql.component import GraphqlComponent

        return GraphqlComponent(self.kernel, lambda: self._client)

    @cached_property
    def mcp(self) -> "McpComponent":
        """The Model Context Protocol."""
        from ingot.mcp.component import McpComponent

        return McpComponent(self.kernel, lambda: self._client)

    @cached_property
    def git(self) -> "GitHttp":
        """Git over HTTP."""
        from ingot.transport.backend import GitBackend
        from ingot.transport.fetch_counter import FetchCounter
        from ingot.transport.git_http import GitHttp

        backend = GitBackend(self.settings, self.database, self.kernel.pool, self._log)
        fetches = FetchCounter(self.database, self.kernel.writer)
        return GitHttp(backend, self._git_authorization, fetches, self.audit_log.note)

    @cached_property
    def lfs(self) -> "LfsHttp":
        """Files in Git LFS."""
        from ingot.transport.lfs_http import LfsHttp

        return LfsHttp(
            self.settings,
            self.database,
            self.kernel.pool,
            self._git_authorization,
            self._bodies,
            self._transfers,
            self._limits,
            self.audit_log.note,
        )

    @cached_property
    def registry(self) -> "RegistryHttp":
        """The container registry."""
        from ingot.packages.containers.registry_http import RegistryHttp

        pool = self.kernel.pool
        log = self.audit_log.note
        return RegistryHttp(self.settings, self.database, pool, self._bodies, self._transfers, self._limits, log)

    @cached_property
    def _git_authorization(self) -> "HttpAuthorization":
        from ingot.transport.activity import UserActivity
        from ingot.transport.authorization import HttpAuthorization

        activity = UserActivity(self.database, self.kernel.writer)
        return HttpAuthorization(self.settings, self.database, self.kernel.pool, activity, self._limits)

    @cached_property
    def pages(self) -> "PagesComponent":
        """The pages; their modules are loaded before the workers are forked, or when a page is first requested."""
        from ingot.web.component import PagesComponent

        return PagesComponent(
            self.settings, self.database, self.kernel.pool, self._client, self._bodies, self._transfers, self._limits
        )

    @cached_property
    def _sites(self) -> "SitesComponent":
        """The static sites; their modules are loaded before the fork if they are served, or with the first request."""
        from ingot.sites.serving.component import SitesComponent

        return SitesComponent(self.settings, self.database, self.kernel.pool, self._transfers)

    def preload_sites(self) -> None:
        """Load the server of static sites, if there are any: the first visitor would wait for its modules."""
        if self.settings.serves_sites:
            self._sites.preload()

    @cached_property
    def sites_front(self) -> HttpFrontend:
        """The application of the sockets of static sites, which serves nothing else."""
        return HttpFrontend(
            self.settings, [self.sites], self.health, self._metrics, self._log, classify_error, health_checks=False
        )

    @cached_property
    def certificates(self) -> "SiteCertificates":
        """The certificates of custom domains, for the socket of static sites with TLS."""
        from ingot.sites.serving.certificates import SiteCertificates

        return SiteCertificates(self.settings, self.database)

    @cached_property
    def streams(self) -> "LiveStreams":
        """The event streams of the pages, loaded with these."""
        from ingot.web.live.streams import LiveStreams

        return LiveStreams(self.database, self.kernel.pool, self._client)

    @cached_property
    def _client(self) -> InternalClient:
        return InternalClient(self._table, self.database, self.settings, self._limits, self.audit_log.note)

    def _is_loaded(self, component: str) -> bool:
        return component in vars(self)

    def _authenticate(self, db: Connection, credentials: Credentials, address: str | None) -> Actor:
        caller = self._caller(db, credentials)
        return caller if address is None else actor_at(db, caller, address)

    def _caller(self, db: Connection, credentials: Credentials) -> Actor:
        if credentials.secret is not None:
            client = _actor_by_client_secret(db, credentials.username, credentials.secret)
            self._usage.note(client.token_id)
            return client
        if credentials.token is None and credentials.job_token is not None:
            return _actor_by_job_token(db, credentials.job_token)
        actor = authenticate(db, credentials)
        self._usage.note(actor.token_id)
        return actor

    def reconcile(self) -> None:
        """Complete ref changes that a crash interrupted, before requests are served; a job retries those that fail."""
        from ingot.projects.projects.api import repository_store
        from ingot.repositories.ref_changes.apply import reconcile_all

        try:
            reconcile_all(self.database, repository_store(self.settings))
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - One damaged repository must not stop the start.
            stack = "".join(traceback.format_tb(error.__traceback__))
            self._log("reconciliation failed", error=type(error).__name__, where=stack)

    def heartbeat(self) -> Heartbeat:
        """Return the context in which this worker reports that its machine serves the web, or sites only."""
        return Heartbeat(self.settings, self.database, ["pages" if self.only_sites else "web"], self._log)

    async def health(self) -> dict[str, str]:
        """Return the current state of the database, of the disks and of each role, of this machine if it serves all."""
        if self.database.embedded:
            return self._health()
        # Never on the event loop, which also answers liveness; a check that waits serves all requests meanwhile.
        if self._health_check is None or self._health_check.done():
            self._health_check = asyncio.get_running_loop().run_in_executor(None, self._health)
        try:
            return await asyncio.wait_for(asyncio.shield(self._health_check), _HEALTH_SECONDS)
        except TimeoutError:
            return {"database": "failed"}

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
        if self._is_loaded("sites_front"):
            self.sites_front.drain()
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
        for component in ("polls", "streams", "git"):
            if self._is_loaded(component):
                getattr(self, component).close()
        self.audit_log.close()
        self.kernel.close()
        self.database.close()


def _static_files() -> "StaticFiles":
    from ingot.web.files.static import StaticFiles

    return StaticFiles()


def _database_state(database: Database) -> str:
    try:
        database.read(lambda db: db.value(_PING))
    except Unavailable:  # Readiness reports it.
        return "failed"
    return "ok"
