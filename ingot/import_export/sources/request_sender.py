"""Requests to a source: persistent connections, redirects, rate limits and bounded retries.

All connections go through the SSRF guard. The token is sent in headers, and only to the origin of the source.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import urljoin

from ingot.core.outgoing.client import HttpResponse, PinnedConnection
from ingot.core.outgoing.errors import ConnectionLost, OutgoingError, RequestFailed, RequestRefused, ServerUnreachable
from ingot.core.outgoing.guard import SsrfGuard
from ingot.core.outgoing.urls import redact_text, split_url
from ingot.import_export.source import SourceError
from ingot.import_export.sources.limits import MAX_TRIES, MAX_WAIT_SECONDS, back_off, quota_delay, retry_delay

PARALLEL_REQUESTS = 4
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024
MAX_FILE_BYTES = 10 * 1024 * 1024 * 1024
"""Upper limit of a file; settings of the instance limit files further."""
REQUEST_SECONDS = 60.0
DOWNLOAD_SECONDS = 1800.0
CONNECTION_SECONDS = 60.0
"""Lifetime of a connection; the guard resolves the host again for the next one."""
INTERRUPTION_SECONDS = 60.0
"""Delay before an import continues after the retries of a request failed."""
MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)


class _Connection(NamedTuple):
    """Open connection with its origin and the time after which it is not used again."""

    origin: tuple[str, str, int]
    expires: float
    connection: PinnedConnection


class RequestSender:
    """Sender of the requests of one source; several may run at once on one event loop."""

    def __init__(
        self,
        guard: SsrfGuard,
        base_url: str,
        headers: Mapping[str, str],
        secrets: Sequence[str],
        sleep: Callable[[float], Awaitable[object]],
    ) -> None:
        self._guard = guard
        self._origin = _origin(base_url)
        self._headers = list(headers.items())
        self._secrets = tuple(secrets)
        self._sleep = sleep
        self._idle: list[_Connection] = []
        self._blocked_until = 0.0
        self.requests = 0
        """Number of requests sent."""

    @property
    def has_connections(self) -> bool:
        """Whether connections are open."""
        return bool(self._idle)

    async def close(self) -> None:
        """Close all connections."""
        while self._idle:
            await self._idle.pop().connection.close()

    async def request(
        self,
        target: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        sink: Callable[[int, bytes], object] | None = None,
        restart: Callable[[], None] | None = None,
    ) -> HttpResponse:
        """Send a request, again after temporary failures; raise ``SourceError`` after the last of them."""
        for attempt in range(MAX_TRIES):
            await self._wait_for_quota()
            if restart is not None:
                restart()
            try:
                response = await self._follow(target, headers or {}, body, sink)
            except OutgoingError as error:
                if not error.temporary:
                    raise SourceError(redact_text(error.reason, self._secrets)) from error
                reason, delay = error.reason, back_off(attempt)
            else:
                pause = quota_delay(response, PARALLEL_REQUESTS)
                self._blocked_until = max(self._blocked_until, time.monotonic() + pause if pause else 0.0)
                named = retry_delay(response, attempt)
                if named is None:
                    return response
                reason, delay = f"The source answered with status {response.status}", named
            if delay > MAX_WAIT_SECONDS:
                raise SourceError(reason, retry_after=delay)
            if attempt + 1 < MAX_TRIES:
                await self._sleep(delay)
        raise SourceError(reason, retry_after=INTERRUPTION_SECONDS)

    async def _wait_for_quota(self) -> None:
        pause = self._blocked_until - time.monotonic()
        if pause <= 0:
            return
        if pause > MAX_WAIT_SECONDS:
            raise SourceError("The source's quota of requests is used up", retry_after=pause)
        await self._sleep(pause)

    async def _follow(
        self,
        target: str,
        headers: Mapping[str, str],
        body: bytes | None,
        sink: Callable[[int, bytes], object] | None,
    ) -> HttpResponse:
        """Send a request and follow its redirects; another origin gets no token."""
        scheme, host, port = self._origin
        netloc = f"[{host}]" if ":" in host else host
        url = target if "://" in target else f"{scheme}://{netloc}:{port}{target}"
        for _ in range(MAX_REDIRECTS + 1):
            response = await self._send(url, headers, body, sink)
            location = response.header("location")
            if response.status not in _REDIRECTS or location is None:
                return response
            following = urljoin(url, location)
            if url.startswith("https:") and not following.startswith("https:"):
                raise RequestRefused("The source redirects to an address that is not secure")
            if _origin(following) != _origin(url):
                headers = {name: value for name, value in headers.items() if name.lower() != "authorization"}
            url, body = following, None
        raise RequestFailed("The source redirects too often")

    async def _send(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        sink: Callable[[int, bytes], object] | None,
    ) -> HttpResponse:
        await asyncio.to_thread(self._guard.check_url, url)  # Reads the rules that are in force.
        origin = _origin(url)
        sent = list(headers.items())
        if origin == self._origin:
            sent += [(name, value) for name, value in self._headers if name not in headers]
        if body is not None and not any(name.lower() == "content-type" for name, _ in sent):
            sent.append(("Content-Type", "application/json"))
        limit = MAX_FILE_BYTES if sink is not None else MAX_DOCUMENT_BYTES
        try:
            async with asyncio.timeout(REQUEST_SECONDS if sink is None else DOWNLOAD_SECONDS):
                while True:
                    opened = await self._connect(url, origin)
                    connection = opened.connection
                    self.requests += 1
                    try:
                        response = await connection.request(
                            "GET" if body is None else "POST",
                            sent,
                            body,
                            max_bytes=limit,
                            target=split_url(url).target,
                            sink=sink,
                        )
                    except ConnectionLost:
                        await connection.close()
                        if connection.responses == 0:
                            raise
                        # The server closed a connection that was idle for too long, which is not a failure.
                        self.requests -= 1
                        continue
                    except BaseException:
                        await connection.close()
                        raise
                    break
        except TimeoutError as error:
            raise ServerUnreachable("The server took too long") from error
        if connection.reusable and not response.truncated:
            self._idle.append(opened)
        else:
            await connection.close()
        return response

    async def _connect(self, url: str, origin: tuple[str, str, int]) -> _Connection:
        now = time.monotonic()
        for index in range(len(self._idle) - 1, -1, -1):
            if self._idle[index].expires <= now:
                await self._idle.pop(index).connection.close()
            elif self._idle[index].origin == origin:
                return self._idle.pop(index)
        pinned = await asyncio.to_thread(self._guard.pin, url)
        return _Connection(origin, now + CONNECTION_SECONDS, await PinnedConnection.open(pinned))


def _origin(url: str) -> tuple[str, str, int]:
    parts = split_url(url)
    return parts.scheme, parts.host, parts.port
