"""Request handling in the specified order of checks: route, credentials, caller, parameters, subject, permission."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from ingot.core.access.actor import Actor
from ingot.core.access.credentials import Credentials
from ingot.core.access.rules import require
from ingot.core.access.scopes import has_any_scope
from ingot.core.api.cached_responses import cached_response
from ingot.core.api.endpoint_call import EndpointCall, EndpointRunner
from ingot.core.api.granular_permissions import within_permission
from ingot.core.api.paging import page_headers
from ingot.core.api.ranges import content_response
from ingot.core.api.rate_limits import LimitedRequest, RateLimits
from ingot.core.api.request_credentials import (
    NO_CREDENTIALS,
    header_params,
    read_client_credentials,
    read_credentials,
    runner_token,
)
from ingot.core.api.request_fields import BadRequest, close_uploads, parse_body, parse_query
from ingot.core.api.responses import (
    ApiResponse,
    Header,
    InsufficientScope,
    conditional,
    encode,
    error_response,
    json_response,
    with_etag,
    with_headers,
)
from ingot.core.api.route_table import RouteTable
from ingot.core.api.routes import (
    AlternateResponse,
    BodyContext,
    ContentResponse,
    Endpoint,
    RawResponse,
    StreamedResponse,
)
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.paging import Listing
from ingot.core.disk_errors import RETRY_PAUSES, is_storage_full
from ingot.core.errors import Failure, NotFound, StorageFull, Unauthenticated, Unavailable
from ingot.core.http.body_budget import ANONYMOUS_BODY_LIMIT, BodyBudget, BodyCharge
from ingot.core.http.request import Request
from ingot.core.http.transfer_slots import caller_of
from ingot.core.log import log_failure
from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.core.settings import Settings

T = TypeVar("T")
Authenticate = Callable[[Connection, Credentials, str | None], Actor]
"""Returns the caller with credentials, at an address; None stands for any address."""
QUEUE_SECONDS = 30.0
"""Time that a request may wait for a thread; as long as a request may wait for its turn to change a branch."""
_EMBEDDED_THREADS = 1, 4
"""Threads for writes and for other calls: a file has one writer at a time."""
_SERVER_THREADS = 8, 8
"""Threads where each call mostly waits for a server, and reads too if it is far away."""
_EMPTY_TEXT: Header = (b"content-type", b"text/plain; charset=utf-8")
"""Type of the empty body for an object that no longer exists, where the deleted object would be JSON."""
PACKAGE_CHALLENGE: Header = (b"www-authenticate", b'Basic realm="GitLab Packages Registry"')
_IGNORED = b"x-ingot-ignored"
_MAX_IGNORED_BYTES = 2000
"""Proxies and clients limit the headers of a response, many of them to 4 kB or 8 kB in total."""
_JSON_ONLY: list[Header] = [(b"content-type", b"application/json")]


class _RequestCall(EndpointCall, kw_only=True):
    """A call that arrived as an HTTP request."""

    request: Request
    credentials: Credentials = NO_CREDENTIALS
    limits: Any | None = None
    """The rate limits that count requests to the route, if there are any."""
    quota: list[Header] | None = None
    """The headers of the rate limits, once they have counted the request."""


class _CountInThread(Exception):
    """Raised by a read that the rate limits can count only with a write."""


class Kernel:
    """Dispatcher of API requests: reads run on the event loop, writes and long calls in threads.

    If the database is a server that is far away, reads run in threads too.
    """

    def __init__(
        self,
        table: RouteTable[Endpoint],
        database: Database,
        authenticate: Authenticate,
        limits: RateLimits,
        settings: Settings,
        bodies: BodyBudget,
        recover_read: Callable[[Exception], bool],
    ) -> None:
        self._table = table
        self._database = database
        self._authenticate = authenticate
        self._limits = limits
        self._runner = EndpointRunner(database, settings)
        self._bodies = bodies
        self._recover_read = recover_read
        writers, others = _EMBEDDED_THREADS if database.embedded else _SERVER_THREADS
        self.writer = ThreadPoolExecutor(writers, "writer")
        self.pool = ThreadPoolExecutor(others, "pool")

    async def handle(
        self, request: Request, route: bytes, table: RouteTable[Endpoint] | None = None
    ) -> tuple[ApiResponse, EndpointCall | None]:
        """Return the response to a request and the call, if a route matched; an exception is a bug of ours."""
        call = None
        try:
            table = table or self._table
            matched, path = table.match(request.method, route)
            # The first request for a module imports it, which takes longer than the event loop may wait.
            endpoint = matched.declaration
            if endpoint is None:
                endpoint = await self._run_in(self.pool, partial(table.load, matched))
            call = _RequestCall(endpoint, path, request.origin, request=request)
            return await (self._handle(call) if endpoint.writes else self._handle_read(call)), call
        except Exception as error:  # Errors without a specified response are raised again.
            refusals = (call.endpoint.denied, call.endpoint.conflict) if call else ()
            response = error_response(error, *refusals)
            if response is None:
                response = await self._run_in(self.pool, partial(self.indirect_response, call, error))
            if response is None:
                raise
            if response.status == 401 and call is not None and call.endpoint.package_client:
                response.headers.append(PACKAGE_CHALLENGE)
            return response, call

    def indirect_response(self, call: EndpointCall | None, error: Exception) -> ApiResponse | None:
        """Return the response to an error that a full disk has caused, or the deletion of the subject meanwhile."""
        if is_storage_full(error):
            log_failure("disk full", error)
            return error_response(StorageFull())
        return self._deleted_response(call, error) if call is not None and call.endpoint.on is not None else None

    def _deleted_response(self, call: EndpointCall, error: Exception) -> ApiResponse | None:
        """Return the 404 of a request whose subject was deleted while it ran; None if the subject still exists."""
        call.known = None
        try:
            self._database.read(partial(self._runner.subject, call))
        except NotFound as not_found:
            log_failure("deleted during the request", error, route=call.endpoint.path)
            return error_response(not_found)
        except Exception as failure:  # noqa: BLE001 - Then ``error`` is raised and logged as a bug.
            log_failure("subject not read", failure, route=call.endpoint.path)
        return None

    async def _handle_read(self, call: _RequestCall) -> ApiResponse:
        """Handle a read, again if another machine has replaced a file of the repository meanwhile."""
        for pause in RETRY_PAUSES:
            try:
                return await self._handle(call)
            except Exception as error:
                if not self._recover_read(error):
                    raise
                log_failure("read again", error, route=call.endpoint.path)
            await asyncio.sleep(pause)
        return await self._handle(call)

    async def _handle(self, call: _RequestCall) -> ApiResponse:
        endpoint, request = call.endpoint, call.request
        call.sent = parse_query(request.query)
        if endpoint.runner_call:
            call.sent = runner_token(request.headers) | call.sent
        if endpoint.header_params:
            call.sent = header_params(request.headers, endpoint.header_params) | call.sent
        call.credentials = self._credentials(call)
        if endpoint.rate_limited:
            call.limits = await self._limits.applying("api", endpoint.method, endpoint.path, self.pool)
        if not (endpoint.writes or endpoint.heavy or endpoint.staged):
            # The common case: one read without another thread.
            with suppress(_CountInThread):
                return await self._inline_if_short(partial(self._database.read, partial(self._read, call)))
        try:
            with self._bodies.charge(request.origin.ip) as charge:
                return await self._handle_in_threads(call, charge)
        finally:
            close_uploads(call.sent)

    async def _handle_in_threads(self, call: _RequestCall, charge: BodyCharge) -> ApiResponse:
        try:
            if call.endpoint.writes and call.endpoint.read_body is None:
                await self._authorize_with_body(call, charge)
            else:
                await self._authorize(call)
        except Unauthenticated:
            token, report = call.credentials.token, call.endpoint.on_refused_token
            if token is not None and report is not None:
                await self._run_in(self.writer, partial(report, self._database, token))
            raise
        finally:
            # Refused calls count too, so that guesses of credentials are limited.
            if call.limits and not self._take_reserved(call):
                take = partial(self._limits.take, call.limits, _limited(call))
                call.quota = await self._run_in(self.writer, take)
        call.read_params()
        if call.endpoint.read_body is not None:
            charge.anonymous = not call.actor.known
            call.prepared = (await call.endpoint.read_body(self._body_context(call, charge)),)
        response = await self._perform(call)
        response.headers.extend(call.quota or ())
        if call.ignored:
            response.headers.append((_IGNORED, _ignored_names(call.ignored)))
        return response

    async def _authorize_with_body(self, call: _RequestCall, charge: BodyCharge) -> None:
        """Authenticate a write, whose body may contain the token or ``sudo`` too.

        A token in the headers or query is checked first, so that an invalid one does not make the server read a body.
        Callers who are unknown before the body is read may send only a small one.
        """
        initial = call.credentials
        if initial.token is not None:
            await self._authorize(call)
            charge.anonymous = not call.actor.known
        elif initial is not NO_CREDENTIALS:
            charge.anonymous = not await self._database.read_async(partial(self._is_known, initial), self.pool)
        try:
            call.sent |= await self._body(call, charge)
        except BadRequest:
            if initial.token is None:
                await self._authorize(call)  # No token can be read from the body, so the caller is anonymous.
            raise
        call.credentials = self._credentials(call)
        if initial.token is None or call.credentials != initial:
            await self._authorize(call)

    def _body_context(self, call: _RequestCall, charge: BodyCharge) -> BodyContext:
        return BodyContext(
            self._database,
            self._runner.settings,
            call.path,
            call.params,
            call.request.headers,
            call.request.receive,
            charge,
            call.undo,
            self.pool,
            call.actor,
        )

    def _credentials(self, call: _RequestCall) -> Credentials:
        endpoint = call.endpoint
        if endpoint.runner_call or endpoint.header_params:
            return NO_CREDENTIALS
        if endpoint.package_client:
            return read_client_credentials(call.request.headers, call.sent, endpoint.writes)
        return read_credentials(call.request.headers, call.sent, endpoint.writes, job_token=endpoint.job_token)

    async def _authorize(self, call: _RequestCall) -> None:
        await self._database.read_async(partial(self._check_caller, call), self.pool)

    def _check_caller(self, call: _RequestCall, db: Connection) -> None:
        """Authenticate the caller, and raise if no parameters could make the call permitted."""
        endpoint = call.endpoint
        # Runners are not bound to the addresses of groups, only what their jobs fetch.
        address = None if endpoint.runner_call else call.origin.ip
        actor = call.actor = self._authenticate(db, call.credentials, address)
        if not actor.known:
            if not endpoint.open:
                raise Unauthenticated
            return
        if not has_any_scope(actor, endpoint.scopes):
            actor = call.actor = within_permission(actor, endpoint)
        if endpoint.checks_caller_only:
            require(endpoint.may(actor))

    async def _perform(self, call: _RequestCall) -> ApiResponse:
        endpoint = call.endpoint
        if endpoint.staged:
            return conditional(
                with_etag(await self._run_in(self.pool, partial(self._run_staged, call))), call.request.headers
            )
        if endpoint.prepare is not None:
            await self._run_in(self.pool, partial(self._runner.prepare, call))
        work = partial(self._run, call)
        if endpoint.writes:
            return await self._write(call, partial(self._database.write, work))
        reading = partial(self._database.read, work)
        response = await (self._run_in(self.pool, reading) if endpoint.heavy else self._inline_if_short(reading))
        return conditional(with_etag(response), call.request.headers)

    async def _write(self, call: _RequestCall, writing: Callable[[], ApiResponse]) -> ApiResponse:
        try:
            return await self._run_in(self.pool if call.endpoint.heavy else self.writer, writing)
        except (Failure, StorageFull):
            # Only these are known to have changed nothing: after another error the commit may have succeeded.
            for step in call.undo:
                with suppress(Unavailable):
                    await self._run_in(self.pool, step)
            raise

    def _read(self, call: _RequestCall, db: Connection) -> ApiResponse:
        if call.limits:
            self._check_limited_caller(call, db)
        else:
            self._check_caller(call, db)
        call.read_params()
        call.known = None  # An earlier attempt has found it in an older state.

        def read() -> ApiResponse:
            return with_etag(self._run(call, db))

        if call.endpoint.cached:
            response = cached_response(db, call.request, call.actor, self._runner.state(call, db), read)
        else:
            response = read()
        response = conditional(response, call.request.headers)
        return with_headers(response, call.quota) if call.quota else response

    def _check_limited_caller(self, call: _RequestCall, db: Connection) -> None:
        """Authenticate the caller and count the request; raise ``_CountInThread`` if that takes a write."""
        try:
            self._check_caller(call, db)
        except (Failure, InsufficientScope):
            raise _CountInThread from None
        if not self._take_reserved(call):
            raise _CountInThread

    def _take_reserved(self, call: _RequestCall) -> bool:
        """Return whether the rate limits have counted the request, by an earlier attempt or now, without a write."""
        if call.quota is None and call.actor.known:
            call.quota = self._limits.take_again(call.limits, call.actor.user_id)
        if call.quota is None:
            call.quota = self._limits.take_reserved(call.limits, _limited(call))
        return call.quota is not None

    async def _inline_if_short(self, reading: Callable[[], ApiResponse]) -> ApiResponse:
        """Run a read on the event loop; if it would block, start it again in a thread."""
        if self._database.is_remote:
            return await self._run_in(self.pool, reading)
        try:
            with forbid_blocking():
                return reading()
        except WouldBlock:
            return await self._run_in(self.pool, reading)

    def _run(self, call: _RequestCall, db: Connection) -> ApiResponse:
        return _to_response(call, self._runner.run(call, db))

    def _run_staged(self, call: _RequestCall) -> ApiResponse:
        return _to_response(call, self._runner.stage(call))

    def _is_known(self, credentials: Credentials, db: Connection) -> bool:
        try:
            return self._authenticate(db, credentials, None).known
        except Failure:  # The body may contain a valid token.
            return False

    async def _body(self, call: _RequestCall, charge: BodyCharge) -> dict[str, Any]:
        headers = call.request.headers
        if b"content-length" not in headers and b"transfer-encoding" not in headers:
            return {}
        limit = call.endpoint.body_limit
        if charge.anonymous and not call.endpoint.runner_call:
            limit = ANONYMOUS_BODY_LIMIT
        elif not isinstance(limit, int):
            limit = await self._database.read_async(limit, self.pool)
        return await parse_body(call.request.receive, headers, limit, charge)

    async def _run_in(self, executor: Executor, work: Callable[[], T]) -> T:
        """Run in another thread; raise ``Unavailable`` if it has not started after a time in the queue."""
        loop = asyncio.get_running_loop()
        queued_at = monotonic()

        def begin() -> T:
            if monotonic() - queued_at > QUEUE_SECONDS:
                raise Unavailable("Too many calls are waiting")
            return work()

        future = executor.submit(begin)
        expired = False

        def expire() -> None:
            nonlocal expired
            expired = future.cancel()

        expiry = loop.call_later(QUEUE_SECONDS, expire)
        try:
            return await asyncio.wrap_future(future, loop=loop)
        except asyncio.CancelledError:
            if not expired:  # The request itself was canceled.
                raise
            raise Unavailable("Too many calls are waiting") from None
        finally:
            expiry.cancel()

    def close(self) -> None:
        """Wait for running calls and accept no more."""
        self.writer.shutdown()
        self.pool.shutdown()


def _limited(call: _RequestCall) -> LimitedRequest:
    caller = caller_of(call.actor, call.origin.ip)
    return LimitedRequest(call.actor, caller, call.request.path.decode("latin-1"), call.path)


def _to_response(call: _RequestCall, result: Any) -> ApiResponse:
    endpoint, request = call.endpoint, call.request
    if type(result) is Listing:
        url = request.origin.base + request.path.decode("ascii")
        return ApiResponse(endpoint.status, encode(result.items), _JSON_ONLY + page_headers(result, url, request.query))
    if type(result) is RawResponse:
        headers = [(b"content-type", result.content_type.encode()), *result.headers]
        return ApiResponse(result.status or endpoint.status, result.body, headers)
    if type(result) is AlternateResponse:
        return json_response(result.status, result.content)
    if type(result) is ContentResponse:
        return content_response(result, request)
    if type(result) is StreamedResponse:
        length = [] if result.length is None else [(b"content-length", b"%d" % result.length)]
        headers = [(b"content-type", result.content_type.encode()), *result.headers, *length]
        return ApiResponse(endpoint.status, b"", headers, result.pieces)
    if result is None and endpoint.returns is None:
        return ApiResponse(endpoint.status, b"", [])
    if result is None and endpoint.method == "DELETE":
        return ApiResponse(endpoint.status, b"", [_EMPTY_TEXT])
    return json_response(endpoint.status, result)


def _ignored_names(names: list[str]) -> bytes:
    """Return a list of names, which ends with the number of those that were left out if it is long."""
    text = ", ".join(names).encode()
    if len(text) > _MAX_IGNORED_BYTES:
        shown = text[:_MAX_IGNORED_BYTES].rpartition(b", ")[0]
        text = b"%b, ... and %d more" % (shown, len(names) - shown.count(b", ") - 1)
    return text
