"""HTTP component in front of the API for the calls that runners repeat all the time.

A poll of a runner that already knows the version of the queue is answered from memory, or held until a job is queued.
"""

import asyncio
import re
from collections import OrderedDict
from functools import partial
from time import monotonic
from typing import NamedTuple

import msgspec

from ingot.ci.runner_protocol.api import LAST_UPDATE_HEADER
from ingot.ci.runner_protocol.assignment import JobOffer, request_job, return_job
from ingot.ci.runner_protocol.contacts import ContactTracker, RunnerContact
from ingot.ci.runner_protocol.params import RequestJob
from ingot.ci.runner_protocol.queue_monitor import QueueMonitor
from ingot.ci.runners.tables import Runner
from ingot.core.api.component import API_PREFIX, ApiComponent
from ingot.core.api.kernel import Kernel
from ingot.core.api.params import ParamsReader
from ingot.core.api.request_fields import BadRequest, read_body
from ingot.core.api.responses import ApiResponse, error_response, json_response
from ingot.core.db.database import Database
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Message, Receive, Request, Send, Trace
from ingot.core.http.stream import wait_for_disconnect
from ingot.core.settings import Settings
from ingot.git.maintenance.store import RepositoryStore

MAX_HELD_POLLS = 2000
"""Polls of one worker that wait at a time; others are answered at once."""
RECHECK_SECONDS = 60.0
"""Time after which the queue is searched although its version has not changed, as settings of projects may have."""
_MAX_REMEMBERED = 20_000
_MAX_BODY_BYTES = 256 * 1024
_ROUTE = b"/jobs/request"
_POLL_PATH = API_PREFIX + _ROUTE
_JOB_PATH = re.compile(re.escape(API_PREFIX) + rb"/jobs/([0-9]{1,18})(?:/trace)?")
_params = ParamsReader(RequestJob)


class _Poll(msgspec.Struct):
    token: str
    last_update: str | None = None
    system_id: str | None = None


_decode_poll = msgspec.json.Decoder(_Poll).decode


class _IdleRunner(NamedTuple):
    """A runner for which there was no job in a version of the queue."""

    version: int
    checked_at: float


class RunnerPolls:
    """Component for polls, which it may hold, and for reports on jobs, whose times it notes."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        kernel: Kernel,
        api: ApiComponent,
        store: RepositoryStore,
    ) -> None:
        self._database = database
        self._kernel = kernel
        self._api = api
        self._store = store
        self._hold_seconds = settings.runner_poll_seconds
        self._monitor = QueueMonitor(database)
        self._contacts = ContactTracker(database, kernel.writer)
        self._idle: OrderedDict[bytes, _IdleRunner] = OrderedDict()
        self._held = 0
        self._turn = asyncio.Lock()
        self._fruitless: tuple[int, set[tuple[object, ...]]] = (-1, set())
        self._draining = False

    def handles(self, request: Request) -> bool:
        """Return whether the request is a poll or a report on a job."""
        if request.path == _POLL_PATH:
            return request.method == "POST"
        return request.method in ("PATCH", "PUT") and _JOB_PATH.fullmatch(request.path) is not None

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to a request of a runner."""
        if request.path == _POLL_PATH:
            await self._serve_poll(request, send, trace)
            return
        await self._api.serve(request, send, trace)
        match = _JOB_PATH.fullmatch(request.path)
        if match is not None and trace.status in (200, 202) and self._contacts.is_due(job_id := int(match[1])):
            self._contacts.note_job(job_id)

    def drain(self) -> None:
        """Answer all held polls, and hold no more."""
        self._draining = True
        self._monitor.wake_all()

    def close(self) -> None:
        """Stop waiting for changes."""
        self._monitor.close()

    async def _serve_poll(self, request: Request, send: Send, trace: Trace) -> None:
        try:
            body = await _whole_body(request)
            poll = _decode_poll(body)
        except BadRequest as error:
            await self._respond(send, trace, error_response(error))
            return
        except (msgspec.MsgspecError, UnicodeDecodeError):
            # The API describes the error, or parses a form.
            await self._api.serve(_replayed(request, body), send, trace)
            return
        trace.route = _ROUTE.decode()
        self._monitor.start()
        digest = self._database.vault.digest(poll.token)
        response: ApiResponse | None = None
        if not self._is_unchanged(digest, poll):
            response, _ = await self._kernel.handle(_replayed(request, body), _ROUTE)
            version = _version_of(response)
            if version is not None:
                self._remember(digest, version)
        if response is None or response.status in (201, 204):
            self._note_contact(digest, poll, body, request.origin.ip)
        if response is None or (response.status == 204 and poll.last_update == str(_version_of(response))):
            response = await self._hold(request, body, int(poll.last_update or 0))
        await self._respond(send, trace, response)

    def _is_unchanged(self, digest: bytes, poll: _Poll) -> bool:
        """Return whether the last search for this runner was in the current version of the queue."""
        idle, version = self._idle.get(digest), self._monitor.version
        return (
            idle is not None
            and idle.version == version
            and poll.last_update == str(version)
            and monotonic() - idle.checked_at < RECHECK_SECONDS
        )

    def _remember(self, digest: bytes, version: int) -> None:
        self._idle[digest] = _IdleRunner(version, monotonic())
        self._idle.move_to_end(digest)
        if len(self._idle) > _MAX_REMEMBERED:
            self._idle.popitem(last=False)

    def _note_contact(self, digest: bytes, poll: _Poll, body: bytes, ip: str) -> None:
        contact = RunnerContact(digest, poll.system_id)
        if self._contacts.is_due(contact):
            params: RequestJob = _params.read(msgspec.json.decode(body))
            self._contacts.note_runner(contact, params.info, ip)

    async def _hold(self, request: Request, body: bytes, version: int) -> ApiResponse:
        """Wait for a job of a runner that has seen a version of the queue, as long as polls may be held."""
        if self._hold_seconds == 0 or self._held >= MAX_HELD_POLLS or self._draining:
            return _no_job(version)
        params: RequestJob = _params.read(msgspec.json.decode(body))
        disconnected = asyncio.ensure_future(wait_for_disconnect(request.receive))
        self._held += 1
        try:
            async with asyncio.timeout(self._hold_seconds):
                return await self._await_job(request, params, version, disconnected)
        except TimeoutError:
            return _no_job(version if self._monitor.version is None else self._monitor.version)
        finally:
            self._held -= 1
            disconnected.cancel()

    async def _await_job(
        self, request: Request, params: RequestJob, version: int, disconnected: "asyncio.Future[None]"
    ) -> ApiResponse:
        signature: tuple[object, ...] | None = None
        while True:
            changed = asyncio.ensure_future(self._monitor.wait_for_change(version))
            try:
                await asyncio.wait((changed, disconnected), return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
            if disconnected.done() or self._draining:
                return _no_job(version)
            current = self._monitor.version
            if current is None:  # The database does not answer; the runner tries again.
                return _no_job(version)
            if current == version:
                continue
            async with self._turn:
                if disconnected.done():
                    return _no_job(version)
                if signature is not None and self._is_fruitless(current, signature):
                    version = current
                    continue
                offer = await self._search(request, params)
            if isinstance(offer, ApiResponse):
                return offer
            if offer.payload is not None and disconnected.done():
                self._kernel.pool.submit(self._database.write, partial(return_job, job_id=offer.payload.id))
                return _no_job(version)
            if offer.payload is not None:
                return json_response(201, offer.payload)
            version, signature = offer.version, _signature(offer.runner)
            self._note_fruitless(version, signature)
            self._remember(offer.runner.token_digest, version)

    async def _search(self, request: Request, params: RequestJob) -> JobOffer | ApiResponse:
        """Search the queue again; return the result, or the response if there is nothing to wait for.

        The search is completed even if the time is over, because a job that was taken must be answered.
        """
        work = partial(request_job, self._database, self._store, params, request.origin.base)
        search = asyncio.get_running_loop().run_in_executor(self._kernel.pool, work)
        try:
            return await asyncio.shield(search)
        except asyncio.CancelledError:
            offer = await search
            return _no_job(offer.version) if offer.payload is None else json_response(201, offer.payload)
        except Exception as error:  # Errors without a specified response are raised again.
            response = error_response(error)
            if response is None:
                raise
            return response

    def _is_fruitless(self, version: int, signature: tuple[object, ...]) -> bool:
        """Return whether a runner with equal properties found no job in this version."""
        return self._fruitless[0] == version and signature in self._fruitless[1]

    def _note_fruitless(self, version: int, signature: tuple[object, ...]) -> None:
        if self._fruitless[0] != version:
            self._fruitless = (version, set())
        self._fruitless[1].add(signature)

    async def _respond(self, send: Send, trace: Trace, response: ApiResponse | None) -> None:
        if response is not None:
            headers = [*response.headers, (b"x-content-type-options", b"nosniff")]
            await send_response(send, trace, response.status, headers, response.body)


def _signature(runner: Runner) -> tuple[object, ...]:
    """Return what the choice of jobs depends on; runners of projects have different projects."""
    own = bytes(runner.token_digest) if runner.runner_type == "project_type" else runner.group_id
    return runner.runner_type, own, runner.tags, runner.run_untagged, runner.access_level, runner.active


def _no_job(version: int) -> ApiResponse:
    return ApiResponse(204, b"", [(LAST_UPDATE_HEADER, b"%d" % version)])


def _version_of(response: ApiResponse) -> int | None:
    if response.status != 204:
        return None
    return next((int(value) for name, value in response.headers if name == LAST_UPDATE_HEADER), None)


async def _whole_body(request: Request) -> bytes:
    return b"".join([piece async for piece in read_body(request.receive, request.headers, _MAX_BODY_BYTES)])


def _replayed(request: Request, body: bytes) -> Request:
    """Return a request whose body, which was read, is received again, uncompressed."""
    receive: Receive = _Replay(body, request.receive)
    headers = {name: value for name, value in request.headers.items() if name != b"content-encoding"}
    headers[b"content-length"] = b"%d" % len(body)
    return Request(request.method, request.path, request.query, headers, request.origin, receive)


class _Replay:
    """Receives a body that was read before."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """Return the body, then what follows it."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}
