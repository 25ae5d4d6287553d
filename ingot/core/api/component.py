"""HTTP component of the API: its prefixes, CORS, and responses."""

import re

from ingot.core.access.actor import ANONYMOUS
from ingot.core.api.call_log import CallLog, WritingCall, owner_in_path
from ingot.core.api.kernel import Kernel
from ingot.core.api.responses import error_response
from ingot.core.errors import TransfersBusy
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.core.http.stream import stream_response
from ingot.core.http.transfer_slots import TransferSlots, caller_of

API_PREFIX = b"/api/v4"
_DOCS = API_PREFIX + b"/docs"
"""The page that renders the OpenAPI document; it is served with the other pages."""
NOSNIFF: Header = (b"x-content-type-options", b"nosniff")
_EXPOSED_HEADERS = (
    b"Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, X-Request-Id, ETag, "
    b"Content-Disposition, Content-Range, Accept-Ranges, X-Next-Cursor, X-Prev-Cursor, X-Gitlab-Blob-Id, "
    b"X-Gitlab-Commit-Id, X-Gitlab-Content-Sha256, X-Gitlab-Encoding, X-Gitlab-File-Name, X-Gitlab-File-Path, "
    b"X-Gitlab-Last-Commit-Id, X-Gitlab-Ref, X-Gitlab-Size, X-Gitlab-Execute-Filemode, "
    b"Retry-After, RateLimit-Limit, RateLimit-Observed, RateLimit-Remaining, RateLimit-Reset"
)
# Any site may call, but never with the cookies of its visitor.
CORS_HEADERS: list[Header] = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-expose-headers", _EXPOSED_HEADERS),
]
PREFLIGHT_HEADERS: list[Header] = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, If-None-Match, PRIVATE-TOKEN, SUDO, X-Request-Id"),
    (b"access-control-max-age", b"7200"),
]


class ApiComponent:
    """HTTP component for the calls below a prefix, or ``only`` for the routes that a pattern matches."""

    def __init__(
        self,
        kernel: Kernel,
        transfers: TransferSlots,
        call_log: CallLog,
        prefix: bytes = API_PREFIX,
        only: re.Pattern[bytes] | None = None,
    ) -> None:
        self._kernel = kernel
        self._transfers = transfers
        self._call_log = call_log
        self._prefix = prefix
        self._only = only

    def handles(self, request: Request) -> bool:
        """Return whether the path is below the prefix, unless it is that of the documentation page."""
        return _is_below(request.path, self._prefix) and not _is_below(request.path, _DOCS)

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to one call."""
        if request.method == "OPTIONS" and b"access-control-request-method" in request.headers:
            await send_response(send, trace, 204, [*PREFLIGHT_HEADERS], b"")
            return
        route = request.path[len(self._prefix) :]
        if self._only is not None and not self._only.fullmatch(route):
            route = b""  # No endpoint has this route.
        answer, call = await self._kernel.handle(request, route)
        if call is not None:
            endpoint = call.endpoint
            trace.route, trace.user = endpoint.path, call.actor.username
            if endpoint.writes and answer.status < 400:
                owner = owner_in_path(endpoint.path, call.path)
                ip = request.origin.ip
                self._call_log(WritingCall(call.actor, endpoint.method, endpoint.path, owner, answer.status, ip))
        headers = [*answer.headers, NOSNIFF]
        if b"origin" in request.headers:
            headers += CORS_HEADERS
        if answer.pieces is None:
            await send_response(send, trace, answer.status, headers, answer.body)
            return
        try:
            actor = ANONYMOUS if call is None else call.actor
            async with self._transfers.hold(caller_of(actor, request.origin.ip)):
                await stream_response(request, send, trace, answer.status, headers, answer.pieces, self._kernel.pool)
        except Exception as error:  # Raised again unless it has a response and none has begun.
            busy = error_response(error) if isinstance(error, TransfersBusy) else None
            refusal = None if trace.answered else busy or self._kernel.indirect_response(call, error)
            if refusal is None:
                raise
            await send_response(send, trace, refusal.status, [*refusal.headers, NOSNIFF], refusal.body)


def _is_below(path: bytes, prefix: bytes) -> bool:
    return path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in (b"", b"/")
