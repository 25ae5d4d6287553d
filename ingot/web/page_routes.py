"""Pages as data, like the API's endpoints: each is declared once, with its path and who may open it."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlsplit

import msgspec

from ingot.accounts.sessions.tables import Session
from ingot.accounts.users.tables import User
from ingot.core.access.actor import Actor
from ingot.core.access.credentials import Credentials
from ingot.core.api.internal_client import P, S, V, WorksOn
from ingot.core.db.database import Database
from ingot.core.http.request import Header, Origin
from ingot.settings import Settings
from ingot.web.client import PageClient
from ingot.web.cookies import THEME_COOKIE

FORM_LIMIT = 2**20
_POLICY_SOURCE = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+|[a-z][a-z0-9.+-]*:")


class PageRequest(msgspec.Struct, frozen=True):
    """The address of a request for a page, and the form that was sent to it."""

    origin: Origin
    address: str
    """Path and query as the visitor wrote them, to come back to."""
    path: dict[str, str]
    """Parameters of the page's path."""
    query: dict[str, Any]
    form: dict[str, Any]

    @property
    def page(self) -> int:
        """The number of the page of a list; anything but a number counts as the first."""
        number = str(self.query.get("page", ""))
        known = number.isascii() and number.isdigit() and len(number) < 8
        return max(int(number), 1) if known else 1


class PageHeaders(msgspec.Struct, frozen=True):
    """What the headers of a request say."""

    credentials: Credentials = Credentials()
    """Tokens of programs, for pages that serve them too."""
    authorization: str = ""
    """The header by which an application authenticates, on the pages that serve them."""
    cookies: dict[str, str] = {}
    fragment: bool = False
    """Whether a script sent the request, which needs only a part of the page."""
    takes_gzip: bool = False

    @property
    def theme(self) -> str:
        """Light or dark, where the visitor has chosen."""
        return self.cookies.get(THEME_COOKIE, "")


class Viewer(msgspec.Struct, frozen=True):
    """The visitor, signed in or not."""

    actor: Actor
    """As services and permissions know the visitor; anonymous unless signed in."""
    user: User | None
    session: Session | None
    csrf: str
    """The token that forms on the page must send back."""
    must_set_up_two_factor: bool = False
    """Whether the visitor has to set up a second factor before anything else."""

    @property
    def signed_in(self) -> User:
        """The user, on pages that require one."""
        assert self.user is not None  # noqa: S101 - Such a page redirects anyone else to the sign-in form.
        return self.user


class Visit(msgspec.Struct, frozen=True):
    """One request for one page."""

    request: PageRequest
    headers: PageHeaders
    viewer: Viewer
    client: PageClient
    """Calls the API's endpoints as the visitor."""
    database: Database
    settings: Settings

    def ask(self, endpoint: Callable[..., V], sent: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint as this visitor; ``path`` holds the parameters of its path, ``sent`` query and body."""
        return self.client.ask(endpoint, sent, path)

    def find(self, endpoint: WorksOn[S, P], /, **path: object) -> S:
        """Return the subject that an endpoint finds by its path, if the visitor may make the call."""
        return self.client.find(endpoint, path)

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the visitor may make a call, so that the page offers it."""
        return self.client.may(endpoint, path)


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
    takes_connection: bool = False
    """Whether the handler of a page to read takes a connection beside the visit."""


@dataclass(slots=True)
class PageRoutes:
    """The pages of one package; a page to read may take a connection, a form runs units of work of its own."""

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
            place.takes_connection = len(signature(handler).parameters) > 1
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
