"""Runs a request through the contract's order of answers: route, credential, caller, parameters, subject, rule."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Protocol, TypeVar

from ingot.access.actor import Actor
from ingot.access.credentials import Credentials
from ingot.access.rules import require
from ingot.access.scopes import within_scope
from ingot.api.answers import Answer, Header, OutOfScope, encode, error_answer, json_answer, tagged
from ingot.api.budget import Budget
from ingot.api.fields import BadRequest, close_uploads, parse_body, parse_query
from ingot.api.paging import page_headers
from ingot.api.ranges import content_answer
from ingot.api.router import Router
from ingot.api.routes import BODY_LIMIT, Content, Endpoint, Instead, Raw, Streamed
from ingot.api.running import Asked, Runner
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.paging import Listing
from ingot.errors import Failure, NotFound, Unauthenticated, Unavailable
from ingot.http.request import Request
from ingot.inline import TooLong, inline
from ingot.settings import Settings

T = TypeVar("T")
Authenticate = Callable[[Connection, Credentials], Actor]
QUEUE_SECONDS = 10.0
MOST_BYTES_AT_ONCE = 192 * 2**20
_NO_CREDENTIALS = Credentials()
_JSON_ONLY: list[Header] = [(b"content-type", b"application/json")]


class Limits(Protocol):
    """How many calls a caller may make; off unless configured."""

    @property
    def active(self) -> bool:
        """Whether any limit is configured."""

    def take(self, db: Connection, actor: Actor, ip: str) -> list[Header]:
        """Count one call, and say what is left; raises ``Throttled`` beyond the limit."""


class _Arrival(Asked, kw_only=True):
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
        limits: Limits,
        settings: Settings,
    ) -> None:
        self.router = router
        self._database = database
        self._authenticate = authenticate
        self._limits = limits
        self._runner = Runner(database, settings)
        self._bodies = Budget(MOST_BYTES_AT_ONCE)
        self.writer = ThreadPoolExecutor(1, "writer")
        self.pool = ThreadPoolExecutor(4, "pool")

    async def handle(self, request: Request, route: bytes) -> tuple[Answer, Asked | None]:
        """Answer one request, and say what is known of it; an exception that leaves here is a fault of ours."""
        arrival = None
        try:
            endpoint, path = self.router.match(request.method, route)
            arrival = _Arrival(endpoint, path, request.origin, request=request)
            return await self._handle(arrival), arrival
        except Exception as error:  # Whatever has no answer below is raised again.
            refusals = (arrival.endpoint.denied, arrival.endpoint.conflict) if arrival else ()
            answer = error_answer(error, *refusals)
            if answer is None and arrival is not None:
                answer = self._answer_of_the_gone(arrival)
            if answer is None:
                raise
            return answer, arrival

    def _answer_of_the_gone(self, arrival: _Arrival) -> Answer | None:
        """How a call ends that failed because what it is about was deleted under it; nothing for a fault of ours."""
        if arrival.endpoint.on is None:
            return None
        try:
            self._database.read(partial(self._runner.subject, arrival))
        except NotFound as gone:
            return error_answer(gone)
        except Exception:  # noqa: BLE001 - What went wrong first is what there is to tell.
            return None
        return None

    async def _handle(self, arrival: _Arrival) -> Answer:
        endpoint, request = arrival.endpoint, arrival.request
        arrival.sent = parse_query(request.query)
        arrival.credentials = read_credentials(request.headers, arrival.sent, endpoint.writes)
        if not (endpoint.writes or endpoint.heavy or endpoint.staged or self._limits.active):
            # The common case: one unit of work, no other thread, nothing to wait for.
            return await self._inline_if_short(partial(self._database.read, partial(self._read, arrival)))
        try:
            async with self._bodies.hold(_body_size(endpoint, request.headers)):
                return await self._handle_slowly(arrival)
        finally:
            close_uploads(arrival.sent)

    async def _handle_slowly(self, arrival: _Arrival) -> Answer:
        quota: list[Header] = []
        limited = self._limits.active
        try:
            if arrival.endpoint.writes:
                await self._admit_with_body(arrival)
            else:
                self._admit(arrival)
        finally:
            # Whoever is refused has called too: guesses count like everything else.
            if limited:
                take = partial(self._limits.take, actor=arrival.actor, ip=arrival.origin.ip)
                quota = await self._in(self.writer, partial(self._database.write, take))
        arrival.read_params()
        answer = await self._perform(arrival)
        answer.headers.extend(quota)
        return answer

    async def _admit_with_body(self, arrival: _Arrival) -> None:
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

    def _admit(self, arrival: _Arrival) -> None:
        self._database.read(partial(self._meet, arrival))

    def _meet(self, arrival: _Arrival, db: Connection) -> None:
        """Find out who calls, and stop a caller who gets no further, whatever the parameters are."""
        endpoint = arrival.endpoint
        actor = arrival.actor = self._authenticate(db, arrival.credentials)
        if not actor.known:
            if not endpoint.open:
                raise Unauthenticated
        elif not within_scope(actor, endpoint.scopes):
            raise OutOfScope(endpoint.scopes)
        elif endpoint.asks_caller_only:
            require(endpoint.may(actor))

    async def _perform(self, arrival: _Arrival) -> Answer:
        endpoint = arrival.endpoint
        if endpoint.staged:
            return _tagged(await self._in(self.pool, partial(self._run_staged, arrival)), arrival)
        if endpoint.prepare is not None:
            await self._in(self.pool, partial(self._runner.prepare, arrival))
        work = partial(self._run, arrival)
        if endpoint.writes:
            return await self._write(arrival, partial(self._database.write, work))
        reading = partial(self._database.read, work)
        answer = await (self._in(self.pool, reading) if endpoint.heavy else self._inline_if_short(reading))
        return _tagged(answer, arrival)

    async def _write(self, arrival: _Arrival, writing: Callable[[], Answer]) -> Answer:
        try:
            return await self._in(self.pool if arrival.endpoint.heavy else self.writer, writing)
        except Failure:
            # Only a refusal is known to have changed nothing: a commit that was not heard of may have worked.
            for step in arrival.undo:
                with suppress(Unavailable):
                    await self._in(self.pool, step)
            raise

    def _read(self, arrival: _Arrival, db: Connection) -> Answer:
        self._meet(arrival, db)
        arrival.read_params()
        return _tagged(self._run(arrival, db), arrival)

    async def _inline_if_short(self, reading: Callable[[], Answer]) -> Answer:
        """Read on the event loop; what turns out to take long there is begun anew in a thread."""
        try:
            with inline():
                return reading()
        except TooLong:
            return await self._in(self.pool, reading)

    def _run(self, arrival: _Arrival, db: Connection) -> Answer:
        return _answer(arrival, self._runner.run(arrival, db))

    def _run_staged(self, arrival: _Arrival) -> Answer:
        return _answer(arrival, self._runner.stage(arrival))

    async def _body(self, arrival: _Arrival) -> dict[str, Any]:
        headers = arrival.request.headers
        if b"content-length" not in headers and b"transfer-encoding" not in headers:
            return {}
        limit = arrival.endpoint.body_limit
        if not isinstance(limit, int):
            limit = self._database.read(partial(self._ask_limit, limit, arrival.credentials))
        return await parse_body(arrival.request.receive, headers, limit)

    def _ask_limit(self, ask: Callable[[Connection], int], credentials: Credentials, db: Connection) -> int:
        return ask(db) if self._authenticate(db, credentials).known else BODY_LIMIT

    async def _in(self, executor: Executor, work: Callable[[], T]) -> T:
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


def _body_size(endpoint: Endpoint, headers: dict[bytes, bytes]) -> int:
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
        token = _word(sent.get("private_token")) or _word(sent.get("access_token")) or token
        sudo = _word(sent.get("sudo")) or sudo
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


def _word(value: Any) -> str | None:
    """A parameter that is one word or number; a list or hash proves nothing."""
    return str(value) or None if isinstance(value, str | int) and not isinstance(value, bool) else None


def _cookie(headers: dict[bytes, bytes], name: bytes) -> str | None:
    for part in headers.get(b"cookie", b"").split(b";"):
        key, _, value = part.strip().partition(b"=")
        if key == name:
            return value.decode("latin-1")
    return None


def _tagged(answer: Answer, arrival: _Arrival) -> Answer:
    return tagged(answer, arrival.request.headers.get(b"if-none-match"))


def _answer(arrival: _Arrival, result: Any) -> Answer:
    endpoint, request = arrival.endpoint, arrival.request
    if type(result) is Listing:
        url = request.origin.url + request.path.decode("ascii")
        return Answer(endpoint.status, encode(result.items), _JSON_ONLY + page_headers(result, url, request.query))
    if type(result) is Raw:
        return Answer(endpoint.status, result.body, [(b"content-type", result.content_type.encode()), *result.headers])
    if type(result) is Instead:
        return json_answer(result.status, result.content)
    if type(result) is Content:
        return content_answer(result, request)
    if type(result) is Streamed:
        length = [] if result.length is None else [(b"content-length", b"%d" % result.length)]
        headers = [(b"content-type", result.content_type.encode()), *result.headers, *length]
        return Answer(endpoint.status, b"", headers, result.pieces)
    if result is None and (endpoint.returns is None or endpoint.method == "DELETE"):
        return Answer(endpoint.status, b"", [])
    return json_answer(endpoint.status, result)
