"""Pages as data, like the API's endpoints: each is declared once, with its path and who may open it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlsplit

import msgspec

from ingot.accounts.sessions.tables import Session
from ingot.accounts.users.tables import User
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.credentials import Credentials
from ingot.core.api.endpoint_call import SubjectCache
from ingot.core.api.internal_client import InternalCaller, InternalClient
from ingot.core.db.database import Database
from ingot.core.http.request import Header, Origin
from ingot.settings import Settings

FORM_LIMIT = 2**20
_POLICY_SOURCE = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+|[a-z][a-z0-9.+-]*:")


class Visit(msgspec.Struct, frozen=True):
    """One visit of one page."""

    database: Database
    settings: Settings
    origin: Origin
    path: dict[str, str]
    query: dict[str, Any]
    form: dict[str, Any]
    user: User | None
    session: Session | None
    csrf: str
    """What forms on the page must send back."""
    address: str
    """Path and query as the visitor wrote them, to come back to."""
    inside: InternalClient
    credentials: Credentials = Credentials()
    """What programs bring, for pages that serve them too."""
    theme: str = ""
    """Light or dark, where the visitor has chosen."""
    authorization: str = ""
    """The header by which an application proves itself, on the pages that serve them."""
    cookies: dict[str, str] = {}
    fragment: bool = False
    """Whether a script asks, which wants only a part of the page."""
    takes_gzip: bool = False
    must_set_up_two_factor: bool = False
    """Whether the visitor has to set up a second factor before anything else."""
    known: SubjectCache | None = None
    """What endpoints found for this visit already, on pages to read: all of a page is of one moment."""

    @property
    def signed_in(self) -> User:
        """The user, on pages that are not open."""
        assert self.user is not None  # noqa: S101 - The door lets nobody else in.
        return self.user

    @property
    def actor_or_anonymous(self) -> Actor:
        """The visitor, on pages that are open."""
        return self.actor if self.user else ANONYMOUS

    @property
    def actor(self) -> Actor:
        """The same for services."""
        user = self.signed_in
        return Actor(user.id, user.username, user.name, user.admin, user.external, "session")

    @property
    def page(self) -> int:
        """Which page of a list the address asks for; what is no number is passed over."""
        asked = str(self.query.get("page", ""))
        known = asked.isascii() and asked.isdigit() and len(asked) < 8
        return max(int(asked), 1) if known else 1

    def get(self, route: str, sent: dict[str, Any] | None = None, /, **path: Any) -> Any:
        """What the API's endpoint of this path gives this visitor: a view, or a listing of them.

        Words after ``:`` in the path are named by keyword, what else a caller would send is in ``sent``.
        """
        return self.call("GET", route, sent, **path)

    def call(self, method: str, route: str, sent: dict[str, Any] | None = None, /, **path: Any) -> Any:
        """The same for any method; raises the refusals that the API would answer with."""
        return self.inside.call(self._caller, method, route, _path_values(path), sent or {})

    def find(self, method: str, route: str, /, **path: Any) -> Any:
        """What an endpoint's path names, as its room finds it: it says what the visitor may do there."""
        return self.inside.find(self._caller, method, route, _path_values(path))

    def may(self, method: str, route: str, /, **path: Any) -> bool:
        """Whether a call would be allowed, so that the page offers it."""
        return self.inside.allows(self._caller, method, route, _path_values(path))

    @property
    def _caller(self) -> InternalCaller:
        return InternalCaller(self.actor_or_anonymous, self.origin, self.known)


def _path_values(path: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in path.items()}


STRICT_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; "
    b"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def policy_with_form_target(address: str) -> bytes:
    """The same for a page whose form may end at another host: browsers hold redirects against the policy too."""
    parts = urlsplit(address)
    place = f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"
    if not _POLICY_SOURCE.fullmatch(place):
        return STRICT_POLICY
    return STRICT_POLICY.replace(b"form-action 'self'", b"form-action 'self' " + place.encode())


class TemplateResponse(msgspec.Struct):
    """A template and what it shows."""

    template: str
    context: dict[str, Any] = {}
    status: int = 200
    policy: bytes = STRICT_POLICY
    headers: list[Header] = []


class LocalRedirect(msgspec.Struct):
    """Lead the browser elsewhere on this host."""

    location: str
    headers: list[Header] = []


class BytesResponse(msgspec.Struct):
    """Bytes with their type."""

    content: bytes
    content_type: str
    headers: list[Header] = []


class FileResponse(msgspec.Struct):
    """An open file, sent piece by piece and then closed."""

    file: BinaryIO
    size: int | None
    """Unknown of what is made while it is sent."""
    content_type: str
    headers: list[Header] = []


class ExternalRedirect(msgspec.Struct):
    """Lead the browser to another host, one that people named for this very purpose."""

    location: str
    headers: list[Header] = []


class JsonResponse(msgspec.Struct):
    """An answer for programs, as JSON."""

    content: Any
    status: int = 200
    headers: list[Header] = []


PageResponse = TemplateResponse | LocalRedirect | ExternalRedirect | JsonResponse | BytesResponse | FileResponse
PageHandler = Callable[[Visit], PageResponse]
H = TypeVar("H", bound=Callable[..., PageResponse])


@dataclass(slots=True)
class PageRoute:
    """What is declared of one page."""

    method: str
    path: str
    handler: Callable[..., PageResponse]
    open: bool
    """Whether people who are not signed in may come."""
    with_expired_password: bool
    """Whether it opens to those who have to choose another password, or to set up a second factor, first."""
    slashes: str = ""
    """The word of the path that may hold slashes, such as a file's."""
    by_link: bool = False
    """Whether its address itself proves that it may be used, so that a form needs no token besides."""
    limit: int = FORM_LIMIT
    """How much a form may bring, in bytes."""
    programs: bool = False
    """Whether programs call it, also those that run on other sites' pages: they bring a secret and no cookie counts."""


@dataclass(slots=True)
class PageRoutes:
    """The pages of one room; a read gets a connection, a form runs units of work of its own."""

    places: list[PageRoute] = field(default_factory=list)

    def get(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare a page to read; it runs inline, and anew in the pool where that turns out to take long."""
        return self._declare("GET", path, **options)

    def post(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare what a form does; it runs in the pool, outside of any unit of work."""
        return self._declare("POST", path, **options)

    def put(self, path: str, **options: Any) -> Callable[[H], H]:
        """The same for forms that say ``_method=put``."""
        return self._declare("PUT", path, **options)

    def delete(self, path: str, **options: Any) -> Callable[[H], H]:
        """The same for forms that say ``_method=delete``."""
        return self._declare("DELETE", path, **options)

    def _declare(
        self,
        method: str,
        path: str,
        *,
        open: bool = False,
        with_expired_password: bool = False,
        by_link: bool = False,
        slashes: str = "",
        limit: int = FORM_LIMIT,
        programs: bool = False,
    ) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            place = PageRoute(method, path, handler, open, with_expired_password, slashes, by_link, limit, programs)
            self.places.append(place)
            return handler

        return declare


def form_field(form: dict[str, Any], group: str, name: str) -> str:
    """The field ``group[name]`` of a form; nothing that is not one text gets through."""
    fields = form.get(group)
    return text_field(fields, name) if isinstance(fields, dict) else ""


def text_field(sent: dict[str, Any], name: str) -> str:
    """What was sent by this name, if that is one text."""
    value = sent.get(name)
    return value if isinstance(value, str) and "\0" not in value else ""


def local_path(text: Any) -> str | None:
    """``text``, if following it stays on this host."""
    if not isinstance(text, str) or not text.startswith("/") or text[1:2] in ("/", "\\"):
        return None
    return text if text.isprintable() and "\\" not in text else None
