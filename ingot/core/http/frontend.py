"""The ASGI application: request ids, choice of the component, log line, metrics and health checks."""

import traceback
from collections.abc import Awaitable, Callable, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import msgspec

from ingot.core.db.clocks import wall_clock
from ingot.core.errors import Invalid
from ingot.core.http.metrics import METHODS, UNMATCHED, Metrics
from ingot.core.http.request import (
    Component,
    Header,
    InvalidHost,
    Message,
    OriginResolver,
    Receive,
    Request,
    Send,
    Trace,
    request_id,
)
from ingot.core.http.scrape_access import ScrapeAccess
from ingot.core.log import Log
from ingot.core.settings import Settings

_ALLOWED_METHODS = b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
_RETRY_SECONDS = 5
_PLAIN_TEXT: Header = (b"content-type", b"text/plain; charset=utf-8")
_HEALTH_PATHS = ("/-/health", "/-/liveness", "/-/readiness")


class UnhandledError(NamedTuple):
    """Log event, status, message and seconds until a retry for an error that no component has handled."""

    event: str
    status: int
    message: str
    retry_seconds: int


async def send_response(send: Send, trace: Trace, status: int, headers: list[Header], body: bytes) -> None:
    """Send a whole response."""
    trace.status = status
    headers.append((b"x-request-id", trace.request_id.encode()))
    if status not in (204, 304):
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    trace.answered = True
    await send({"type": "http.response.body", "body": body})


class HttpFrontend:
    """The ASGI application."""

    def __init__(
        self,
        settings: Settings,
        components: Sequence[Component],
        health: Callable[[], Awaitable[dict[str, str]]],
        metrics: Metrics,
        log: Log,
        classify_error: Callable[[Exception], UnhandledError],
        *,
        health_checks: bool = True,
    ) -> None:
        self._origins = OriginResolver(settings)
        self._scrapes = ScrapeAccess(settings, self._origins)
        self._components = tuple(components)
        self._health = health
        self._metrics = metrics
        self._log = log
        self._classify_error = classify_error
        self._draining = False
        self._health_checks = health_checks

    def drain(self) -> None:
        """Report from now on that this server is not ready, and close each connection with its next response."""
        self._draining = True

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        started = perf_counter()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        trace = Trace(request_id(headers))
        if self._draining:
            send = _closing(send)
        try:
            await self._serve(scope, headers, receive, send, trace)
        except Exception as error:  # noqa: BLE001 - The last line of defence: log it, and tell the caller nothing of it.
            await self._report_error(send, trace, error)
        seconds = perf_counter() - started
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        self._metrics.observe(method, trace.route or UNMATCHED, trace.status, seconds)
        self._log.request(wall_clock(), trace.request_id, method, trace.route, trace.status, seconds * 1000, trace.user)

    async def _report_error(self, send: Send, trace: Trace, error: Exception) -> None:
        if isinstance(error, Invalid) and not trace.answered:  # Found while the beginning of a stream was computed.
            body = msgspec.json.encode({"message": error.errors or error.message})
            await send_response(send, trace, 400, [(b"content-type", b"application/json")], body)
            return
        # Without the message: database drivers include the values of the statement in it.
        where = "".join(traceback.format_tb(error.__traceback__))
        event, status, message, retry_seconds = self._classify_error(error)
        self._log(event, request_id=trace.request_id, error=type(error).__name__, where=where)
        trace.status = status
        if not trace.answered:
            headers = [(b"content-type", b"application/json")]
            if retry_seconds:
                headers.append((b"retry-after", b"%d" % retry_seconds))
            await send_response(send, trace, status, headers, b'{"message":"%s"}' % message.encode())

    async def _serve(
        self, scope: Message, headers: dict[bytes, bytes], receive: Receive, send: Send, trace: Trace
    ) -> None:
        path: bytes = scope["raw_path"]
        if self._health_checks and path.startswith(b"/-/") and await self._serve_health(scope, headers, send, trace):
            return
        if path == b"*" and scope["method"] == "OPTIONS":
            await send_response(send, trace, 204, [(b"allow", _ALLOWED_METHODS)], b"")
            return
        if not path.startswith(b"/"):
            body = b'{"message":"400 (Bad request) the path must begin with a slash"}'
            await send_response(send, trace, 400, [(b"content-type", b"application/json")], body)
            return
        try:
            origin = self._origins.resolve(scope, headers)
        except InvalidHost:
            body = b'{"message":"400 (Bad request) the Host header is missing, malformed or repeated"}'
            await send_response(send, trace, 400, [(b"content-type", b"application/json")], body)
            return
        request = Request(scope["method"], path, scope["query_string"], headers, origin, receive)
        for component in self._components:
            if component.handles(request):
                await component.serve(request, send, trace)
                return

    async def _serve_health(self, scope: Message, headers: dict[bytes, bytes], send: Send, trace: Trace) -> bool:
        path: bytes = scope["raw_path"]
        name = path.rstrip(b"/").decode("latin-1")
        scraped = name == "/-/metrics" and self._scrapes.allows(scope, headers)
        if not scraped and name not in _HEALTH_PATHS:
            return False
        trace.route = name
        if scope["method"] not in ("GET", "HEAD"):
            await send_response(send, trace, 405, [(b"allow", b"GET, HEAD"), _PLAIN_TEXT], b"405 Method Not Allowed")
            return True
        if scraped:
            kind = b"text/plain; version=0.0.4; charset=utf-8"
            await send_response(send, trace, 200, [(b"content-type", kind)], await self._metrics.scrape())
            return True
        # Liveness concerns this process only: restarting it would not help a database or a full disk.
        state = {}
        if name != "/-/liveness":
            state = await self._health() | ({"server": "stopping"} if self._draining else {})
        healthy = all(value == "ok" for value in state.values())
        status = 200 if healthy else 503
        if name == "/-/health" and healthy:
            # The exact text that monitoring scripts written for GitLab expect.
            await send_response(send, trace, status, [(b"content-type", b"text/plain")], b"GitLab OK\n")
        else:
            response_headers = [(b"content-type", b"application/json")]
            if not healthy:
                response_headers.append((b"retry-after", b"%d" % _RETRY_SECONDS))
            await send_response(send, trace, status, response_headers, _health_body(state, healthy))
        return True


def _closing(send: Send) -> Send:
    """Return a ``send`` whose response asks the client to use another connection for its next request."""

    async def send_and_close(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

    return send_and_close


def _health_body(state: dict[str, str], healthy: bool) -> bytes:
    from json import dumps

    document: dict[str, Any] = {"status": "ok" if healthy else "failed"}
    document |= {f"{name}_check": [{"status": value}] for name, value in state.items()}
    return dumps(document).encode()
