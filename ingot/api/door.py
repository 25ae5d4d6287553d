"""The API's door: its prefixes, CORS, and answers on the wire."""

import re

from ingot.api.kernel import Kernel
from ingot.http.front import respond
from ingot.http.request import Header, Request, Send, Trace
from ingot.http.streaming import stream

PREFIX = b"/api/v4"
_SAFE: Header = (b"x-content-type-options", b"nosniff")
_EXPOSED = (
    b"Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, X-Request-Id, ETag, "
    b"Content-Disposition, Content-Range, Accept-Ranges, X-Next-Cursor, X-Prev-Cursor, X-Gitlab-Blob-Id, "
    b"X-Gitlab-Commit-Id, X-Gitlab-Content-Sha256, X-Gitlab-Encoding, X-Gitlab-File-Name, X-Gitlab-File-Path, "
    b"X-Gitlab-Last-Commit-Id, X-Gitlab-Ref, X-Gitlab-Size, X-Gitlab-Execute-Filemode, "
    b"Retry-After, RateLimit-Limit, RateLimit-Observed, RateLimit-Remaining, RateLimit-Reset"
)
# Any site may call, but never with the cookie of the person who visits it.
_CORS: list[Header] = [(b"access-control-allow-origin", b"*"), (b"access-control-expose-headers", _EXPOSED)]
_PREFLIGHT: list[Header] = [
    (b"access-control-allow-origin", b"*"),
    (b"access-control-allow-methods", b"GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
    (b"access-control-allow-headers", b"Authorization, Content-Type, If-None-Match, PRIVATE-TOKEN, SUDO, X-Request-Id"),
    (b"access-control-max-age", b"7200"),
]


class ApiDoor:
    """Serves everything below a prefix, or ``only`` the routes that a pattern names."""

    def __init__(self, kernel: Kernel, prefix: bytes = PREFIX, only: re.Pattern[bytes] | None = None) -> None:
        self._kernel = kernel
        self._prefix = prefix
        self._only = only

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Answer one call."""
        if request.method == "OPTIONS" and b"access-control-request-method" in request.headers:
            await respond(send, trace, 204, [*_PREFLIGHT], b"")
            return
        route = request.path[len(self._prefix) :]
        if self._only is not None and not self._only.fullmatch(route):
            route = b""  # Where nothing is served.
        answer, asked = await self._kernel.handle(request, route)
        if asked is not None:
            trace.route, trace.user = asked.endpoint.path, asked.actor.username
        headers = [*answer.headers, _SAFE]
        if b"origin" in request.headers:
            headers += _CORS
        if answer.pieces is None:
            await respond(send, trace, answer.status, headers, answer.body)
        else:
            await stream(request, send, trace, answer.status, headers, answer.pieces, self._kernel.pool)
