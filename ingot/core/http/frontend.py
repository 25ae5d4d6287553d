"""The ASGI application: request ids, choice of the component, log line, metrics and health checks."""

import errno
import traceback
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import msgspec

from ingot.core.db.database import wall_clock
from ingot.core.http.metrics import Metrics
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
from ingot.errors import Invalid
from ingot.git.core.errors import UNREADABLE_ERRORS, is_unreadable_error
from ingot.log import Log
from ingot.settings import Settings

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


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
        health: Callable[[], dict[str, str]],
        metrics: Metrics,
        log: Log,
    ) -> None:
        self._origins = OriginResolver(settings)
        self._components = tuple(components)
        self._health = health
        self._metrics = metrics
        self._log = log

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        started = perf_counter()
        headers: dict[bytes, bytes] = dict(scope["headers"])
        trace = Trace(request_id(headers))
        try:
            await self._serve(scope, headers, receive, send, trace)
        except Exception as error:  # noqa: BLE001 - The last line of defence: log it, and tell the caller nothing of it.
            await self._report_error(send, trace, error)
        seconds = perf_counter() - started
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        self._metrics.observe(method, trace.route, trace.status, seconds)
        self._log.request(wall_clock(), trace.request_id, method, trace.route, trace.status, seconds * 1000, trace.user)

    async def _report_error(self, send: Send, trace: Trace, error: Exception) -> None:
        if isinstance(error, Invalid) and not trace.answered:  # Found while the beginning of a stream was computed.
            body = msgspec.json.encode({"message": error.errors or error.message})
            await send_response(send, trace, 400, [(b"content-type", b"application/json")], body)
            return
        # Without the message: database drivers include the values of the statement in it.
        where = "".join(traceback.format_tb(error.__traceback__))
        unreadable = is_unreadable_error(error)
        event = "repository unreadable" if unreadable else "fault"
        self._log(event, request_id=trace.request_id, error=type(error).__name__, where=where)
        # Out of file descriptors: the same request may succeed when others have finished.
        crowded = isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE)
        trace.status = 503 if crowded or unreadable else 500
        if not trace.answered:
            answer = [(b"content-type", b"application/json"), *([(b"retry-after", b"5")] if crowded else [])]
            text = "503 Service Unavailable" if crowded else "500 Internal Server Error"
            body = b'{"message":"%s"}' % (UNREADABLE_ERRORS if unreadable else text).encode()
            await send_response(send, trace, trace.status, answer, body)

    async def _serve(
        self, scope: Message, headers: dict[bytes, bytes], receive: Receive, send: Send, trace: Trace
    ) -> None:
        path: bytes = scope["raw_path"]
        if path.startswith(b"/-/") and await self._serve_health(path, send, trace):
            return
        try:
            origin = self._origins.resolve(scope, headers)
        except InvalidHost:
            body = b'{"message":"400 (Bad request) the Host header is malformed"}'
            await send_response(send, trace, 400, [(b"content-type", b"application/json")], body)
            return
        request = Request(scope["method"], path, scope["query_string"], headers, origin, receive)
        for component in self._components:
            if component.handles(request):
                await component.serve(request, send, trace)
                return

    async def _serve_health(self, path: bytes, send: Send, trace: Trace) -> bool:
        name = path.rstrip(b"/").decode("latin-1")
        trace.route = name
        if name == "/-/metrics":
            kind = b"text/plain; version=0.0.4; charset=utf-8"
            await send_response(send, trace, 200, [(b"content-type", kind)], self._metrics.render())
            return True
        if name not in ("/-/health", "/-/liveness", "/-/readiness"):
            return False
        state = self._health()
        healthy = all(value == "ok" for value in state.values())
        status = 200 if healthy else 503
        if name == "/-/health" and healthy:
            # The exact text that monitoring scripts written for GitLab expect.
            await send_response(send, trace, status, [(b"content-type", b"text/plain")], b"GitLab OK\n")
        else:
            body = _health_body(state, healthy)
            await send_response(send, trace, status, [(b"content-type", b"application/json")], body)
        return True


def _health_body(state: dict[str, str], healthy: bool) -> bytes:
    from json import dumps

    document: dict[str, Any] = {"status": "ok" if healthy else "failed"}
    document |= {f"{name}_check": [{"status": value}] for name, value in state.items()}
    return dumps(document).encode()
