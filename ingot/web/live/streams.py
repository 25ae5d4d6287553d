"""HTTP component of the server-sent event streams, one for each open page.

An idle stream costs two tasks and a timer: the event loop sends a comment from time to time, and the database is asked
only after a topic of the stream was announced.
"""

import asyncio
import random
from collections import Counter
from concurrent.futures import Executor
from functools import cached_property, partial
from typing import NamedTuple

from ingot.accounts.authentication import authenticate
from ingot.accounts.sessions.service import session_topic
from ingot.core.access.credentials import Credentials
from ingot.core.api.internal_client import InternalCaller, InternalClient
from ingot.core.api.request_fields import BadRequest, parse_query
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.errors import Denied, NotFound, Unauthenticated, Unavailable
from ingot.core.http.client_networks import client_network
from ingot.core.http.connections import connection_limit, raise_descriptor_limit
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.core.http.stream import wait_for_disconnect
from ingot.core.log import log_failure
from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.projects.namespaces.ip_restrictions import actor_at
from ingot.web.client import PageClient
from ingot.web.cookies import SESSION_COOKIE, read_cookies
from ingot.web.live.changes import ChangeMonitor
from ingot.web.live.topics import STREAM_PATH, LiveSubject
from ingot.web.page_routes import text_field

MAX_STREAMS = 2000
"""Streams of one worker, or half of its connections if these are fewer; further pages poll."""
MAX_STREAMS_OF_CALLER = 20
"""Streams of a user, or of a network without a session, in one worker."""
HEARTBEAT_SECONDS = 30.0
"""Time between comments, which keep proxies from closing an idle connection."""
_MAX_EVENTS = 200
"""Events and comments after which a stream ends; the browser then opens another, perhaps at another worker."""
_PAUSE_SECONDS = 0.2
"""Time during which several changes count as one."""
_SPREAD_SECONDS = 0.01
"""Time per viewer over which the events of a change are spread, because each viewer then requests the page."""
_PATH = STREAM_PATH.encode()
_HEADERS: list[Header] = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    # nginx would otherwise hold the events back until its buffer is full.
    (b"x-accel-buffering", b"no"),
]
_FIRST = b"retry: 3000\n\n"
_CHANGE = b"event: change\ndata: 1\n\n"
_END = b"event: end\ndata: 1\n\n"
"""The user may no longer see the subject, so the browser must not open the stream again."""
_COMMENT = b":\n\n"
_REFUSALS = (NotFound, Denied, Unauthenticated, BadRequest)


class _Subscription(NamedTuple):
    """Permission of a caller to see a subject, and the topics that concern it."""

    caller: str
    topics: frozenset[str]


class _Stream:
    """Response of one stream, and the event that is set by changes and by the end of the client."""

    def __init__(self, request: Request, send: Send, trace: Trace) -> None:
        self.changed = asyncio.Event()
        self._send = send
        self._trace = trace
        self._disconnected = asyncio.ensure_future(wait_for_disconnect(request.receive))
        self._disconnected.add_done_callback(lambda _: self.changed.set())

    @property
    def is_closed(self) -> bool:
        """Return whether the client has disconnected."""
        return self._disconnected.done()

    async def begin(self) -> None:
        """Send the head of the response."""
        self._trace.status = 200
        self._trace.answered = True
        headers = [*_HEADERS, (b"x-request-id", self._trace.request_id.encode())]
        await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self.write(_FIRST)

    async def write(self, data: bytes, *, is_last: bool = False) -> None:
        """Send an event."""
        await self._send({"type": "http.response.body", "body": data, "more_body": not is_last})

    async def wait(self) -> bool:
        """Wait for a change; return False if there was none for a while."""
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                await self.changed.wait()
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        """Stop waiting for the end of the client."""
        self._disconnected.cancel()


class LiveStreams:
    """Streams of one web worker."""

    def __init__(self, database: Database, pool: Executor, client: InternalClient) -> None:
        self._database = database
        self._pool = pool
        self._client = client
        self._monitor = ChangeMonitor(database)
        self._open: Counter[str] = Counter()
        self._turn = asyncio.Lock()
        self._draining = False

    def handles(self, request: Request) -> bool:
        """Return whether the request is for a stream."""
        return request.path == _PATH and request.method == "GET"

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Send an event whenever the subject in the query changes, until the client disconnects or loses access."""
        trace.route = STREAM_PATH
        try:
            subscription = await self._subscribe(request)
        except _REFUSALS:
            await send_response(send, trace, 404, [], b"")
            return
        except Unavailable:  # The page polls meanwhile; the database logs its failures.
            await send_response(send, trace, 503, [], b"")
            return
        caller = subscription.caller
        if self._draining or self._open.total() >= self._limit or self._open[caller] >= MAX_STREAMS_OF_CALLER:
            await send_response(send, trace, 503, [], b"")
            return
        self._monitor.start()
        self._open[caller] += 1
        stream = _Stream(request, send, trace)
        try:
            await self._run(stream, request, subscription)
        finally:
            stream.close()
            self._open[caller] -= 1
            if not self._open[caller]:
                del self._open[caller]

    @cached_property
    def _limit(self) -> int:
        return min(MAX_STREAMS, connection_limit(raise_descriptor_limit()) // 2)

    def drain(self) -> None:
        """End all streams, and open no more."""
        self._draining = True
        self._monitor.wake_all()

    def close(self) -> None:
        """Stop listening for changes."""
        self._monitor.close()

    async def _run(self, stream: _Stream, request: Request, subscription: _Subscription) -> None:
        topics = subscription.topics
        self._monitor.add(topics, stream.changed)
        try:
            if self._monitor.may_have_changed(topics, _rendered_at(request)):
                stream.changed.set()
            await stream.begin()
            for _ in range(_MAX_EVENTS):
                has_changed = await stream.wait()
                if has_changed:
                    spread = self._monitor.count_viewers(topics) * _SPREAD_SECONDS
                    await asyncio.sleep(_PAUSE_SECONDS + random.random() * spread)  # noqa: S311 - Not a secret.
                if stream.is_closed or self._draining:
                    break
                if not has_changed:
                    await stream.write(_COMMENT)
                    continue
                stream.changed.clear()
                fresh = await self._renew(request, subscription)
                if fresh is None:
                    await stream.write(_END)
                    break
                self._monitor.discard(topics, stream.changed)
                topics = fresh.topics
                self._monitor.add(topics, stream.changed)
                await stream.write(_CHANGE)
        except Unavailable as error:  # The browser connects again.
            log_failure("live update not sent", error)
        finally:
            self._monitor.discard(topics, stream.changed)
        if not stream.is_closed:
            await stream.write(b"", is_last=True)

    async def _renew(self, request: Request, subscription: _Subscription) -> _Subscription | None:
        """Check the permission again; return None if the session has ended or the subject is no longer visible."""
        try:
            # One after the other, so that other requests are served while a change reaches many streams.
            async with self._turn:
                fresh = await self._subscribe(request)
        except _REFUSALS:
            return None
        return fresh if fresh.caller == subscription.caller else None

    async def _subscribe(self, request: Request) -> _Subscription:
        work = partial(self._database.read, partial(self._find, request))
        try:
            with forbid_blocking():
                return work()
        except WouldBlock:
            return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _find(self, request: Request, db: Connection) -> _Subscription:
        from ingot.web.live.subjects import find_topics  # Loads the endpoints of all kinds of pages.

        caller = authenticate(db, Credentials(session=read_cookies(request).get(SESSION_COOKIE)))
        actor = actor_at(db, caller, request.origin.ip)
        query = parse_query(request.query)
        subject = LiveSubject(*(text_field(query, name) for name in LiveSubject._fields))
        client = PageClient(self._client, InternalCaller(actor, request.origin))
        topics = find_topics(client, subject)
        if not actor.known:
            return _Subscription(client_network(request.origin.ip), topics)
        return _Subscription(f"user {actor.user_id}", topics | {session_topic(actor.user_id)})


def _rendered_at(request: Request) -> float:
    """Return the time at which the page was rendered; 0 if it is unknown."""
    try:
        return float(text_field(parse_query(request.query), "since"))
    except ValueError:
        return 0.0
