"""Shared parts of all git exchanges: opening repositories, and the git command of a service."""

import asyncio
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ingot.accounts.instance.settings import GitProtocol
from ingot.core.db.database import Database
from ingot.core.errors import NotFound
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.git.core.command import clean_environment, run_git
from ingot.git.core.errors import COPY_REMOVED, UNREADABLE_ERRORS, MissingRepository
from ingot.git.core.refs import await_refs
from ingot.git.core.repository import Repository
from ingot.git.core.shared_disks import on_shared_disk
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.clone_bundles import clone_bundles
from ingot.projects.projects.queries import project_or_none
from ingot.repositories.wikis.owners import owner_kind
from ingot.transport.callers import Authenticate
from ingot.transport.git_services import (
    bundle_config,
    max_push_bytes,
    protocol_environment,
    service_config,
    withheld_refs,
)
from ingot.transport.policy import Service
from ingot.transport.push import Push
from ingot.transport.push_messages import ClientAddress
from ingot.transport.refusals import PROJECT_DELETED, GitRequestRefused
from ingot.transport.targets import GitTarget, open_target_repository
from ingot.transport.wiki_push import WikiPush


class ServiceRequest(NamedTuple):
    """Authorized request to a git service."""

    service: Service
    target: GitTarget
    repository: Repository
    authenticate: Authenticate
    protocol: GitProtocol
    address: ClientAddress
    base_url: str
    max_push_bytes: int
    git_protocol: str = ""
    """Value of ``GIT_PROTOCOL`` or of the header ``Git-Protocol``, as the client sent it."""
    request_id: str = ""
    visited: str = ""
    """Mirrored projects through which a push came, as another instance has sent them."""


class GitCommand(NamedTuple):
    """Command that serves a request without any check of the bytes that are exchanged."""

    argv: list[str]
    cwd: Path
    env: dict[str, str]


class GitBackend:
    """Opens repositories and prepares git processes for requests."""

    def __init__(self, settings: Settings, database: Database, pool: Executor, log: Log) -> None:
        self.settings = settings
        self.pool = pool
        self.log = log
        self._database = database
        self._store = repository_store(settings)
        self._bundles = clone_bundles(settings)

    async def open(self, target: GitTarget) -> Repository:
        """Open the repository of a target; raise ``GitRequestRefused`` if it is missing."""
        opening = partial(open_target_repository, self._database, self._store, target)
        try:
            # The repository of a wiki may have to be created, and a copy of one in a bucket updated, which blocks.
            repository = (
                await asyncio.get_running_loop().run_in_executor(self.pool, opening)
                if target.wiki or self._is_in_bucket(target)
                else opening()
            )
        except MissingRepository:
            raise await self.missing(target) from None
        except NotFound:
            raise GitRequestRefused(404, PROJECT_DELETED) from None
        if on_shared_disk(repository.path):
            await asyncio.get_running_loop().run_in_executor(self.pool, await_refs, repository.path)
        return repository

    def _is_in_bucket(self, target: GitTarget) -> bool:
        return target.project is not None and self._store.is_in_bucket(target.project.repository_key)

    async def missing(self, target: GitTarget) -> GitRequestRefused:
        """Return the refusal for a missing repository: its owner was just deleted, or the repository was lost."""
        project = target.project
        if project is not None:
            find = partial(project_or_none, project_id=project.id)
            if await self._database.read_async(find, self.pool) is None:
                return GitRequestRefused(404, PROJECT_DELETED)
        if self._is_in_bucket(target):
            return GitRequestRefused(503, COPY_REMOVED)
        self.log("repository missing", kind=owner_kind(target.owner), id=target.owner.id)
        return GitRequestRefused(503, UNREADABLE_ERRORS)

    def push(self, request: ServiceRequest) -> Push:
        """Prepare a push."""
        kind = WikiPush if request.target.wiki else Push
        return kind(
            self._database,
            self.pool,
            self._store,
            request.repository,
            request.target.owner,
            request.authenticate,
            via=request.protocol,
            address=request.address,
            base_url=request.base_url,
            max_file_mb=self.settings.max_file_mb,
            visited=request.visited,
        )

    async def max_push_bytes(self) -> int:
        """Return the size of the largest push."""
        return await self._database.read_async(partial(max_push_bytes, settings=self.settings), self.pool)

    def config(self, request: ServiceRequest) -> list[tuple[str, str]]:
        """Return the git configuration for a request."""
        config = service_config(request.service, request.target.project, request.max_push_bytes)
        if request.service == "git-upload-pack" and request.git_protocol.startswith("version=2"):
            config += bundle_config(self._bundles.url(request.repository.path))
        return config

    async def command(self, request: ServiceRequest) -> GitCommand | None:
        """Return the command for a request that needs no check; None for pushes, archives and withheld objects.

        Raise ``GitRequestRefused`` for a damaged repository, whose error message of git would not help the user.
        """
        # While a client fetches from a copy of a repository in a bucket, this process holds a lock.
        is_copy = request.repository.ref_store is not None
        if request.service != "git-upload-pack" or withheld_refs(request.target.project) or is_copy:
            return None
        probe = partial(run_git, ["rev-parse", "--git-dir"], request.repository.path, check=False)
        outcome = await asyncio.get_running_loop().run_in_executor(self.pool, probe)
        if outcome.status != 0:
            self.log("git failed", service=request.service, status=outcome.status, stderr=outcome.stderr)
            raise GitRequestRefused(503, UNREADABLE_ERRORS)
        env = clean_environment(self.config(request), protocol_environment(request.git_protocol))
        return GitCommand(["git", "upload-pack", "."], request.repository.path, env)
