"""Endpoints as data: each is declared once, and routing, checks, documents and lists all come from that."""

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

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


@dataclass(slots=True)
class Routes:
    """The endpoints of one room."""

    tag: str
    endpoints: list[Endpoint] = field(default_factory=list)

    def get(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare a read."""
        return self._declare("GET", path, 200, **options)

    def post(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare a call that creates or acts."""
        return self._declare("POST", path, 201, **options)

    def put(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare an edit."""
        return self._declare("PUT", path, 200, **options)

    def patch(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare an edit in the other spelling."""
        return self._declare("PATCH", path, 200, **options)

    def delete(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare a removal; what is gone already answers 200 with an empty body."""
        return self._declare("DELETE", path, 200, **options)

    def _declare(
        self,
        method: str,
        path: str,
        success: int,
        *,
        may: Callable[..., bool],
        returns: Any,
        on: Finder | None = None,
        status: int | None = None,
        denied: int = 403,
        conflict: int = 409,
        scopes: Iterable[str] | None = None,
        open: bool = False,
        heavy: bool = False,
        staged: bool = False,
        prepare: Callable[[PrepareContext, Any], Any] | None = None,
        locks: str | None = None,
        body_limit: int | Callable[[Connection], int] = BODY_LIMIT,
        instead: dict[int, Any] | None = None,
        slashes: str = "",
        kinds: Mapping[str, type[Params]] | None = None,
    ) -> Callable[[H], H]:
        """``may`` has no default: an open route says ``anyone``.

        ``prepare(ahead, params)`` runs in the pool ahead of the transaction, for what takes long (a
        password's hash); the handler gets its result as the last argument. A ``staged`` handler gets a ``StagedCall``
        instead of a call: it runs in the pool, and what it does in git happens between its units of work.
        ``locks`` names the lock under which the subject is found and changed. A ``body_limit`` that administrators
        set is a function; it counts for users only, strangers never get more than the usual one. ``instead`` says
        what else a call may answer than it usually does, by the status. ``slashes`` names the parameter of the path
        whose slashes may be sent as they are. ``kinds`` are the words that the path's last parameter may be, and what a
        call with each of them takes.
        """

        def declare(handler: H) -> H:
            self.endpoints.append(
                Endpoint(
                    method=method,
                    path=path,
                    handler=handler,
                    may=may,
                    returns=returns,
                    on=on,
                    status=success if status is None else status,
                    denied=denied,
                    conflict=conflict,
                    scopes=frozenset(scopes) if scopes else (READ_SCOPES if method == "GET" else WRITE_SCOPES),
                    open=open or may is anyone,
                    heavy=heavy,
                    staged=staged,
                    prepare=prepare,
                    locks=locks,
                    body_limit=body_limit,
                    instead=instead or {},
                    slashes=slashes,
                    kinds=kinds or {},
                    tag=self.tag,
                )
            )
            return handler

        return declare
