"""Runs a request through the contract's order of answers: route, credential, caller, parameters, subject, rule."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Protocol, TypeVar

from ingot.core.access.actor import Actor
from ingot.core.access.credentials import Credentials
from ingot.core.access.rules import require
from ingot.core.access.scopes import has_any_scope
from ingot.core.api.body_budget import BodyBudget
from ingot.core.api.endpoint_call import EndpointCall, EndpointRunner
from ingot.core.api.paging import page_headers
from ingot.core.api.ranges import content_response
from ingot.core.api.request_fields import BadRequest, close_uploads, parse_body, parse_query
from ingot.core.api.responses import (
    ApiResponse,
    Header,
    InsufficientScope,
    encode,
    error_response,
    json_response,
    with_etag,
)
from ingot.core.api.router import Router
from ingot.core.api.routes import (
    BODY_LIMIT,
    AlternateResponse,
    ContentResponse,
    Endpoint,
    RawResponse,
    StreamedResponse,
)
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.paging import Listing
from ingot.core.http.request import Request
from ingot.errors import Failure, NotFound, Unauthenticated, Unavailable
from ingot.git.core.errors import MissingRepository
from ingot.log import log_failure
from ingot.offload import WouldBlock, forbid_blocking
from ingot.settings import Settings

T = TypeVar("T")
Authenticate = Callable[[Connection, Credentials], Actor]
QUEUE_SECONDS = 10.0
MAX_BODY_BYTES = 192 * 2**20
_NO_CREDENTIALS = Credentials()
_JSON_ONLY: list[Header] = [(b"content-type", b"application/json")]


class RateLimits(Protocol):
    """How many calls a caller may make; off unless configured."""

    @property
    def active(self) -> bool:
        """Whether any limit is configured."""

    def take(self, db: Connection, actor: Actor, ip: str) -> list[Header]:
        """Count one call, and say what is left; raises ``Throttled`` beyond the limit."""


class _RequestCall(EndpointCall, kw_only=True):
    """A call that came as a request."""

    request: Request
    credentials: Credentials = _NO_CREDENTIALS


class Kernel:
    """Reads run inline on the event loop, writes in the one writer thread, long calls in a small pool."""

    def __init__(
        self,
        router: Router[Endpoint],
        database: Database,
        authenticate: Authenticate,
        limits: RateLimits,
        settings: Settings,
    ) -> None:
        self.router = router
        self._database = database
        self._authenticate = authenticate
        self._limits = limits
        self._runner = EndpointRunner(database, settings)
        self._bodies = BodyBudget(MAX_BODY_BYTES)
        self.writer = ThreadPoolExecutor(1, "writer")
        self.pool = ThreadPoolExecutor(4, "pool")

    async def handle(self, request: Request, route: bytes) -> tuple[ApiResponse, EndpointCall | None]:
        """Answer one request, and say what is known of it; an exception that leaves here is a fault of ours."""
        arrival = None
        try:
            endpoint, path = self.router.match(request.method, route)
            arrival = _RequestCall(endpoint, path, request.origin, request=request)
            return await self._handle(arrival), arrival
        except Exception as error:  # Whatever has no answer below is raised again.
            refusals = (arrival.endpoint.denied, arrival.endpoint.conflict) if arrival else ()
            answer = error_response(error, *refusals)
            if isinstance(error, MissingRepository) and arrival is not None:
                answer = self._deleted_answer(arrival, error)
            if answer is None:
                raise
            return answer, arrival

    def _deleted_answer(self, arrival: _RequestCall, error: MissingRepository) -> ApiResponse | None:
        """Return the 404 of a request whose subject was deleted while it ran; None if only the files are missing."""
        if arrival.endpoint.on is None:
            return None
        try:
            self._database.read(partial(self._runner.subject, arrival))
        except NotFound as gone:
            log_failure("deleted during the request", error, route=arrival.endpoint.path)
            return error_response(gone)
        except (Failure, MissingRepository, Unavailable):  # Then ``error`` is raised and logged as a fault.
            return None
        return None

    async def _handle(self, arrival: _RequestCall) -> ApiResponse:
        endpoint, request = arrival.endpoint, arrival.request
        arrival.sent = parse_query(request.query)
        arrival.credentials = read_credentials(request.headers, arrival.sent, endpoint.writes)
        if not (endpoint.writes or endpoint.heavy or endpoint.staged or self._limits.active):
            # The common case: one unit of work, no other thread, nothing to wait for.
            return await self._inline_if_short(partial(self._database.read, partial(self._read, arrival)))
        try:
            async with self._bodies.hold(_body_bytes_in_memory(endpoint, request.headers)):
                return await self._handle_in_threads(arrival)
        finally:
            close_uploads(arrival.sent)

    async def _handle_in_threads(self, arrival: _RequestCall) -> ApiResponse:
        quota: list[Header] = []
        limited = self._limits.active
        try:
            if arrival.endpoint.writes:
                await self._authorize_with_body(arrival)
            else:
                self._admit(arrival)
        finally:
            # Whoever is refused has called too: guesses count like everything else.
            if limited:
                take = partial(self._limits.take, actor=arrival.actor, ip=arrival.origin.ip)
                quota = await self._run_in(self.writer, partial(self._database.write, take))
        arrival.read_params()
        answer = await self._perform(arrival)
        answer.headers.extend(quota)
        return answer

    async def _authorize_with_body(self, arrival: _RequestCall) -> None:
        """Let a writer in, with what the body adds to what was sent; the token or ``sudo`` may be one of its fields.

        Who brings a token outside of it is looked at first, so that nobody else makes us read a body.
        """
        outside = arrival.credentials
        if outside.token is not None:
            self._admit(arrival)
        try:
            arrival.sent |= await self._body(arrival)
        except BadRequest:
            if outside.token is None:
                self._admit(arrival)  # No token can be read in it: it is that of nobody.
            raise
        arrival.credentials = read_credentials(arrival.request.headers, arrival.sent, writes=True)
        if outside.token is None or arrival.credentials != outside:
            self._admit(arrival)

    def _admit(self, arrival: _RequestCall) -> None:
        self._database.read(partial(self._meet, arrival))

    def _meet(self, arrival: _RequestCall, db: Connection) -> None:
        """Find out who calls, and stop a caller who gets no further, whatever the parameters are."""
        endpoint = arrival.endpoint
        actor = arrival.actor = self._authenticate(db, arrival.credentials)
        if not actor.known:
            if not endpoint.open:
                raise Unauthenticated
        elif not has_any_scope(actor, endpoint.scopes):
            raise InsufficientScope(endpoint.scopes)
        elif endpoint.checks_caller_only:
            require(endpoint.may(actor))

    async def _perform(self, arrival: _RequestCall) -> ApiResponse:
        endpoint = arrival.endpoint
        if endpoint.staged:
            return _with_etag(await self._run_in(self.pool, partial(self._run_staged, arrival)), arrival)
        if endpoint.prepare is not None:
            await self._run_in(self.pool, partial(self._runner.prepare, arrival))
        work = partial(self._run, arrival)
        if endpoint.writes:
            return await self._write(arrival, partial(self._database.write, work))
        reading = partial(self._database.read, work)
        answer = await (self._run_in(self.pool, reading) if endpoint.heavy else self._inline_if_short(reading))
        return _with_etag(answer, arrival)

    async def _write(self, arrival: _RequestCall, writing: Callable[[], ApiResponse]) -> ApiResponse:
        try:
            return await self._run_in(self.pool if arrival.endpoint.heavy else self.writer, writing)
        except Failure:
            # Only a refusal is known to have changed nothing: a commit that was not heard of may have worked.
            for step in arrival.undo:
                with suppress(Unavailable):
                    await self._run_in(self.pool, step)
            raise

    def _read(self, arrival: _RequestCall, db: Connection) -> ApiResponse:
        self._meet(arrival, db)
        arrival.read_params()
        return _with_etag(self._run(arrival, db), arrival)

    async def _inline_if_short(self, reading: Callable[[], ApiResponse]) -> ApiResponse:
        """Read on the event loop; what turns out to take long there is begun anew in a thread."""
        try:
            with forbid_blocking():
                return reading()
        except WouldBlock:
            return await self._run_in(self.pool, reading)

    def _run(self, arrival: _RequestCall, db: Connection) -> ApiResponse:
        return _to_response(arrival, self._runner.run(arrival, db))

    def _run_staged(self, arrival: _RequestCall) -> ApiResponse:
        return _to_response(arrival, self._runner.stage(arrival))

    async def _body(self, arrival: _RequestCall) -> dict[str, Any]:
        headers = arrival.request.headers
        if b"content-length" not in headers and b"transfer-encoding" not in headers:
            return {}
        limit = arrival.endpoint.body_limit
        if not isinstance(limit, int):
            limit = self._database.read(partial(self._body_limit_for, limit, arrival.credentials))
        return await parse_body(arrival.request.receive, headers, limit)

    def _body_limit_for(self, ask: Callable[[Connection], int], credentials: Credentials, db: Connection) -> int:
        return ask(db) if self._authenticate(db, credentials).known else BODY_LIMIT

    async def _run_in(self, executor: Executor, work: Callable[[], T]) -> T:
        """Run in another thread; what waited too long for its turn is not begun any more."""
        asked = monotonic()

        def begin() -> T:
            if monotonic() - asked > QUEUE_SECONDS:
                raise Unavailable("Too many writes are waiting")
            return work()

        return await asyncio.get_running_loop().run_in_executor(executor, begin)

    def close(self) -> None:
        """Let what runs finish, and take no more."""
        self.writer.shutdown()
        self.pool.shutdown()


def _body_bytes_in_memory(endpoint: Endpoint, headers: dict[bytes, bytes]) -> int:
    """How much of a body is going to be in memory; files of a form are not, they go to the disk."""
    if not endpoint.writes or headers.get(b"content-type", b"").startswith(b"multipart/"):
        return 0
    declared = headers.get(b"content-length", b"")
    if declared.isdigit() and b"content-encoding" not in headers:
        return int(declared[:18])
    return BODY_LIMIT if declared or b"transfer-encoding" in headers else 0


def read_credentials(headers: dict[bytes, bytes], sent: dict[str, Any], writes: bool) -> Credentials:
    """What the request brings, wherever it put it; a token counts before a cookie."""
    token = _header(headers, b"private-token")
    if b"authorization" in headers and token is None:
        authorization = _header(headers, b"authorization") or ""
        if authorization[:7].lower() == "bearer ":
            token = authorization[7:].strip()
    sudo = _header(headers, b"sudo")
    if sent:
        token = _scalar_text(sent.get("private_token")) or _scalar_text(sent.get("access_token")) or token
        sudo = _scalar_text(sent.get("sudo")) or sudo
    job_token = _header(headers, b"job-token")
    session = _cookie(headers, b"_service_session") if b"cookie" in headers and not token else None
    if token is None and job_token is None and session is None and sudo is None:
        return _NO_CREDENTIALS
    return Credentials(
        token=token,
        job_token=job_token,
        session=session,
        csrf=_header(headers, b"x-csrf-token"),
        sudo=sudo,
        writes=writes,
    )


def _header(headers: dict[bytes, bytes], name: bytes) -> str | None:
    value = headers.get(name)
    return value.decode("latin-1").strip() or None if value else None


def _scalar_text(value: Any) -> str | None:
    """A parameter that is one word or number; a list or hash proves nothing."""
    return str(value) or None if isinstance(value, str | int) and not isinstance(value, bool) else None


def _cookie(headers: dict[bytes, bytes], name: bytes) -> str | None:
    for part in headers.get(b"cookie", b"").split(b";"):
        key, _, value = part.strip().partition(b"=")
        if key == name:
            return value.decode("latin-1")
    return None


def _with_etag(answer: ApiResponse, arrival: _RequestCall) -> ApiResponse:
    return with_etag(answer, arrival.request.headers.get(b"if-none-match"))


def _to_response(arrival: _RequestCall, result: Any) -> ApiResponse:
    endpoint, request = arrival.endpoint, arrival.request
    if type(result) is Listing:
        url = request.origin.url + request.path.decode("ascii")
        return ApiResponse(endpoint.status, encode(result.items), _JSON_ONLY + page_headers(result, url, request.query))
    if type(result) is RawResponse:
        return ApiResponse(
            endpoint.status, result.body, [(b"content-type", result.content_type.encode()), *result.headers]
        )
    if type(result) is AlternateResponse:
        return json_response(result.status, result.content)
    if type(result) is ContentResponse:
        return content_response(result, request)
    if type(result) is StreamedResponse:
        length = [] if result.length is None else [(b"content-length", b"%d" % result.length)]
        headers = [(b"content-type", result.content_type.encode()), *result.headers, *length]
        return ApiResponse(endpoint.status, b"", headers, result.pieces)
    if result is None and (endpoint.returns is None or endpoint.method == "DELETE"):
        return ApiResponse(endpoint.status, b"", [])
    return json_response(endpoint.status, result)
