"""Runs a request through the contract's order of answers: route, credential, caller, parameters, subject, rule."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any, Protocol

import msgspec

from ingot.access.actor import NOBODY, Actor
from ingot.access.credentials import Credentials
from ingot.access.rules import require
from ingot.access.scopes import within_scope
from ingot.api.answers import Answer, Header, OutOfScope, encode, error_answer, json_answer, tagged
from ingot.api.budget import Budget
from ingot.api.fields import BadRequest, close_uploads, parse_body, parse_query
from ingot.api.paging import page_headers
from ingot.api.ranges import content_answer
from ingot.api.router import Router
from ingot.api.routes import BODY_LIMIT, Ahead, Call, Content, Endpoint, Instead, Raw, Stage, Streamed
from ingot.api.running import asked_of, subject_of
from ingot.db.connection import Connection
from ingot.db.database import Database
from ingot.db.paging import Listing
from ingot.errors import Failure, Unauthenticated, Unavailable
from ingot.http.request import Request
from ingot.inline import TooLong, inline
from ingot.settings import Settings

Authenticate = Callable[[Connection, Credentials], Actor]
QUEUE_SECONDS = 10.0
MOST_BYTES_AT_ONCE = 192 * 2**20
_JSON_ONLY: list[Header] = [(b"content-type", b"application/json")]


class Limits(Protocol):
    """How many calls a caller may make; off unless configured."""

    @property
    def active(self) -> bool:
        """Whether any limit is configured."""

    def take(self, db: Connection, actor: Actor, ip: str) -> list[Header]:
        """Count one call, and say what is left; raises ``Throttled`` beyond the limit."""


class Outcome(msgspec.Struct):
    """The answer, and what the log may say of the request."""

    answer: Answer
    endpoint: Endpoint | None = None
    actor: Actor = NOBODY


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
        self._settings = settings
        self._bodies = Budget(MOST_BYTES_AT_ONCE)
        self.writer = ThreadPoolExecutor(1, "writer")
        self.pool = ThreadPoolExecutor(4, "pool")

    async def handle(self, request: Request, route: bytes) -> Outcome:
        """Answer one request; an exception that leaves here is a fault of ours."""
        outcome = Outcome(Answer(500, b"", []))
        try:
            outcome.answer = await self._handle(request, route, outcome)
        except Exception as error:
            endpoint = outcome.endpoint
            answer = error_answer(error, endpoint.denied, endpoint.conflict) if endpoint else error_answer(error)
            if answer is None:
                raise
            outcome.answer = answer
        return outcome

    async def _handle(self, request: Request, route: bytes, outcome: Outcome) -> Answer:
        endpoint, path = self.router.match(request.method, route)
        outcome.endpoint = endpoint
        sent = parse_query(request.query)
        credentials = read_credentials(request.headers, sent, endpoint.writes)
        limited = self._limits.active
        if not (endpoint.writes or endpoint.heavy or endpoint.staged or limited):
            # The common case: one unit of work, no other thread, nothing to wait for.
            reading = partial(
                self._database.read, partial(self._read, endpoint, path, request, sent, credentials, outcome)
            )
            return await self._inline_if_short(reading)
        try:
            async with self._bodies.hold(_body_size(endpoint, request.headers)):
                return await self._handle_slowly(endpoint, path, request, sent, credentials, outcome, limited)
        finally:
            close_uploads(sent)

    async def _handle_slowly(
        self,
        endpoint: Endpoint,
        path: dict[str, str],
        request: Request,
        sent: dict[str, Any],
        credentials: Credentials,
        outcome: Outcome,
        limited: bool,
    ) -> Answer:
        quota: list[Header] = []
        try:
            if endpoint.writes:
                await self._admit_with_body(endpoint, request, sent, credentials, outcome)
            else:
                self._admit(endpoint, credentials, outcome)
        finally:
            # Whoever is refused has called too: guesses count like everything else.
            if limited:
                take = partial(self._limits.take, actor=outcome.actor, ip=request.origin.ip)
                quota = await self._in(self.writer, partial(self._database.write, take))
        answer = await self._perform(endpoint, path, request, sent, outcome.actor)
        answer.headers.extend(quota)
        return answer

    async def _admit_with_body(
        self,
        endpoint: Endpoint,
        request: Request,
        sent: dict[str, Any],
        credentials: Credentials,
        outcome: Outcome,
    ) -> None:
        """Let a writer in, with what the body adds to ``sent``; the token or ``sudo`` may be one of its fields.

        Who brings a token outside of it is looked at first, so that nobody else makes us read a body.
        """
        if credentials.token is not None:
            self._admit(endpoint, credentials, outcome)
        try:
            sent |= await self._body(endpoint, request, credentials)
        except BadRequest:
            if credentials.token is None:
                self._admit(endpoint, credentials, outcome)  # No token can be read in it: it is that of nobody.
            raise
        whole = read_credentials(request.headers, sent, writes=True)
        if credentials.token is None or whole != credentials:
            self._admit(endpoint, whole, outcome)

    async def _perform(
        self, endpoint: Endpoint, path: dict[str, str], request: Request, sent: dict[str, Any], actor: Actor
    ) -> Answer:
        reader = endpoint.reader_for(path)
        params = reader.read(sent) if reader else None
        if endpoint.staged:
            staged = partial(self._run_staged, endpoint, actor, path, request, sent, params)
            return tagged(await self._in(self.pool, staged), request.headers.get(b"if-none-match"))
        prepared: tuple[Any, ...] = ()
        undo: list[Callable[[], object]] = []
        if endpoint.prepare is not None:
            ahead = Ahead(self._database, self._settings, actor, path, request.origin.ip, undo)
            prepared = (await self._in(self.pool, partial(endpoint.prepare, ahead, params)),)
        work = partial(
            self._run,
            endpoint=endpoint,
            actor=actor,
            path=path,
            request=request,
            sent=sent,
            params=params,
            prepared=prepared,
        )
        answer: Answer
        if endpoint.writes:
            executor = self.pool if endpoint.heavy else self.writer
            try:
                answer = await self._in(executor, partial(self._database.write, work))
            except Failure:
                # Only a refusal is known to have changed nothing: a commit that was not heard of may have worked.
                for step in undo:
                    with suppress(Unavailable):
                        await self._in(self.pool, step)
                raise
            return answer
        reading = partial(self._database.read, work)
        answer = await (self._in(self.pool, reading) if endpoint.heavy else self._inline_if_short(reading))
        return tagged(answer, request.headers.get(b"if-none-match"))

    def _read(
        self,
        endpoint: Endpoint,
        path: dict[str, str],
        request: Request,
        sent: dict[str, Any],
        credentials: Credentials,
        outcome: Outcome,
        db: Connection,
    ) -> Answer:
        outcome.actor = self._authenticate(db, credentials)
        _refuse(endpoint, outcome.actor)
        reader = endpoint.reader_for(path)
        params = reader.read(sent) if reader else None
        answer = self._run(db, endpoint, outcome.actor, path, request, sent, params)
        return tagged(answer, request.headers.get(b"if-none-match"))

    async def _inline_if_short(self, reading: Callable[[], Answer]) -> Answer:
        """Read on the event loop; what turns out to take long there is begun anew in a thread."""
        try:
            with inline():
                return reading()
        except TooLong:
            answer: Answer = await self._in(self.pool, reading)
            return answer

    def _admit(self, endpoint: Endpoint, credentials: Credentials, outcome: Outcome) -> None:
        outcome.actor = self._database.read(lambda db: self._authenticate(db, credentials))
        _refuse(endpoint, outcome.actor)

    def _run(
        self,
        db: Connection,
        endpoint: Endpoint,
        actor: Actor,
        path: dict[str, str],
        request: Request,
        sent: dict[str, Any],
        params: Any,
        prepared: tuple[Any, ...] = (),
    ) -> Answer:
        if endpoint.locks is not None:
            db.lock(endpoint.locks)
        call = Call(db, actor, path, request.origin, self._settings)
        arguments = [*subject_of(endpoint, call), *asked_of(endpoint, sent, params)]
        return _answer(endpoint, endpoint.handler(call, *arguments, *prepared), request)

    def _run_staged(
        self,
        endpoint: Endpoint,
        actor: Actor,
        path: dict[str, str],
        request: Request,
        sent: dict[str, Any],
        params: Any,
    ) -> Answer:
        stage = Stage(self._database, actor, path, request.origin, self._settings)
        subject = self._database.read(
            lambda db: subject_of(endpoint, Call(db, actor, path, request.origin, self._settings)),
            ahead_of_change=endpoint.writes,
        )
        return _answer(endpoint, endpoint.handler(stage, *subject, *asked_of(endpoint, sent, params)), request)

    async def _body(self, endpoint: Endpoint, request: Request, credentials: Credentials) -> dict[str, Any]:
        headers = request.headers
        if b"content-length" not in headers and b"transfer-encoding" not in headers:
            return {}
        limit = endpoint.body_limit
        if not isinstance(limit, int):
            limit = self._database.read(partial(self._ask_limit, limit, credentials))
        return await parse_body(request.receive, headers, limit)

    def _ask_limit(self, ask: Callable[[Connection], int], credentials: Credentials, db: Connection) -> int:
        return ask(db) if self._authenticate(db, credentials).known else BODY_LIMIT

    async def _in(self, executor: Executor, work: Callable[[], Any]) -> Any:
        """Run in another thread; what waited too long for its turn is not begun any more."""
        asked = monotonic()

        def begin() -> Any:
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


_NO_CREDENTIALS = Credentials()


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


def _refuse(endpoint: Endpoint, actor: Actor) -> None:
    """Stop a caller who gets no further, whatever the parameters are."""
    if not actor.known:
        if not endpoint.open:
            raise Unauthenticated
    elif not within_scope(actor, endpoint.scopes):
        raise OutOfScope(endpoint.scopes)
    elif endpoint.asks_caller_only:
        require(endpoint.may(actor))


def _answer(endpoint: Endpoint, result: Any, request: Request) -> Answer:
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
