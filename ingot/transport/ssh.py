"""Git over SSH: three services, a greeting, and nothing else that anybody could run."""

import asyncio
import shlex
import socket
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import asyncssh

from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import NotFound, Unauthenticated, Unavailable
from ingot.git.repository import Repository
from ingot.log import Log
from ingot.projects.api import store_of
from ingot.projects.tables import Project
from ingot.settings import Settings
from ingot.transport.activity import Activity
from ingot.transport.callers import Caller, Prove, by_key
from ingot.transport.children import PIECE, Child
from ingot.transport.host_keys import host_keys
from ingot.transport.policy import SERVICES, Service, refusal
from ingot.transport.receiving import Push
from ingot.transport.serving import protocol_environment, service_config

USER = "git"
LOGIN_SECONDS = 30
KEEP_ALIVE_SECONDS = 60
MOST_AT_ONCE = 48
_REFUSED = 128
"""What git itself exits with."""
# What the interpreter's cryptography does in one call for a whole packet; others take several times as long.
_CIPHERS = ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes256-ctr"]


class _Refused(Exception):
    """What the person reads instead of git's answer."""


class _Call(NamedTuple):
    """What a client asks for, once it is known to be allowed."""

    service: Service
    project: Project
    repository: Repository
    user: str


class _Connection(asyncssh.SSHServer):
    """Lets in whoever proves to hold a key that we know."""

    def __init__(self, door: "SshDoor") -> None:
        self._door = door
        self._connection: asyncssh.SSHServerConnection | None = None
        self._offered = ""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Begin a connection."""
        self._connection = conn

    def begin_auth(self, username: str) -> bool:  # noqa: ARG002 - Whoever it is has to prove it.
        """Nobody comes in without a proof."""
        return True

    def public_key_auth_supported(self) -> bool:
        """The only way in."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Whether we know a key that is offered; the proof that it is theirs comes after this."""
        self._offered = key.get_fingerprint("sha256")
        return username == USER and self._door.knows(self._offered)

    def auth_completed(self) -> None:
        """The key that was offered last is the one that was proven."""
        if self._connection is not None:
            self._connection.set_extra_info(proven_key=self._offered)


class SshDoor:
    """Serves git clients over SSH."""

    def __init__(self, settings: Settings, database: Database, log: Log) -> None:
        self._settings = settings
        self._database = database
        self._log = log
        self._pool = ThreadPoolExecutor(4, "ssh")
        self._activity = Activity(database, self._pool)
        self._places = asyncio.Semaphore(MOST_AT_ONCE)
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
            encryption_algs=_CIPHERS,
            login_timeout=LOGIN_SECONDS,
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

    def knows(self, fingerprint: str) -> bool:
        """Whether a key opens anything."""
        try:
            self._database.read(partial(by_key, fingerprint=fingerprint))
        except (Unauthenticated, Unavailable):
            return False
        return True

    async def _serve(self, process: "asyncssh.SSHServerProcess[bytes]") -> None:
        task = asyncio.ensure_future(self._answer(process))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        await task

    async def _answer(self, process: "asyncssh.SSHServerProcess[bytes]") -> None:
        status = _REFUSED
        service, user = "", ""
        try:
            prove = partial(by_key, fingerprint=process.get_extra_info("proven_key", ""))
            caller = self._database.read(prove)
            self._activity.note(caller.actor)
            user = caller.actor.username
            if process.command is None and process.subsystem is None:
                process.stdout.write(f"Welcome to Ingot, {_named(caller)}!\n".encode())
                status = 0
                return
            call = self._call(process, caller)
            service = call.service
            async with self._places:
                status = await self._run(process, call, prove)
        except _Refused as refused:
            process.stderr.write(f"{refused}\n".encode())
        except Unauthenticated:  # The key or its user went while the connection was open.
            process.stderr.write(b"This key does not open anything any more.\n")
        except Unavailable:
            process.stderr.write(b"The server cannot answer right now. Try again in a moment.\n")
        except (asyncssh.Error, BrokenPipeError, ConnectionError):
            pass  # The client has gone.
        except Exception as error:  # noqa: BLE001 - The last line of defence: log it, and tell the client nothing of it.
            self._log("fault", door="ssh", error=type(error).__name__)
            process.stderr.write(b"Something went wrong on the server.\n")
        finally:
            self._log("ssh", service=service, user=user, status=status)
            process.exit(status)

    def _call(self, process: "asyncssh.SSHServerProcess[bytes]", caller: Caller) -> _Call:
        service, path = _parse(process.command if process.subsystem is None else None)

        def look(db: Connection) -> tuple[Project, str | None]:
            here, project = caller.find(db, path)
            return project, refusal(caller, here, project, service)

        try:
            project, denied = self._database.read(look)
        except NotFound:
            raise _Refused(
                "The project you were looking for could not be found or you don't have permission to view it."
            ) from None
        if denied is not None:
            raise _Refused(denied)
        repository = store_of(self._settings).open(project.repository_key)
        return _Call(service, project, repository, caller.actor.username)

    async def _run(self, process: "asyncssh.SSHServerProcess[bytes]", call: _Call, prove: Prove) -> int:
        push = None
        if call.service == "git-receive-pack":
            push = Push(
                self._database,
                self._pool,
                call.repository,
                call.project,
                prove,
                via="ssh",
                base_url=self._settings.base_url,
                max_file_mb=self._settings.max_file_mb,
            )
        env = protocol_environment(_asked_protocol(process)) | (push.environment if push else {})
        async with await Child.start(
            [call.service.removeprefix("git-"), "."],
            call.repository.path,
            config=service_config(call.service, call.project, self._settings),
            env=env,
            pass_fds=push.descriptors if push else (),
        ) as child:
            if push is not None:
                await push.begin()
            feeding = asyncio.ensure_future(child.feed(_pieces(process)))
            leaving = asyncio.ensure_future(_end_with(process, child, push))
            try:
                return await _pump(process, child, push)
            finally:
                feeding.cancel()
                leaving.cancel()
                if push is not None:
                    await push.leave(child)


async def _pump(process: "asyncssh.SSHServerProcess[bytes]", child: Child, push: Push | None) -> int:
    while piece := await child.read():
        for part in [piece] if push is None else push.passes(piece):
            process.stdout.write(part)
        await process.stdout.drain()
    status = await child.wait()
    for part in [] if push is None else await push.end():
        process.stdout.write(part)
    if status != 0:
        process.stderr.write(child.said.encode())
    await process.stdout.drain()
    return status


async def _end_with(process: "asyncssh.SSHServerProcess[bytes]", child: Child, push: Push | None) -> None:
    """End git at once when the client goes, unless its push was accepted: that takes moments, and is let finish."""
    await process.channel.wait_closed()
    if push is None or not push.accepted:
        child.kill()


async def _pieces(process: "asyncssh.SSHServerProcess[bytes]") -> AsyncIterator[bytes]:
    while piece := await process.stdin.read(PIECE):
        yield piece


def _parse(command: str | None) -> tuple[Service, str]:
    """Which service on which path; whatever else a client wants to run is refused, and never gets near a shell."""
    try:
        words = shlex.split(command or "")
    except ValueError:
        words = []
    if len(words) == 3 and words[0] == "git":
        words = [f"git-{words[1]}", words[2]]
    for service in SERVICES:
        if len(words) == 2 and words[0] == service:
            path = words[1].strip("/").removesuffix(".git")
            if path and "\0" not in path and not path.startswith("-"):
                return service, path
    raise _Refused("Only git can be used here: clone, fetch, push and archive.")


def _asked_protocol(process: "asyncssh.SSHServerProcess[bytes]") -> str:
    """The one thing of a client's environment that counts."""
    wanted: Any = process.env.get("GIT_PROTOCOL", "")
    return wanted.decode("latin-1") if isinstance(wanted, bytes) else str(wanted)


def _named(caller: Caller) -> str:
    return f"@{caller.actor.username}" if caller.actor.known else "deploy key"
