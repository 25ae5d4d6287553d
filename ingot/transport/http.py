"""Git over HTTP: the smart protocol on ``/<namespace>/<project>.git``, and nothing else of a repository."""

import asyncio
import re
from collections.abc import AsyncIterator
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from ingot.core.db.database import Database
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Component, Header, Request, Send, Trace
from ingot.core.http.stream import wait_for_disconnect
from ingot.core.http.transfer_rate import TransferTooSlow
from ingot.errors import NotFound, Unavailable
from ingot.git.core.errors import UNREADABLE_ERRORS, MissingRepository
from ingot.git.core.repository import Repository
from ingot.log import Log
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import project_or_none
from ingot.projects.projects.tables import Project
from ingot.settings import Settings
from ingot.transport.admission import GitAuthorizer, GitRequestRefused, service_unavailable
from ingot.transport.bodies import BodyNotDecodable, BodyTooLarge, read_body
from ingot.transport.callers import Authenticate
from ingot.transport.children import GitProcess
from ingot.transport.greeting import RequestedPath
from ingot.transport.packet_lines import MalformedPacket
from ingot.transport.policy import Service
from ingot.transport.receiving import Push
from ingot.transport.serving import max_body_bytes, protocol_environment, service_config, withheld_refs
from ingot.transport.targets import GitTarget, open_target_repository
from ingot.transport.wants import ObjectNotServed, check_wants
from ingot.transport.wiki_pushes import WikiPush

MAX_CONCURRENT_REQUESTS = 24
"""Transfers in one worker; whoever waits longer than the next is asked to come back."""
QUEUE_TIMEOUT_SECONDS = 20.0
SEND_TIMEOUT_SECONDS = 120.0
_SERVICE_PATH = re.compile(rb"/(?P<path>.+?)(?:\.git)?/(?P<call>info/refs|git-upload-pack|git-receive-pack)/?")
_REPOSITORY_FILE_PATH = re.compile(rb"/.+\.git/.+")
_PROJECT_GONE = "The project is gone."
_SERVICES: dict[bytes, Service] = {b"git-upload-pack": "git-upload-pack", b"git-receive-pack": "git-receive-pack"}
_NO_CACHE: list[Header] = [
    (b"cache-control", b"no-cache, max-age=0, must-revalidate"),
    (b"pragma", b"no-cache"),
    (b"expires", b"Fri, 01 Jan 1980 00:00:00 GMT"),
    (b"x-content-type-options", b"nosniff"),
]


class AuthorizedRequest(NamedTuple):
    """A caller who may use the service."""

    authenticate: Authenticate
    target: GitTarget
    repository: Repository
    path: str
    """By which they came."""


class GitHttpComponent:
    """Serves git clients; whoever asks for anything else is sent on."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        pool: Executor,
        log: Log,
        admission: GitAuthorizer,
        otherwise: Component,
    ) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._log = log
        self._admission = admission
        self._otherwise = otherwise
        self._places = asyncio.Semaphore(MAX_CONCURRENT_REQUESTS)

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Answer one request."""
        called = _SERVICE_PATH.fullmatch(request.path)
        if called is None and not _REPOSITORY_FILE_PATH.fullmatch(request.path):
            await self._otherwise.serve(request, send, trace)
            return
        service = _service(request, called["call"]) if called else None
        try:
            if called is None or service is None:
                # What lies in a repository is only served by the smart protocol.
                raise GitRequestRefused(404, "Not found. This server speaks the smart HTTP protocol only.")
            trace.route = f"/:path.git/{service}"
            claim = await self._admission.claim(request)
            target = self._admission.authorize_target(claim, called["path"], service, trace)
            path = unquote(called["path"].decode("ascii"))
            admitted = AuthorizedRequest(claim.authenticate, target, await self._open(target), path)
            await self._serve(request, send, trace, service, admitted, advertise=called["call"] == b"info/refs")
        except GitRequestRefused as refused:
            headers = [(b"content-type", b"text/plain; charset=utf-8"), *_NO_CACHE, *refused.headers]
            await send_response(send, trace, refused.status, headers, f"{refused.text}\n".encode())

    async def _open(self, target: GitTarget) -> Repository:
        opening = partial(open_target_repository, self._database, repository_store(self._settings), target)
        try:
            # Only a wiki's may have to be made.
            return await asyncio.get_running_loop().run_in_executor(self._pool, opening) if target.wiki else opening()
        except MissingRepository:
            raise self._missing_repository(target) from None
        except NotFound:
            raise GitRequestRefused(404, _PROJECT_GONE) from None
        except Unavailable:
            raise service_unavailable("The server cannot answer right now. Retry later.") from None

    def _missing_repository(self, target: GitTarget) -> GitRequestRefused:
        """What is said of a repository that is not there: its project was deleted a moment ago, or we have lost it."""
        if self._database.read(partial(project_or_none, project_id=target.project.id)) is None:
            return GitRequestRefused(404, _PROJECT_GONE)
        self._log("repository missing", project_id=target.project.id)
        return GitRequestRefused(500, UNREADABLE_ERRORS)

    async def _serve(
        self,
        request: Request,
        send: Send,
        trace: Trace,
        service: Service,
        admitted: AuthorizedRequest,
        *,
        advertise: bool,
    ) -> None:
        if request.method != ("GET" if advertise else "POST"):
            raise GitRequestRefused(405, "Method not allowed.", (b"allow", b"GET" if advertise else b"POST"))
        kind = f"application/x-{service}-request".encode()
        if not advertise and request.headers.get(b"content-type") != kind:
            raise GitRequestRefused(415, f"The content type must be {kind.decode()}.")
        try:
            await asyncio.wait_for(self._places.acquire(), QUEUE_TIMEOUT_SECONDS)
        except TimeoutError:
            raise service_unavailable("The server is busy with other transfers. Retry later.") from None
        try:
            transfer = GitHttpTransfer(self, request, send, trace, service, admitted)
            await (transfer.advertise() if advertise else transfer.exchange())
        except TimeoutError:  # The client has stopped reading; there is nobody to tell.
            pass
        except FileNotFoundError:
            if trace.answered or admitted.repository.path.exists():
                raise
            raise self._missing_repository(admitted.target) from None
        except Unavailable:
            if trace.answered:
                raise
            raise service_unavailable("The server cannot answer right now. Retry later.") from None
        finally:
            self._places.release()

    def push(self, request: Request, admitted: AuthorizedRequest) -> Push:
        """What a push needs."""
        kind = WikiPush if admitted.target.wiki else Push
        return kind(
            self._database,
            self._pool,
            admitted.repository,
            admitted.target.project,
            admitted.authenticate,
            via="http",
            asked=RequestedPath(admitted.path, f"{request.origin.base}/"),
            base_url=request.origin.base,
            max_file_mb=self._settings.max_file_mb,
        )

    def config(self, service: Service, project: Project, repository: Repository) -> list[tuple[str, str]]:
        """What git is told for a service."""
        return service_config(service, project, repository.path, self._settings)

    def max_body_bytes(self, service: Service) -> int:
        """How much a client may send."""
        return max_body_bytes(service, self._settings)

    def checked(self, pieces: AsyncIterator[bytes], repository: Repository, project: Project) -> AsyncIterator[bytes]:
        """What a client asks for, where it may not have all that is there."""
        hidden = withheld_refs(project)
        return check_wants(pieces, repository, hidden, self._pool) if hidden else pieces

    def report(self, trace: Trace, service: Service, status: int, said: str) -> None:
        """Say in the log that git failed, and what it said."""
        self._log("git failed", request_id=trace.request_id, service=service, status=status, said=said)


class GitHttpTransfer:
    """One request that a git process answers."""

    def __init__(
        self,
        door: GitHttpComponent,
        request: Request,
        send: Send,
        trace: Trace,
        service: Service,
        admitted: AuthorizedRequest,
    ) -> None:
        self._door = door
        self._request = request
        self._send = send
        self._trace = trace
        self._service = service
        self._admitted = admitted
        self._path = admitted.repository.path
        self._config = door.config(service, admitted.target.project, admitted.repository)
        self._env = protocol_environment(request.headers.get(b"git-protocol", b"").decode("latin-1"))

    async def advertise(self) -> None:
        """Say which references there are, or what the server can."""
        args = [self._service.removeprefix("git-"), "--stateless-rpc", "--advertise-refs", "."]
        body = bytearray()
        if self._env.get("GIT_PROTOCOL", "")[:9] != "version=2":
            line = b"# service=%s\n" % self._service.encode()
            body += b"%04x%s0000" % (len(line) + 4, line)
        async with await GitProcess.start(args, self._path, config=self._config, env=self._env) as child:
            await child.feed(_empty_body())
            gone = asyncio.ensure_future(wait_for_disconnect(self._request.receive))
            try:
                piece = await child.read()
                if not piece:
                    self._door.report(self._trace, self._service, await child.wait(), child.said)
                    raise GitRequestRefused(500, UNREADABLE_ERRORS)
                await self._head("advertisement")
                while piece and not gone.done():
                    await self._piece(bytes(body) + piece)
                    body.clear()
                    piece = await child.read()
                await self._end(gone)
            finally:
                gone.cancel()

    async def exchange(self) -> None:
        """Let the client and git talk."""
        push = self._door.push(self._request, self._admitted) if self._service == "git-receive-pack" else None
        args = [self._service.removeprefix("git-"), "--stateless-rpc", "."]
        if push is not None:
            starting = push.start(args, self._config, self._env)
        else:
            starting = GitProcess.start(args, self._path, config=self._config, env=self._env)
        async with await starting as child:
            feeding = asyncio.ensure_future(self._feed(child))
            watching = asyncio.ensure_future(self._watch(child, feeding, push))
            try:
                await self._answer(child, feeding, watching, push)
            finally:
                watching.cancel()
                feeding.cancel()
                if push is not None:
                    await push.clean_up(child)

    async def _feed(self, child: GitProcess) -> None:
        """Pass the body on; git ends at once where that is not what it should be."""
        encoding = self._request.headers.get(b"content-encoding", b"").lower()
        body = read_body(self._request.receive, encoding, self._door.max_body_bytes(self._service))
        if self._service == "git-upload-pack":
            body = self._door.checked(body, self._admitted.repository, self._admitted.target.project)
        try:
            await child.feed(body)
        except (BodyTooLarge, BodyNotDecodable, TransferTooSlow, TimeoutError, ObjectNotServed, MalformedPacket):
            child.kill()
            raise

    async def _watch(self, child: GitProcess, feeding: "asyncio.Future[None]", push: Push | None) -> None:
        """See whether the client stays after it has sent all; end git at once when it goes."""
        await asyncio.wait([feeding])
        if feeding.exception() is None:
            await wait_for_disconnect(self._request.receive)
        if push is None or not push.accepted:
            child.kill()

    async def _answer(
        self, child: GitProcess, feeding: "asyncio.Future[None]", watching: "asyncio.Future[None]", push: Push | None
    ) -> None:
        piece = await child.read()
        if push is not None:
            # Git may complain of the first bytes already; whether all of them may be sent is said first.
            await asyncio.wait([feeding])
            self._refuse(feeding.exception())
        while piece:
            for part in [piece] if push is None else push.filter_output(piece):
                await self._piece(part)
            piece = await child.read()
        status = await child.wait()
        for part in [] if push is None else await push.end(status):
            await self._piece(part)
        if status != 0 and not watching.done():
            self._door.report(self._trace, self._service, status, child.said)
        if status != 0 and not self._trace.answered:
            # Git has ended without a word to the client, who perhaps still sends; what it sends tells why.
            await asyncio.wait([feeding])
            self._refuse(feeding.exception())
            if feeding.exception() is None:
                raise GitRequestRefused(400, "Git does not understand this request.")
        error = feeding.exception() if feeding.done() else None
        if not self._trace.answered:
            self._refuse(error)
        if isinstance(error, ObjectNotServed):
            await self._piece(error.answer)
        if isinstance(error, ObjectNotServed | MalformedPacket):  # The client has not gone, and hears that this is all.
            await self._send({"type": "http.response.body", "body": b""})
        else:
            await self._end(watching)

    def _refuse(self, error: BaseException | None) -> None:
        if isinstance(error, BodyTooLarge):
            raise GitRequestRefused(413, "This is more than may be sent at once.")
        if isinstance(error, BodyNotDecodable):
            raise GitRequestRefused(400, "The body is not what its encoding says.")
        if isinstance(error, MalformedPacket):
            raise GitRequestRefused(400, "Git does not understand this request.")
        if isinstance(error, TransferTooSlow | TimeoutError):
            raise GitRequestRefused(408, "The body came too slowly.")

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
        async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _end(self, gone: "asyncio.Future[None]") -> None:
        if not self._trace.answered:
            await self._head("result")
        if not gone.done():
            await self._send({"type": "http.response.body", "body": b""})


def _service(request: Request, call: bytes) -> Service | None:
    if call != b"info/refs":
        return _SERVICES.get(call)
    for part in request.query.split(b"&"):
        if part.startswith(b"service="):
            return _SERVICES.get(part.removeprefix(b"service="))
    return None


async def _empty_body() -> AsyncIterator[bytes]:
    return
    yield b""
