"""Endpoints as data: each is declared once, and routing, checks, documents and lists all come from that."""

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Required, TypeVar, Unpack

from ingot.core.access.actor import Actor
from ingot.core.access.rules import CALLER_RULES, anyone
from ingot.core.access.scopes import READ_SCOPES, WRITE_SCOPES
from ingot.core.api.params import Params, ParamsReader
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.paging import Page
from ingot.core.http.request import Origin
from ingot.settings import Settings

BODY_LIMIT = 10 * 2**20


@dataclass(slots=True, frozen=True)
class Call:
    """One call of one endpoint; it stays in ``api.py`` modules."""

    db: Connection
    actor: Actor
    path: dict[str, str]
    origin: Origin
    settings: Settings


class PrepareContext(typing.NamedTuple):
    """What work ahead of a transaction has at hand."""

    database: Database
    settings: Settings
    actor: Actor
    path: dict[str, str]
    ip: str
    undo: list[Callable[[], object]]
    """What to do where the transaction then refuses the call, so that nothing stays of the work ahead."""


class StagedCall(typing.NamedTuple):
    """One call of an endpoint that works outside of a transaction, and opens units of work where it needs them."""

    database: Database
    actor: Actor
    path: dict[str, str]
    origin: Origin
    settings: Settings


class RawResponse(typing.NamedTuple):
    """An answer that is not JSON."""

    body: bytes
    content_type: str = "text/plain; charset=utf-8"
    headers: tuple[tuple[bytes, bytes], ...] = ()


class AlternateResponse(typing.NamedTuple):
    """A JSON answer with another status than the endpoint's, which its declaration names as ``instead``."""

    status: int
    content: Any


class StreamedResponse(typing.NamedTuple):
    """An answer that is sent while it is made; each piece is made in a thread of the pool.

    When the caller has gone the iterator is closed, so a generator can end what it had started.
    """

    pieces: Iterator[bytes]
    content_type: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    length: int | None = None


class ContentResponse(typing.NamedTuple):
    """Bytes that are the same wherever their tag is; conditions on it and ranges of them are answered by themselves.

    ``pieces(start, stop)`` yields the bytes of a range, as for ``StreamedResponse``. Without a ``size``, only the whole
    body can be requested. A ``body`` already in memory is sent at once.
    """

    tag: str
    """As in the header: quoted, and ``W/`` before it where only the meaning is the same."""
    size: int | None
    pieces: Callable[[int, int], Iterator[bytes]]
    content_type: str
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes | None = None


Handler = Callable[..., Any]
Finder = Callable[[Call], tuple[Any, Any]]
H = TypeVar("H", bound=Handler)


@dataclass(slots=True)
class Endpoint:
    """What is declared of one endpoint, and what follows from its signature."""

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
    heavy: bool
    staged: bool
    prepare: Callable[[PrepareContext, Any], Any] | None
    locks: str | None
    body_limit: int | Callable[[Connection], int]
    instead: dict[int, Any]
    slashes: str
    kinds: Mapping[str, type[Params]]
    tag: str
    params: type[Params] | None = None
    reader: ParamsReader | None = None
    paged: bool = False
    readers: dict[str, ParamsReader] = field(default_factory=dict)

    def __post_init__(self) -> None:
        hints = typing.get_type_hints(self.handler)
        takes = list(inspect.signature(self.handler).parameters)
        self.params = hints.get("params")
        self.reader = ParamsReader(self.params) if self.params else None
        self.readers = {word: ParamsReader(params) for word, params in self.kinds.items()} if self.params else {}
        self.paged = hints.get("page") is Page
        expected = ["stage" if self.staged else "call"]
        if self.on is not None:
            expected.append("subject")
        expected += ["params"] * (self.params is not None) + ["page"] * self.paged
        expected += ["prepared"] * (self.prepare is not None)
        if len(takes) != len(expected):
            raise TypeError(f"{self.method} {self.path} takes {takes}, which does not follow from its declaration")
        if self.locks and (self.staged or not self.writes):
            raise TypeError(f"{self.method} {self.path} has no transaction of its own to hold a lock")

    def reader_for(self, path: dict[str, str]) -> ParamsReader | None:
        """What reads the parameters of a call of this path; what its last word decides, it decides here."""
        return self.readers.get(next(reversed(path.values())), self.reader) if self.readers else self.reader

    @property
    def writes(self) -> bool:
        """Whether it needs a transaction, and a CSRF token where a session is the only proof."""
        return self.method != "GET"

    @property
    def checks_caller_only(self) -> bool:
        """Whether its rule can be asked before anything is read."""
        return self.may in CALLER_RULES

    @property
    def summary(self) -> str:
        """What the endpoint does, in the words of its handler's docstring."""
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
    """Whether callers without credentials are served."""
    heavy: bool
    """Whether the handler runs in the pool because it may take long."""
    staged: bool
    """Whether the handler runs in the pool without a transaction and gets a ``StagedCall`` instead of a ``ApiCall``.

    It does its git work between the short transactions that it opens itself.
    """
    prepare: Callable[[PrepareContext, Any], Any] | None
    """Runs in the pool before the transaction (``prepare(ahead, params)``), for slow work such as hashing a password.

    The handler gets the result as its last argument.
    """
    locks: str | None
    """The lock under which the subject is found and changed."""
    body_limit: int | Callable[[Connection], int]
    """The largest body in bytes, or a function that reads the limit which administrators have set.

    A function counts for signed-in users only; anonymous callers get the usual limit.
    """
    instead: dict[int, Any] | None
    """The types of alternate responses, by status."""
    slashes: str
    """The path parameter whose slashes may be sent unescaped."""
    kinds: Mapping[str, type[Params]] | None
    """The values that the last path parameter may have, each with the parameters of such a call."""


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
        may, scopes = options["may"], options.get("scopes")

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
                    heavy=options.get("heavy", False),
                    staged=options.get("staged", False),
                    prepare=options.get("prepare"),
                    locks=options.get("locks"),
                    body_limit=options.get("body_limit", BODY_LIMIT),
                    instead=options.get("instead") or {},
                    slashes=options.get("slashes", ""),
                    kinds=options.get("kinds") or {},
                    tag=self.tag,
                )
            )
            return handler

        return declare
