"""Git over HTTP: the smart protocol on ``/<namespace>/<project>.git``, and nothing else of a repository."""

import asyncio
import base64
import binascii
import re
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.errors import NotFound, Throttled, Unauthenticated
from ingot.git.repository import Repository
from ingot.http.front import respond
from ingot.http.request import Door, Header, Request, Send, Trace
from ingot.http.streaming import until_gone
from ingot.log import Log
from ingot.projects.api import store_of
from ingot.projects.tables import Project
from ingot.settings import Settings
from ingot.transport.activity import Activity
from ingot.transport.bodies import ClientGone, TooLarge, TooSlow, Unreadable, read_body
from ingot.transport.callers import Prove, by_secret, by_user, nobody
from ingot.transport.children import Child
from ingot.transport.policy import Service, refusal
from ingot.transport.receiving import Push
from ingot.transport.serving import protocol_environment, service_config
from ingot.users.sessions.service import check_password

MOST_AT_ONCE = 24
"""Transfers in one worker; whoever waits longer than the next is asked to come back."""
WAIT_SECONDS = 20.0
RETRY_AFTER_SECONDS = 10
SEND_SECONDS = 120.0
_MEGABYTE = 2**20
_MOST_BYTES_OF_WANTS = 64 * _MEGABYTE
_CALL = re.compile(rb"/(?P<path>.+?)(?:\.git)?/(?P<call>info/refs|git-upload-pack|git-receive-pack)/?")
_INSIDE = re.compile(rb"/.+\.git/.+")
_SERVICES: dict[bytes, Service] = {b"git-upload-pack": "git-upload-pack", b"git-receive-pack": "git-receive-pack"}
_NO_CACHE: list[Header] = [
    (b"cache-control", b"no-cache, max-age=0, must-revalidate"),
    (b"pragma", b"no-cache"),
    (b"expires", b"Fri, 01 Jan 1980 00:00:00 GMT"),
    (b"x-content-type-options", b"nosniff"),
]
_CHALLENGE: Header = (b"www-authenticate", b'Basic realm="Ingot"')


class Refused(Exception):
    """An answer in words that git shows in the terminal."""

    def __init__(self, status: int, text: str, *headers: Header) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.headers = headers


class Admitted(NamedTuple):
    """A caller who may use the service."""

    prove: Prove
    project: Project
    repository: Repository


class GitDoor:
    """Serves git clients; whoever asks for anything else is sent on."""

    def __init__(
        self, settings: Settings, database: Database, pool: Executor, log: Log, activity: Activity, otherwise: Door
    ) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._log = log
        self._activity = activity
        self._otherwise = otherwise
        self._places = asyncio.Semaphore(MOST_AT_ONCE)

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Answer one request."""
        called = _CALL.fullmatch(request.path)
        if called is None and not _INSIDE.fullmatch(request.path):
            await self._otherwise.serve(request, send, trace)
            return
        service = _service(request, called["call"]) if called else None
        try:
            if called is None or service is None:
                # What lies in a repository is only served by the smart protocol.
                raise Refused(404, "Not found. This server speaks the smart HTTP protocol only.")
            trace.route = f"/:path.git/{service}"
            admitted = await self._admit(request, called["path"], service, trace)
            await self._serve(request, send, trace, service, admitted, advertise=called["call"] == b"info/refs")
        except Refused as refused:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), *_NO_CACHE, *refused.headers]
            await respond(send, trace, refused.status, headers, f"{refused.text}\n".encode())

    async def _admit(self, request: Request, raw_path: bytes, service: Service, trace: Trace) -> Admitted:
        """Find out who calls, and whether they may; raises what the client is told otherwise."""
        try:
            path = unquote(raw_path.decode("ascii"), errors="strict")
        except UnicodeDecodeError:
            raise Refused(404, "Not found.") from None
        known, prove = await self._prove(request)
        try:
            project, denied, user = self._database.read(partial(_look, prove=prove, path=path, service=service))
        except NotFound:
            if not known:
                # Whether it is hidden or not there shows only to those who may know.
                raise _unauthorized() from None
            text = "The project you were looking for could not be found or you don't have permission to view it."
            raise Refused(404, text) from None
        except Unauthenticated:
            raise _unauthorized() from None
        trace.user = user
        if denied is not None:
            raise Refused(403, denied) if known else _unauthorized()
        return Admitted(prove, project, store_of(self._settings).open(project.repository_key))

    async def _prove(self, request: Request) -> tuple[bool, Prove]:
        """How the caller proves who they are: by a token where that is one, else by the password."""
        brought = _basic(request.headers)
        if brought is None:
            return False, nobody
        username, secret = brought
        for name, word in ((username, secret), ("", username)):
            by_token = partial(by_secret, username=name, secret=word)
            try:
                caller = self._database.read(by_token)
            except Unauthenticated:
                continue
            self._activity.note(caller.actor)
            return True, by_token
        try:
            check = partial(check_password, self._database, username, secret, request.origin.ip)
            user = await asyncio.get_running_loop().run_in_executor(self._pool, check)
        except Unauthenticated:
            raise _unauthorized() from None
        except Throttled as error:
            raise Refused(
                429, "Too many failed sign-ins. Retry later.", (b"retry-after", b"%d" % error.retry_after)
            ) from None
        by_password = partial(by_user, user_id=user.id)
        self._activity.note(self._database.read(by_password).actor)
        return True, by_password

    async def _serve(
        self, request: Request, send: Send, trace: Trace, service: Service, admitted: Admitted, *, advertise: bool
    ) -> None:
        if request.method != ("GET" if advertise else "POST"):
            raise Refused(405, "Method not allowed.", (b"allow", b"GET" if advertise else b"POST"))
        kind = f"application/x-{service}-request".encode()
        if not advertise and request.headers.get(b"content-type") != kind:
            raise Refused(415, f"The content type must be {kind.decode()}.")
        try:
            await asyncio.wait_for(self._places.acquire(), WAIT_SECONDS)
        except TimeoutError:
            text = "The server is busy with other transfers. Retry later."
            raise Refused(503, text, (b"retry-after", b"%d" % RETRY_AFTER_SECONDS)) from None
        try:
            transfer = Transfer(self, request, send, trace, service, admitted)
            await (transfer.advertise() if advertise else transfer.exchange())
        except TimeoutError:  # The client has stopped reading; there is nobody to tell.
            pass
        finally:
            self._places.release()

    def push(self, request: Request, admitted: Admitted) -> Push:
        """What a push needs."""
        return Push(
            self._database,
            self._pool,
            admitted.repository,
            admitted.project,
            admitted.prove,
            via="http",
            base_url=request.origin.base,
            max_file_mb=self._settings.max_file_mb,
        )

    def config(self, service: Service, project: Project) -> list[tuple[str, str]]:
        """What git is told for a service."""
        return service_config(service, project, self._settings)

    def most_bytes(self, service: Service) -> int:
        """How much a client may send."""
        return self._settings.max_push_mb * _MEGABYTE if service == "git-receive-pack" else _MOST_BYTES_OF_WANTS

    def report(self, trace: Trace, service: Service, status: int, said: str) -> None:
        """Say in the log that git failed, and what it said."""
        self._log("git failed", request_id=trace.request_id, service=service, status=status, said=said)


class Transfer:
    """One request that a git process answers."""

    def __init__(
        self, door: GitDoor, request: Request, send: Send, trace: Trace, service: Service, admitted: Admitted
    ) -> None:
        self._door = door
        self._request = request
        self._send = send
        self._trace = trace
        self._service = service
        self._admitted = admitted
        self._path = admitted.repository.path
        self._config = door.config(service, admitted.project)
        self._env = protocol_environment(request.headers.get(b"git-protocol", b"").decode("latin-1"))

    async def advertise(self) -> None:
        """Say which references there are, or what the server can."""
        args = [self._service.removeprefix("git-"), "--stateless-rpc", "--advertise-refs", "."]
        body = bytearray()
        if self._env.get("GIT_PROTOCOL", "")[:9] != "version=2":
            line = b"# service=%s\n" % self._service.encode()
            body += b"%04x%s0000" % (len(line) + 4, line)
        async with await Child.start(args, self._path, config=self._config, env=self._env) as child:
            await child.feed(_nothing())
            gone = asyncio.ensure_future(until_gone(self._request.receive))
            try:
                await self._head("advertisement")
                while not gone.done() and (piece := await child.read()):
                    await self._piece(bytes(body) + piece)
                    body.clear()
                await self._end(gone)
            finally:
                gone.cancel()

    async def exchange(self) -> None:
        """Let the client and git talk."""
        if self._service == "git-receive-pack":
            push = self._door.push(self._request, self._admitted)
            await self._run(push, push.environment, push.descriptors)
        else:
            await self._run(None, {}, ())

    async def _run(self, push: Push | None, env: dict[str, str], descriptors: tuple[int, ...]) -> None:
        args = [self._service.removeprefix("git-"), "--stateless-rpc", "."]
        async with await Child.start(
            args, self._path, config=self._config, env={**self._env, **env}, pass_fds=descriptors
        ) as child:
            if push is not None:
                await push.begin()
            encoding = self._request.headers.get(b"content-encoding", b"").lower()
            body = read_body(self._request.receive, encoding, self._door.most_bytes(self._service))
            feeding = asyncio.ensure_future(self._feed(child, body, push))
            try:
                await self._answer(child, feeding, push)
            finally:
                feeding.cancel()
                if push is not None:
                    await push.leave(child)

    async def _feed(self, child: Child, body: AsyncIterator[bytes], push: Push | None) -> None:
        """Pass the body on, then watch whether the client stays; end git at once when it goes."""
        try:
            await child.feed(body)
            await until_gone(self._request.receive)
        except ClientGone:
            pass
        except (TooLarge, Unreadable, TooSlow, TimeoutError):
            child.kill()
            raise
        if push is None or not push.accepted:
            child.kill()

    async def _answer(self, child: Child, feeding: "asyncio.Future[None]", push: Push | None) -> None:
        while piece := await child.read():
            for part in [piece] if push is None else push.passes(piece):
                await self._piece(part)
        status = await child.wait()
        for part in [] if push is None else await push.end():
            await self._piece(part)
        if feeding.done() and not self._trace.answered:
            self._refuse_body(feeding)
        if status != 0 and not feeding.done():
            self._door.report(self._trace, self._service, status, child.said)
        await self._end(feeding)

    def _refuse_body(self, feeding: "asyncio.Future[None]") -> None:
        error = feeding.exception()
        if isinstance(error, TooLarge):
            raise Refused(413, "This is more than may be sent at once.")
        if isinstance(error, Unreadable):
            raise Refused(400, "The body is not what its encoding says.")
        if isinstance(error, TooSlow | TimeoutError):
            raise Refused(408, "The body came too slowly.")

    async def _head(self, what: str) -> None:
        kind = f"application/x-{self._service}-{what}".encode()
        headers = [(b"content-type", kind), *_NO_CACHE, (b"x-request-id", self._trace.request_id.encode())]
        self._trace.status = 200
        self._trace.answered = True
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})

    async def _piece(self, piece: bytes) -> None:
        if not self._trace.answered:
            await self._head("result")
        # A client that stops reading must not keep a process and a place for ever.
        async with asyncio.timeout(SEND_SECONDS):
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _end(self, gone: "asyncio.Future[None]") -> None:
        if not self._trace.answered:
            await self._head("result")
        if not gone.done():
            await self._send({"type": "http.response.body", "body": b""})


def _look(db: Connection, prove: Prove, path: str, service: Service) -> tuple[Project, str | None, str]:
    caller = prove(db)
    here, project = caller.find(db, path)
    return project, refusal(caller, here, project, service), caller.actor.username


def _service(request: Request, call: bytes) -> Service | None:
    if call != b"info/refs":
        return _SERVICES.get(call)
    for part in request.query.split(b"&"):
        if part.startswith(b"service="):
            return _SERVICES.get(part.removeprefix(b"service="))
    return None


def _basic(headers: dict[bytes, bytes]) -> tuple[str, str] | None:
    """Name and secret, where both were sent as they should be; a token as bearer counts too."""
    kind, _, value = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() == b"bearer":
        return "oauth2", value.strip().decode("latin-1")
    if b"private-token" in headers:
        return "", headers[b"private-token"].decode("latin-1").strip()
    if kind.lower() != b"basic":
        return None
    try:
        name, _, secret = base64.b64decode(value.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return None if not name and not secret else (name.replace("\0", ""), secret)


def _unauthorized() -> Refused:
    text = (
        "HTTP Basic: Access denied. Use your password, or a token with the scope read_repository or write_repository."
    )
    return Refused(401, text, _CHALLENGE)


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
