"""Git over SSH: three services, a greeting, the way to large files, and nothing else that anybody could run."""

import asyncio
import shlex
import socket
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import asyncssh

from ingot.accounts.keys.usage import KeyUsageTracker
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.errors import NotFound, Unauthenticated, Unavailable
from ingot.git.core.errors import UNREADABLE_ERRORS, MissingRepository
from ingot.git.core.repository import Repository
from ingot.log import Log, log_failure
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.tables import Project
from ingot.projects.projects.views import instance_urls_at
from ingot.settings import Settings
from ingot.transport.activity import ActivityTracker
from ingot.transport.archive_requests import ArchiveRequestRefused, check_archive_request
from ingot.transport.bodies import BodyTooLarge
from ingot.transport.callers import Authenticate, GitCaller, caller_by_key
from ingot.transport.children import GitProcess
from ingot.transport.greeting import RequestedPath
from ingot.transport.host_keys import host_keys
from ingot.transport.lfs_tokens import Operation, lfs_authentication
from ingot.transport.packet_lines import MalformedPacket
from ingot.transport.policy import SERVICES, Service, protocol_refusal
from ingot.transport.receiving import Push
from ingot.transport.serving import hidden_refs, max_body_bytes, protocol_environment, service_config, withheld_refs
from ingot.transport.ssh_packets import CIPHERS, quicken_channel, quicken_connection
from ingot.transport.talking import Process, SshTransfer, TransferTimeout
from ingot.transport.targets import GitTarget, find_target, open_target_repository, target_refusal
from ingot.transport.wants import ObjectNotServed, check_wants
from ingot.transport.wiki_pushes import WikiPush

USER = "git"
LOGIN_TIMEOUT_SECONDS = 30
KEEP_ALIVE_SECONDS = 60
MAX_CONCURRENT_TRANSFERS = 48
MAX_UNAUTHENTICATED_CONNECTIONS = 200
"""Connections that have not proven yet who they are; more are turned away, so that they take nobody's memory."""
_REFUSED_EXIT_STATUS = 128
"""What git itself exits with."""
_MACS = ["hmac-sha2-256-etm@openssh.com", "hmac-sha2-512-etm@openssh.com", "hmac-sha2-256", "hmac-sha2-512"]


class _CommandRefused(Exception):
    """What the person reads instead of git's answer."""


class _GitCommand(NamedTuple):
    """What a client asks for."""

    service: Service
    path: str
    large_files: Operation | None = None
    """Where it does not want the service itself, but the way to what belongs to it."""


class _AuthorizedCommand(NamedTuple):
    """The same, once it is known to be allowed."""

    service: Service
    path: str
    target: GitTarget
    repository: Repository


class _Connection(asyncssh.SSHServer):
    """Lets in whoever proves to hold a key that we know."""

    def __init__(self, door: "SshServer") -> None:
        self._door = door
        self._connection: asyncssh.SSHServerConnection | None = None
        self._offered = ""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Begin a connection."""
        self._connection = conn
        quicken_connection(conn)
        if len(self._door.knocking) >= MAX_UNAUTHENTICATED_CONNECTIONS:
            conn.abort()
        self._door.knocking.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - Why does not matter.
        """End a connection."""
        self._door.knocking.discard(self)

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - Whoever it is has to prove it.
        """Nobody comes in without a proof."""
        return True

    def public_key_auth_supported(self) -> bool:
        """The only way in."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Whether we know a key that is offered; the proof that it is theirs comes after this."""
        self._offered = key.get_fingerprint("sha256")
        return username == USER and self._door.is_known_key(self._offered)

    def auth_completed(self) -> None:
        """The key that was offered last is the one that was proven."""
        self._door.knocking.discard(self)
        if self._connection is not None:
            self._connection.set_extra_info(proven_key=self._offered)


class SshServer:
    """Serves git clients over SSH."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self._settings = settings
        self._database = database
        self._log = log
        self._pool = ThreadPoolExecutor(4, "ssh")
        self._activity = ActivityTracker(database, self._pool)
        self._usage = KeyUsageTracker(database, self._pool)
        self._places = asyncio.Semaphore(MAX_CONCURRENT_TRANSFERS)
        self.knocking: set[_Connection] = set()
        self._running: set[asyncio.Task[None]] = set()

    async def listen(self, listener: socket.socket) -> asyncssh.SSHAcceptor:
        """Serve on a socket that is open already, until the result is closed."""
        return await asyncssh.listen(
            sock=listener,
            server_factory=lambda: _Connection(self),
            server_host_keys=[str(path) for path in host_keys(self._settings.data)],
            process_factory=self._serve,
            encoding=None,
            allow_pty=False,
            line_editor=False,
            agent_forwarding=False,
            x11_forwarding=False,
            allow_scp=False,
            sftp_factory=None,
            compression_algs=["none"],
            encryption_algs=CIPHERS,
            mac_algs=_MACS,
            login_timeout=LOGIN_TIMEOUT_SECONDS,
            keepalive_interval=KEEP_ALIVE_SECONDS,
            server_version="Ingot",
        )

    async def drain(self, seconds: float) -> None:
        """Wait until no transfer runs any more, or the time is over."""
        if self._running:
            await asyncio.wait(self._running, timeout=seconds)

    def close(self) -> None:
        """Let what is being recorded finish, and take no more."""
        self._pool.shutdown()

    def is_known_key(self, fingerprint: str) -> bool:
        """Whether a key opens anything."""
        try:
            self._database.read(partial(caller_by_key, fingerprint=fingerprint))
        except Unauthenticated:
            return False
        except Unavailable as error:  # The client is refused, and may try again.
            log_failure("key not looked up", error)
            return False
        return True

    async def _serve(self, process: Process) -> None:
        quicken_channel(process.channel, process.get_extra_info("connection"))
        task = asyncio.ensure_future(self._answer(process))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await task

    async def _answer(self, process: Process) -> None:
        status = _REFUSED_EXIT_STATUS
        service, user = "", ""
        try:
            prove = partial(caller_by_key, fingerprint=process.get_extra_info("proven_key", ""))
            caller = self._database.read(prove)
            self._note(caller)
            user = caller.name
            if process.command is None and process.subsystem is None:
                process.stdout.write(f"Welcome to Ingot, {_caller_name(caller)}!\n".encode())
                status = 0
                return
            wish = _parse_command(process.command if process.subsystem is None else None)
            target = self._admit(caller, wish)
            service = "git-lfs-authenticate" if wish.large_files else wish.service
            if wish.large_files:
                process.stdout.write(self._lfs_authentication(caller, target.project, wish.large_files))
                status = 0
                return
            call = _AuthorizedCommand(wish.service, wish.path, target, await self._open(target))
            async with self._places:
                status = await self._run(process, call, prove)
        except _CommandRefused as refused:
            process.stderr.write(f"{refused}\n".encode())
        except Unauthenticated:  # The key or its user went while the connection was open.
            process.stderr.write(b"This key does not open anything any more.\n")
        except Unavailable:  # The client is told.
            process.stderr.write(b"The server cannot answer right now. Try again in a moment.\n")
        except BodyTooLarge:
            process.stderr.write(b"This is more than may be sent at once.\n")
        except ObjectNotServed as error:
            process.stdout.write(error.answer)
        except MalformedPacket:
            process.stderr.write(b"Git does not understand this request.\n")
        except ArchiveRequestRefused:
            process.stderr.write(b"There is no such branch, tag or commit.\n")
        except TransferTimeout:  # What it does not read would never leave; the rest of the connection may be in use.
            process.channel.abort()
        except (asyncssh.Error, BrokenPipeError, ConnectionError):
            pass  # The client has gone.
        except Exception as error:  # noqa: BLE001 - The last line of defence: log it, and tell the client nothing of it.
            self._log("fault", door="ssh", error=type(error).__name__)
            process.stderr.write(b"Something went wrong on the server.\n")
        finally:
            self._log("ssh", service=service, user=user, status=status)
            process.exit(status)

    def _note(self, caller: GitCaller) -> None:
        self._activity.note(caller.actor)
        if caller.key is not None:
            self._usage.note(caller.key.id)

    def _admit(self, caller: GitCaller, wish: _GitCommand) -> GitTarget:
        def look(db: Connection) -> tuple[GitTarget, str | None]:
            closed = protocol_refusal(db, "ssh")
            if closed is not None:
                raise _CommandRefused(closed)
            if "/" not in wish.path:  # Else it would be taken for a project's number.
                raise NotFound("Project")
            access, target = find_target(db, caller, wish.path)
            if target.wiki and wish.large_files:
                raise NotFound("Project")
            return target, target_refusal(caller, access, target, wish.service)

        try:
            target, denied = self._database.read(look)
        except NotFound:
            raise _CommandRefused(
                "The project you were looking for could not be found or you don't have permission to view it."
            ) from None
        if denied is not None:
            raise _CommandRefused(denied)
        return target

    async def _open(self, target: GitTarget) -> Repository:
        opening = partial(open_target_repository, self._database, repository_store(self._settings), target)
        try:
            # Only a wiki's may have to be made.
            return await asyncio.get_running_loop().run_in_executor(self._pool, opening) if target.wiki else opening()
        except MissingRepository:
            self._log("repository missing", project_id=target.project.id)
            raise _CommandRefused(UNREADABLE_ERRORS) from None
        except NotFound:
            raise _CommandRefused("The project is gone.") from None

    def _lfs_authentication(self, caller: GitCaller, project: Project, operation: Operation) -> bytes:
        if not project.lfs_enabled:
            raise _CommandRefused("Git LFS is not enabled for this project.")
        base_url = self._settings.base_url
        return self._database.read(lambda db: lfs_authentication(db, caller, project, operation, base_url))

    async def _run(self, process: Process, call: _AuthorizedCommand, authenticate: Authenticate) -> int:
        env = protocol_environment(_requested_protocol(process))
        args = [call.service.removeprefix("git-"), "."]
        config = service_config(call.service, call.target.project, call.repository.path, self._settings)
        push = self._push(call, authenticate) if call.service == "git-receive-pack" else None
        if push is not None:
            starting = push.start(args, config, env)
        else:
            starting = GitProcess.start(args, call.repository.path, config=config, env=env)
        async with await starting as child:
            talk = SshTransfer(process, child, push, max_body_bytes(call.service, self._settings))
            if call.service == "git-upload-archive":
                hidden = hidden_refs(call.target.project)
                return await talk.run(lambda pieces: check_archive_request(pieces, call.repository, hidden))
            withheld = withheld_refs(call.target.project) if call.service == "git-upload-pack" else ()
            if withheld:
                return await talk.run(lambda pieces: check_wants(pieces, call.repository, withheld, self._pool))
            return await talk.run()

    def _push(self, call: _AuthorizedCommand, authenticate: Authenticate) -> Push:
        kind = WikiPush if call.target.wiki else Push
        return kind(
            self._database,
            self._pool,
            call.repository,
            call.target.project,
            authenticate,
            via="ssh",
            asked=RequestedPath(call.path, instance_urls_at(self._settings.base_url, self._settings).ssh),
            base_url=self._settings.base_url,
            max_file_mb=self._settings.max_file_mb,
        )


def _parse_command(command: str | None) -> _GitCommand:
    """Which service on which path; whatever else a client wants to run is refused, and never gets near a shell."""
    try:
        words = shlex.split(command or "")
    except ValueError:
        words = []
    if len(words) == 3 and words[0] == "git":
        words = [f"git-{words[1]}", words[2]]
    wish = None
    for service in SERVICES:
        if len(words) == 2 and words[0] == service:
            wish = _GitCommand(service, _parse_path(words[1]))
    if len(words) == 3 and words[0] == "git-lfs-authenticate":
        if words[2] == "upload":
            wish = _GitCommand("git-receive-pack", _parse_path(words[1]), "upload")
        elif words[2] == "download":
            wish = _GitCommand("git-upload-pack", _parse_path(words[1]), "download")
    if wish is None or not wish.path or "\0" in wish.path or wish.path.startswith("-"):
        raise _CommandRefused("Only git can be used here: clone, fetch, push and archive.")
    return wish


def _parse_path(word: str) -> str:
    return word.strip("/").removesuffix(".git")


def _requested_protocol(process: Process) -> str:
    """The one thing of a client's environment that counts."""
    wanted: Any = process.env.get("GIT_PROTOCOL", "")
    return wanted.decode("latin-1") if isinstance(wanted, bytes) else str(wanted)


def _caller_name(caller: GitCaller) -> str:
    return caller.name if caller.is_deploy_key else f"@{caller.actor.username}"
