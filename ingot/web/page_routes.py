"""Declarations of page routes, with the request and response types of their handlers."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from types import ModuleType
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlsplit

import msgspec

from ingot.accounts.sessions.tables import Session
from ingot.accounts.users.tables import User
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.access.credentials import Credentials
from ingot.core.api.internal_client import P, S, V, WorksOn
from ingot.core.db.database import Database
from ingot.core.db.times import Timestamp
from ingot.core.http.request import Header, Origin
from ingot.core.markup.render_budget import RenderBudget
from ingot.core.settings import Settings
from ingot.web.client import PageClient
from ingot.web.cookies import THEME_COOKIE

FORM_LIMIT = 2**20
FRAME_OPTIONS: Header = (b"x-frame-options", b"DENY")
SECURITY_HEADERS: list[Header] = [
    (b"x-content-type-options", b"nosniff"),
    FRAME_OPTIONS,
    (b"referrer-policy", b"same-origin"),
]
SANDBOX: Header = (b"content-security-policy", b"default-src 'none'; sandbox")
DOCUMENT_HEADERS: list[Header] = [
    # Without "sandbox", in which browsers do not start their viewers; a document has no access to the pages either way.
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"SAMEORIGIN"),
    (b"referrer-policy", b"same-origin"),
]
_POLICY_SOURCE = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+|[a-z][a-z0-9.+-]*:")


class PageRequest(msgspec.Struct, frozen=True):
    """URL, path parameters, query and form of a page request."""

    origin: Origin
    address: str
    """Path and query as sent by the browser, used to return to the page."""
    path: dict[str, str]
    """Path parameters of the route."""
    query: dict[str, Any]
    form: dict[str, Any]

    @property
    def page(self) -> int:
        """Return the number of the requested list page; 1 if it is not a number."""
        number = str(self.query.get("page", ""))
        valid = number.isascii() and number.isdigit() and len(number) < 8
        return max(int(number), 1) if valid else 1


class PageHeaders(msgspec.Struct, frozen=True):
    """Values read from the request headers."""

    credentials: Credentials = Credentials()
    """API tokens, for pages that API clients use too."""
    authorization: str = ""
    """Authorization header of an OAuth application, on the OAuth endpoints."""
    cookies: dict[str, str] = {}
    fragment: bool = False
    """True if htmx sent the request and needs only a part of the page."""
    takes_gzip: bool = False
    accept_language: bytes = b""

    @property
    def theme(self) -> str:
        """Return the chosen theme, "light" or "dark"; empty if the user has not chosen one."""
        return self.cookies.get(THEME_COOKIE, "")


class Viewer(msgspec.Struct, frozen=True):
    """Current user of a page, signed in or anonymous."""

    actor: Actor
    """Actor for services and permission checks; anonymous unless signed in."""
    user: User | None
    session: Session | None
    csrf: str
    """The token that forms on the page must send back."""
    two_factor_due_at: Timestamp | None = None
    """End of the grace period of a user who has no second factor but must set it up."""
    must_set_up_two_factor: bool = False
    """True if the user must set up two-factor authentication before using other pages."""
    default_language: str = "en"
    """Language that the instance prefers for users who have chosen none."""
    must_accept_terms: bool = False
    """True if the user must accept the terms of service before using other pages."""
    may_enter_admin_mode: bool = False
    """True for an administrator without the rights of one, because the instance asks for a sign-in for that."""
    in_admin_mode: bool = False
    """True for an administrator who has signed in for that."""

    @property
    def signed_in(self) -> User:
        """Return the user, on pages that require sign-in."""
        assert self.user is not None  # noqa: S101 - Such a page redirects anyone else to the sign-in form.
        return self.user


class Visit(msgspec.Struct, frozen=True):
    """One request for one page."""

    request: PageRequest
    headers: PageHeaders
    viewer: Viewer
    client: PageClient
    """Client that calls API endpoints as the current user."""
    database: Database
    settings: Settings
    render_budget: RenderBudget = msgspec.field(default_factory=RenderBudget)

    def ask(self, endpoint: Callable[..., V], params: dict[str, Any] | None = None, /, **path: object) -> V:
        """Call an endpoint as the current user; ``path`` holds the path parameters, ``params`` the query and body."""
        return self.client.ask(endpoint, params, path)

    def find(self, endpoint: WorksOn[S, P], /, **path: object) -> S:
        """Return the subject that an endpoint finds by its path, if the user has permission to call it."""
        return self.client.find(endpoint, path)

    def may(self, endpoint: Callable[..., object], /, **path: object) -> bool:
        """Return whether the user has permission to call an endpoint, so that the page offers it."""
        return self.client.may(endpoint, path)


STRICT_POLICY = (
    b"default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; font-src 'self'; "
    b"connect-src 'self'; frame-src 'self'; manifest-src 'self'; form-action 'self'; frame-ancestors 'none'; "
    b"base-uri 'none'"
)


def policy_with_form_target(address: str) -> bytes:
    """Return the strict policy with another host in ``form-action``; browsers also check redirects against it."""
    parts = urlsplit(address)
    source = f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"
    if not _POLICY_SOURCE.fullmatch(source):
        return STRICT_POLICY
    return STRICT_POLICY.replace(b"form-action 'self'", b"form-action 'self' " + source.encode())


class TemplateResponse(msgspec.Struct):
    """Template with its context."""

    template: str
    context: dict[str, Any] = {}
    status: int = 200
    policy: bytes = STRICT_POLICY
    headers: list[Header] = []
    frameable: bool = False
    """True if pages of this server may embed it."""

    @property
    def is_fragment(self) -> bool:
        """Return whether the template is a part of a page (``_name.html``), without the layout."""
        return self.template.rpartition("/")[2].startswith("_")


class LocalRedirect(msgspec.Struct):
    """Redirect to a path on this host."""

    location: str
    headers: list[Header] = []


class BytesResponse(msgspec.Struct):
    """Response body in memory with its content type."""

    content: bytes
    content_type: str
    headers: list[Header] = []
    is_document: bool = False
    """True if pages of this server may show it in a frame, in the viewer of the browser."""


class FileResponse(msgspec.Struct):
    """Open file, streamed in chunks and then closed."""

    file: BinaryIO
    size: int | None
    """None if the content is generated while it is sent."""
    content_type: str
    headers: list[Header] = []
    is_document: bool = False
    """True if pages of this server may show it in a frame, in the viewer of the browser."""


class ExternalRedirect(msgspec.Struct):
    """Redirect to another host, which an administrator or OAuth application configured as a target."""

    location: str
    headers: list[Header] = []


class JsonResponse(msgspec.Struct):
    """JSON response for API clients."""

    content: Any
    status: int = 200
    headers: list[Header] = []


PageResponse = TemplateResponse | LocalRedirect | ExternalRedirect | JsonResponse | BytesResponse | FileResponse
PageHandler = Callable[[Visit], PageResponse]
Notice = str | Callable[[PageRequest], str]
"""Confirmation of a form, such as "Webhook added.", or a function that chooses it by the request."""
H = TypeVar("H", bound=Callable[..., PageResponse])


@dataclass(slots=True)
class PageRoute:
    """Declared route of one page."""

    method: str
    path: str
    handler: Callable[..., PageResponse]
    open: bool
    """True if the page does not require sign-in."""
    with_expired_password: bool
    """True if users who must first change their password or set up two-factor authentication can open the page."""
    slashes: str = ""
    """Path parameter that may contain slashes, such as a file path."""
    csrf_exempt: bool = False
    """True if no CSRF token is needed, because the URL or the request contains its own secret."""
    limit: int = FORM_LIMIT
    """Maximum size of the request body in bytes."""
    for_api_clients: bool = False
    """True for endpoints of API clients: responses allow any origin (CORS), and errors are JSON."""
    notice: "Notice" = ""
    """Text that the next page shows after the handler has redirected to it; empty if the result speaks for itself."""
    takes_connection: bool = False
    """True if the handler takes a database connection besides the visit (GET only)."""


@dataclass(slots=True)
class PageRoutes:
    """Routes of one module. GET handlers may take a connection; form handlers run their own transactions."""

    routes: list[PageRoute] = field(default_factory=list)

    def get(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare a GET page; its handler runs on the event loop, and again in the thread pool if it would block."""
        return self._declare("GET", path, **options)

    def post(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare a form handler; it runs in the thread pool, outside of any transaction."""
        return self._declare("POST", path, **options)

    def put(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare a handler of PUT requests and of forms with ``_method=put``."""
        return self._declare("PUT", path, **options)

    def delete(self, path: str, **options: Any) -> Callable[[H], H]:
        """Declare a handler of DELETE requests and of forms with ``_method=delete``."""
        return self._declare("DELETE", path, **options)

    def _declare(
        self,
        method: str,
        path: str,
        *,
        open: bool = False,
        with_expired_password: bool = False,
        csrf_exempt: bool = False,
        slashes: str = "",
        limit: int = FORM_LIMIT,
        for_api_clients: bool = False,
        notice: Notice = "",
    ) -> Callable[[H], H]:
        def declare(handler: H) -> H:
            route = PageRoute(
                method, path, handler, open, with_expired_password, slashes, csrf_exempt, limit, for_api_clients, notice
            )
            route.takes_connection = len(signature(handler).parameters) > 1
            self.routes.append(route)
            return handler

        return declare


def page_routes_of(module: ModuleType) -> list[PageRoute]:
    """Return the routes that a module declares as its ``pages``."""
    pages: PageRoutes = module.pages
    return pages.routes


def session_actor(user: User | None) -> Actor:
    """Return the actor of a user who is signed in; anonymous without one."""
    if user is None:
        return ANONYMOUS
    return Actor(user.id, user.username, user.name, user.admin, user.external, "session")


def form_field(form: dict[str, Any], group: str, name: str) -> str:
    """Return the field ``group[name]`` of a form; empty if it is not a single text."""
    fields = form.get(group)
    return text_field(fields, name) if isinstance(fields, dict) else ""


def text_field(fields: dict[str, Any], name: str) -> str:
    """Return a field if it is a single text without NUL characters; otherwise an empty string."""
    value = fields.get(name)
    return value if isinstance(value, str) and "\0" not in value else ""


def local_path(text: Any) -> str | None:
    """Return ``text`` if it is a path on this host; otherwise None. Prevents open redirects."""
    if not isinstance(text, str) or not text.startswith("/") or text[1:2] in ("/", "\\"):
        return None
    return text if text.isprintable() and "\\" not in text else None
