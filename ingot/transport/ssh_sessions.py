"""Sessions of SSH clients, for the built-in server and for the forced command of OpenSSH alike."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol

from ingot.accounts.instance.limits import InstanceRateLimits
from ingot.accounts.keys.queries import find_key
from ingot.accounts.keys.tables import ssh_keys
from ingot.core.api.rate_limits import LimitedRequest
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.last_uses import LastUseTracker
from ingot.core.disk_errors import STORAGE_FULL
from ingot.core.errors import NotFound, StorageFull, Throttled, TransfersBusy, Unauthenticated, Unavailable
from ingot.core.http.transfer_slots import TransferSlots
from ingot.core.log import Log, log_failure
from ingot.core.settings import Settings
from ingot.git.core.errors import UNREADABLE_ERRORS, RepositoryBucketUnavailable
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import instance_urls_at
from ingot.transport.activity import UserActivity
from ingot.transport.backend import GitBackend, GitCommand, ServiceRequest
from ingot.transport.callers import GitCaller, caller_at, caller_by_key
from ingot.transport.exchange import EndReason, ExchangeEnd, GitClient, GitExchange
from ingot.transport.lfs_tokens import LfsOperation, lfs_authentication
from ingot.transport.policy import protocol_refusal
from ingot.transport.push_messages import ClientAddress
from ingot.transport.refusals import PROJECT_NOT_FOUND, GitRequestRefused, storage_refusal
from ingot.transport.request_bodies import ClientDisconnected
from ingot.transport.ssh_commands import SshCommand, parse_command
from ingot.transport.targets import GitTarget, find_target, target_refusal

TRANSFERS_PER_WEB_TRANSFER = 2
"""Slots of this server for each of a web worker, of which there are several."""
FAILED = 128
"""Exit status of git itself when it fails."""
_MESSAGES = {
    EndReason.TOO_LARGE: "The request is larger than allowed.",
    EndReason.MALFORMED: "Git does not understand this request.",
    EndReason.PUSH_TOO_LARGE: "The push names more refs or objects than allowed.",
    EndReason.REF_NOT_SERVED: "There is no such branch, tag or commit.",
    EndReason.ARCHIVE_TOO_LARGE: "The commit has too many files and folders.",
}


class SshChannel(GitClient, Protocol):
    """Channel of an authenticated SSH client."""

    fingerprint: str
    """Fingerprint of the client's key."""
    command: str | None
    """Command line, or None where the client wants a shell."""
    git_protocol: str
    address: str
    """Address of the client; empty if it is unknown."""

    @property
    def run_git(self) -> Callable[[GitCommand], Awaitable[int]] | None:
        """Function that lets git serve the client without this process; None if the channel has none."""

    async def send_error(self, text: str) -> None:
        """Write to the client's standard error."""

    def abort(self) -> None:
        """Close the channel without waiting for the client."""


class SshSessions:
    """Runs the sessions of authenticated clients."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self._settings = settings
        self._database = database
        self._log = log
        self._pool = ThreadPoolExecutor(4, "ssh")
        self._backend = GitBackend(settings, database, self._pool, log)
        self._activity = UserActivity(database, self._pool)
        self._usage = LastUseTracker(database, self._pool, ssh_keys.c.last_used_at)
        self._slots = TransferSlots(settings.max_transfers * TRANSFERS_PER_WEB_TRANSFER)
        self._limits = InstanceRateLimits(database)
        self._running: set[asyncio.Task[int]] = set()

    async def caller(self, fingerprint: str) -> GitCaller | None:
        """Return the caller with a key; None if the key is unknown, revoked or expired, or its user is blocked."""
        try:
            return await self._database.read_async(partial(caller_by_key, fingerprint=fingerprint), self._pool)
        except Unauthenticated:
            return None
        except Unavailable as error:  # The client is refused, and may try again.
            log_failure("key not looked up", error)
            return None

    async def fingerprint(self, key_id: int) -> str:
        """Return the fingerprint of a key; an empty text, which no key has, if it is not found."""

        def find(db: Connection) -> str:
            return find_key(db, key_id).fingerprint_sha256

        try:
            return await self._database.read_async(find, self._pool)
        except (NotFound, Unavailable):
            return ""  # The session reports that the key is unknown.

    async def run(self, channel: SshChannel) -> int:
        """Run the command of a client to its end; return the exit status."""
        return await self._tracked(self._run(channel))

    async def drain(self, seconds: float) -> None:
        """Wait until no session runs any more, or for this long."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)

    def close(self) -> None:
        """Finish pending writes and accept no more."""
        self._pool.shutdown()

    async def _tracked(self, session: Coroutine[None, None, int]) -> int:
        task = asyncio.ensure_future(session)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await task

    async def _run(self, channel: SshChannel) -> int:
        names: dict[str, str] = {"service": "", "user": ""}
        status = FAILED
        try:
            status = await self._execute(channel, names)
        except GitRequestRefused as refused:
            await self._tell(channel, refused.text)
        except Unauthenticated:  # Since the connection was authenticated.
            await self._tell(channel, "This key has been revoked.")
        except StorageFull:
            await self._tell(channel, STORAGE_FULL)
        except Throttled as error:
            await self._tell(channel, error.text or "Too many git commands. Retry later.")
        except (TransfersBusy, RepositoryBucketUnavailable) as error:
            await self._tell(channel, str(error))
        except Unavailable:  # The client is told.
            await self._tell(channel, "The server cannot answer right now. Try again in a moment.")
        except ClientDisconnected:
            pass
        except Exception as error:  # noqa: BLE001 - The last resort: log the error, and tell the client no details.
            where = "".join(traceback.format_tb(error.__traceback__))
            self._log("fault", component="ssh", error=type(error).__name__, where=where)
            full = storage_refusal(error)
            await self._tell(channel, full.text if full else "Something went wrong on the server.")
        finally:
            self._log("ssh", **names, status=status)
        return status

    async def _execute(self, channel: SshChannel, names: dict[str, str]) -> int:
        by_key = partial(caller_by_key, fingerprint=channel.fingerprint)
        authenticate = partial(caller_at, authenticate=by_key, address=channel.address)
        caller = await self._database.read_async(authenticate, self._pool)
        self._record_use(caller)
        names["user"] = caller.name
        if channel.command is None:
            display_name = caller.name if caller.is_deploy_key else f"@{caller.actor.username}"
            await channel.send(f"Welcome to Ingot, {display_name}!\n".encode())
            return 0
        command = parse_command(channel.command)
        names["service"] = command.name
        target = await self._authorize(caller, command)
        await self._count_command(caller, command, channel.address)
        if command.lfs_operation and target.project is not None:
            await channel.send(await self._lfs_authentication(caller, target.project, command.lfs_operation))
            return 0
        request = ServiceRequest(
            command.service,
            target,
            await self._backend.open(target),
            authenticate,
            "ssh",
            ClientAddress(command.path, instance_urls_at(self._settings.base_url, self._settings).ssh),
            self._settings.base_url,
            await self._backend.max_push_bytes(),
            channel.git_protocol,
        )
        async with self._slots.hold(caller.in_transfers(channel.address)):
            git_command = None if channel.run_git is None else await self._backend.command(request)
            if channel.run_git is not None and git_command is not None:
                return await channel.run_git(git_command)
            return await self._finish(channel, await GitExchange(self._backend, request, channel).run())

    async def _count_command(self, caller: GitCaller, command: SshCommand, address: str) -> None:
        """Count the command for the rate limits; raise Throttled beyond a limit."""
        limits = await self._limits.applying("ssh", "", "", self._pool)
        if limits:
            params = {"service": command.name, "path": command.path}
            limited = LimitedRequest(caller.actor, caller.in_transfers(address), command.path, params)
            await asyncio.get_running_loop().run_in_executor(self._pool, self._limits.take, limits, limited)

    async def _finish(self, channel: SshChannel, end: ExchangeEnd) -> int:
        if end.reason is EndReason.COMPLETED:
            return 0
        if end.reason is EndReason.GIT_FAILED:
            await channel.send_error(end.stderr if end.responded else f"{UNREADABLE_ERRORS}\n")
            return end.status
        if end.reason is EndReason.STALLED:  # The client's other channels on this connection may be in use.
            channel.abort()
        elif end.reason in _MESSAGES:
            await channel.send_error(f"{_MESSAGES[end.reason]}\n")
        return FAILED

    async def _tell(self, channel: SshChannel, text: str) -> None:
        try:
            await channel.send_error(f"{text}\n")
        except ClientDisconnected:
            pass

    def _record_use(self, caller: GitCaller) -> None:
        self._activity.record(caller.actor)
        if caller.key is not None:
            self._usage.note(caller.key.id)

    async def _authorize(self, caller: GitCaller, command: SshCommand) -> GitTarget:
        def find(db: Connection) -> tuple[GitTarget, str | None]:
            disabled = protocol_refusal(db, "ssh")
            if disabled is not None:
                raise GitRequestRefused(403, disabled)
            access, target = find_target(db, caller, command.path)
            if target.wiki and command.lfs_operation:
                raise NotFound("Project")
            denied = protocol_refusal(db, "ssh", target.namespace_id)
            return target, denied or target_refusal(caller, access, target, command.service)

        try:
            target, denied = await self._database.read_async(find, self._pool)
        except NotFound:
            raise GitRequestRefused(404, PROJECT_NOT_FOUND) from None
        if denied is not None:
            raise GitRequestRefused(403, denied)
        return target

    async def _lfs_authentication(self, caller: GitCaller, project: Project, operation: LfsOperation) -> bytes:
        if not project.lfs_enabled:
            raise GitRequestRefused(404, "Git LFS is not enabled for this project.")
        base_url = self._settings.base_url
        return await self._database.read_async(
            lambda db: lfs_authentication(db, caller, project, operation, base_url), self._pool
        )
