"""Declarations of endpoints, from which routing, checks, documents and lists are derived."""

import inspect
import typing
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any, Required, TypeVar, Unpack

from ingot.core.access.actor import Actor
from ingot.core.access.levels import NO_ACCESS, Access
from ingot.core.access.rules import CALLER_RULES, anyone
from ingot.core.access.scopes import READ_SCOPES, WRITE_SCOPES
from ingot.core.api.params import Params, ParamsReader
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.paging import Page
from ingot.core.http.body_budget import BodyCharge
from ingot.core.http.request import Origin, Receive
from ingot.core.settings import Settings

T = TypeVar("T")
BODY_LIMIT = 10 * 2**20


@dataclass(slots=True)
class Call:
    """Context of one call of an endpoint; used only in ``api.py`` modules."""

    db: Connection
    actor: Actor
    path: dict[str, str]
    origin: Origin
    settings: Settings
    access: Access = NO_ACCESS
    """The caller's access to the subject in the path, as soon as it was found."""
    changes: bool = False
    """Whether the subject must be one that can be changed: not one that is scheduled for deletion."""


class PartialLock(typing.NamedTuple):
    """Lock of the parts that a call changes; of everything for parameters that concern more than these."""

    name: str
    parts: Callable[[Call, Any], Iterable[str]]
    needs_all: Callable[[Any], bool] | None = None


class PrepareContext(typing.NamedTuple):
    """Context of the work before a transaction."""

    database: Database
    settings: Settings
    actor: Actor
    path: dict[str, str]
    ip: str
    undo: list[Callable[[], object]]
    """Steps that revert the prepared work if the transaction is refused."""


class BodyContext(typing.NamedTuple):
    """Context of an endpoint that reads its body as a stream, before its transaction."""

    database: Database
    settings: Settings
    path: dict[str, str]
    params: Any
    """The parameters of the query and, in calls of runners, ``token`` of the header."""
    headers: dict[bytes, bytes]
    receive: Receive
    charge: BodyCharge
    """Anonymous unless the caller is a user; a function that identifies a runner or job by its token changes it."""
    undo: list[Callable[[], object]]
    """Steps that revert the effect of the read body if the transaction is refused."""
    pool: Executor
    actor: Actor

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` on a read-only connection, on the event loop if it need not wait there."""
        return await self.database.read_async(work, self.pool)


class StagedCall(typing.NamedTuple):
    """Context of a call that works outside of a transaction and opens short transactions where it needs them."""

    database: Database
    actor: Actor
    path: dict[str, str]
    origin: Origin
    settings: Settings


class RawResponse(typing.NamedTuple):
    """A response that is not JSON."""

    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[bytes, bytes], ...] = ()
    status: int | None = None
    """None for the status of the endpoint."""


class AlternateResponse(typing.NamedTuple):
    """A JSON response with another status than the endpoint's, declared as ``instead``."""

    status: int
    content: Any


class StreamedResponse(typing.NamedTuple):
    """A response that is sent while it is generated, each chunk in a thread of the pool.

    If the client disconnects, the iterator is closed, so a generator can clean up.
    """

    pieces: Iterator[bytes]
    content_type: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    length: int | None = None


class ContentResponse(typing.NamedTuple):
    """Bytes with their own entity tag; conditions and ranges of a request are handled for it.

    ``pieces(start, stop)`` yields the bytes of a range, as for ``StreamedResponse``. Without a ``size``, only the whole
    body can be requested. A ``body`` already in memory is sent at once.
    """

    tag: str
    """As in the header: quoted, with ``W/`` for a weak tag."""
    size: int | None
    pieces: Callable[[int, int], Iterator[bytes]]
    content_type: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes | None = None
    location: str | None = None
    """URL from which the client downloads the content itself, if it can."""


Handler = Callable[..., Any]
Finder = Callable[[Call], tuple[Any, Any]]
H = TypeVar("H", bound=Handler)


@dataclass(slots=True)
class Endpoint:
    """Declaration of one endpoint, with what follows from the signature of its handler."""

    method: str
    path: str
    handler: Handler
    may: Callable[..., bool]
    returns: Any
    on: Finder | None
    status: int
    denied: int
    conflict: int
    scopes: frozenset[str]
    open: bool
    cached: bool
    state: Callable[[Settings, Any], Hashable] | None
    heavy: bool
    staged: bool
    prepare: Callable[[PrepareContext, Any], Any] | None
    read_body: Callable[[BodyContext], Awaitable[Any]] | None
    runner_call: bool
    job_token: bool
    package_client: bool
    rate_limited: bool
    on_refused_token: Callable[[Database, str], object] | None
    locks: str | PartialLock | None
    body_limit: int | Callable[[Connection], int]
    instead: dict[int, Any]
    slashes: str
    kinds: Mapping[str, type[Params]]
    header_params: Mapping[str, str]
    on_scheduled: bool
    tag: str
    params: type[Params] | None = None
    reader: ParamsReader | None = None
    paged: bool = False
    readers: dict[str, ParamsReader] = field(default_factory=dict)
    checks_caller_only: bool = False
    """Whether its permission depends on the caller only, so that it is checked before anything is read."""

    def __post_init__(self) -> None:
        self.checks_caller_only = self.may in CALLER_RULES
        hints = typing.get_type_hints(self.handler)
        arguments = list(inspect.signature(self.handler).parameters)
        self.params = hints.get("params")
        self.reader = ParamsReader(self.params) if self.params else None
        self.readers = {word: ParamsReader(params) for word, params in self.kinds.items()} if self.params else {}
        self.paged = hints.get("page") is Page
        expected = ["stage" if self.staged else "call"]
        if self.on is not None:
            expected.append("subject")
        expected += ["params"] * (self.params is not None) + ["page"] * self.paged
        expected += ["prepared"] * (self.prepare is not None) + ["body"] * (self.read_body is not None)
        if len(arguments) != len(expected):
            raise TypeError(f"{self.method} {self.path} takes {arguments}, which does not follow from its declaration")
        if self.locks and (self.staged or not self.writes):
            raise TypeError(f"{self.method} {self.path} has no transaction of its own to hold a lock")
        if self.cached and (self.writes or self.heavy or self.staged or self.prepare):
            raise TypeError(f"{self.method} {self.path} cannot be cached: it is not one short read")
        if self.cached and (self.header_params or self.runner_call or self.package_client):
            raise TypeError(f"{self.method} {self.path} cannot be cached: it depends on headers of the request")
        if self.read_body and (self.prepare or not self.writes):
            raise TypeError(f"{self.method} {self.path} cannot read a body: it is a GET or prepared")

    def reader_for(self, path: dict[str, str]) -> ParamsReader | None:
        """Return the reader of the parameters of a call; it may depend on the last path parameter."""
        return self.readers.get(next(reversed(path.values())), self.reader) if self.readers else self.reader

    @property
    def writes(self) -> bool:
        """Return whether it needs a transaction, and a CSRF token for session cookies."""
        return self.method != "GET"

    @property
    def summary(self) -> str:
        """Return the docstring of the handler."""
        return inspect.getdoc(self.handler) or ""


class EndpointOptions(typing.TypedDict, total=False):
    """Options of a declaration; ``may`` and ``returns`` have no default."""

    may: Required[Callable[..., bool]]
    """The permission; a public endpoint declares ``anyone``."""
    returns: Required[Any]
    """Type of the JSON response, ``None`` for an empty body, or ``RawResponse``, ``StreamedResponse``, ``Content``."""
    on: Finder | None
    """Finds the subject and the caller's access to it, or raises ``NotFound``."""
    status: int
    """The status of a successful response; 201 for POST and 200 for the others unless declared."""
    denied: int
    """The status of a response to a caller who lacks the permission; 403 unless declared."""
    conflict: int
    """The status of a response to a ``Conflict``; 409 unless declared."""
    scopes: Iterable[str] | None
    """The token scopes of which the caller needs one; those for reading or for writing unless declared."""
    open: bool
    """Serve callers without credentials."""
    cached: bool | Callable[[Settings, Any], Hashable]
    """Cache the response until the next commit (see ``cached_responses``).

    It must not depend on the address of the caller, on a header, on a file or on the state of a process. Whether it
    depends on the time of day or on a repository is observed, and then it is not cached, unless this is a function
    that returns the state of the subject's repository.
    """
    heavy: bool
    """Run the handler in the pool because it may take long."""
    staged: bool
    """Run the handler in the pool without a transaction; it gets a ``StagedCall`` instead of a ``Call``.

    It does its git work between the short transactions that it opens itself.
    """
    prepare: Callable[[PrepareContext, Any], Any] | None
    """Runs in the pool before the transaction (``prepare(context, params)``), for slow work such as hashing a password.

    The handler gets the result as its last argument.
    """
    read_body: Callable[[BodyContext], Awaitable[Any]] | None
    """Reads the body instead of the kernel, after the parameters, which then come from the query only.

    The handler gets the result as its last argument.
    """
    runner_call: bool
    """Called by runners: credentials of users are ignored, since runners send their own tokens in the same headers.

    ``JOB-TOKEN`` or ``RUNNER-TOKEN`` becomes the parameter ``token`` unless it is sent; the handler checks it.
    """
    job_token: bool
    """Accept the token of a running job, which acts as the job's user; elsewhere such a token is ignored."""
    package_client: bool
    """Called by clients of packages: accept basic authentication, and tokens of any kind in all headers.

    A response with status 401 asks for basic authentication.
    """
    rate_limited: bool
    """Count the call for the rate limits; True unless declared."""
    on_refused_token: Callable[[Database, str], object] | None
    """Called with a token that is not valid, before the response with status 401."""
    locks: str | PartialLock | None
    """The lock under which the subject is found and changed."""
    body_limit: int | Callable[[Connection], int]
    """The largest body in bytes, or a function that reads the limit which administrators have set.

    It counts for identified callers; anonymous ones get ``ANONYMOUS_BODY_LIMIT``.
    """
    instead: dict[int, Any] | None
    """The types of alternate responses, by status."""
    slashes: str
    """The path parameter whose slashes may be sent unescaped."""
    header_params: Mapping[str, str] | None
    """Headers that become parameters unless these are sent, by lowercase name; the handler checks them.

    Credentials of users are ignored, because such clients send their own tokens in the same headers.
    """
    kinds: Mapping[str, type[Params]] | None
    """The values that the last path parameter may have, each with the parameters of such a call."""
    on_scheduled: bool
    """Serve a write also for projects and groups that are scheduled for deletion, which are read-only otherwise."""


@dataclass(slots=True)
class Routes:
    """The endpoints of one package."""

    tag: str
    endpoints: list[Endpoint] = field(default_factory=list)

    def get(self, path: str, **options: Unpack[EndpointOptions]) -> Callable[[H], H]:
        """Declare a read."""
        return self._declare("GET", path, options)

    def post(self, path: str, **options: Unpack[EndpointOptions]) -> Callable[[H], H]:
        """Declare a call that creates or acts."""
        return self._declare("POST", path, options)

    def put(self, path: str, **options: Unpack[EndpointOptions]) -> Callable[[H], H]:
        """Declare an edit."""
        return self._declare("PUT", path, options)

    def patch(self, path: str, **options: Unpack[EndpointOptions]) -> Callable[[H], H]:
        """Declare an edit that clients send as PATCH."""
        return self._declare("PATCH", path, options)

    def delete(self, path: str, **options: Unpack[EndpointOptions]) -> Callable[[H], H]:
        """Declare a removal; removing an object that no longer exists returns 200 with an empty body."""
        return self._declare("DELETE", path, options)

    def _declare(self, method: str, path: str, options: EndpointOptions) -> Callable[[H], H]:
        may, scopes, cached = options["may"], options.get("scopes"), options.get("cached", False)

        def declare(handler: H) -> H:
            self.endpoints.append(
                Endpoint(
                    method=method,
                    path=path,
                    handler=handler,
                    may=may,
                    returns=options["returns"],
                    on=options.get("on"),
                    status=options.get("status", 201 if method == "POST" else 200),
                    denied=options.get("denied", 403),
                    conflict=options.get("conflict", 409),
                    scopes=frozenset(scopes) if scopes else (READ_SCOPES if method == "GET" else WRITE_SCOPES),
                    open=options.get("open", False) or may is anyone,
                    cached=bool(cached),
                    state=cached if callable(cached) else None,
                    heavy=options.get("heavy", False),
                    staged=options.get("staged", False),
                    prepare=options.get("prepare"),
                    read_body=options.get("read_body"),
                    runner_call=options.get("runner_call", False),
                    job_token=options.get("job_token", False),
                    package_client=options.get("package_client", False),
                    rate_limited=options.get("rate_limited", True),
                    on_refused_token=options.get("on_refused_token"),
                    locks=options.get("locks"),
                    body_limit=options.get("body_limit", BODY_LIMIT),
                    instead=options.get("instead") or {},
                    slashes=options.get("slashes", ""),
                    kinds=options.get("kinds") or {},
                    header_params=options.get("header_params") or {},
                    on_scheduled=options.get("on_scheduled", False),
                    tag=self.tag,
                )
            )
            return handler

        return declare
