"""Access control of sites: sign-in through the forge, and a cookie of ten minutes on the host of the site.

1. A request without the cookie is redirected to the forge, with a random value that the browser keeps in a cookie.
2. The forge, where the user is signed in or signs in now, redirects back with a signed code that is valid for a minute,
   for this host and this random value only.
3. The site exchanges the code for its own cookie. It names the user and the host and is no session of the forge; the
   membership is looked up for each request.
"""

import hmac
import secrets
from concurrent.futures import Executor
from functools import partial
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import msgspec

from ingot.accounts.users.actors import active_actor
from ingot.core.access.actor import ANONYMOUS
from ingot.core.access.levels import Level
from ingot.core.api.responses import ApiResponse
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.db.signed_values import sign_value, verify_signed
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.db.vault import Vault
from ingot.core.errors import NotFound
from ingot.core.http.request import Header, Request
from ingot.core.settings import Settings
from ingot.projects.namespaces.ip_restrictions import actor_at, is_closed
from ingot.projects.projects.queries import find_project
from ingot.projects.projects.tables import Project
from ingot.sites.serving.error_pages import error_page, not_found
from ingot.sites.serving.sites import Site

CALLBACK_PATH = b"/-/pages/callback"
AUTHORIZE_PATH = "/-/pages/authorize"
COOKIE_SECONDS = 600
CODE_SECONDS = 60
_COOKIE = "ingot_site"
_NONCE_COOKIE = "ingot_site_nonce"
_CODE_PURPOSE, _COOKIE_PURPOSE = "code of a site", "cookie of a site"
_NO_STORE: Header = (b"cache-control", b"no-store")


class SiteGrant(msgspec.Struct, frozen=True):
    """User whom the forge has identified, for one host."""

    user_id: int
    origin: str
    expires_at: Timestamp
    nonce: str = ""
    path: str = "/"


def is_public(project: Project) -> bool:
    """Return whether everyone may see the site of a project."""
    level = project.options.pages_access_level
    return level == "public" or (level == "enabled" and project.visibility == "public")


def is_open_at(db: Connection, user_id: int | None, project: Project, address: str) -> bool:
    """Return whether the groups around a project are open to an address; they are everywhere for administrators."""
    visitor = None if user_id is None else active_actor(db, user_id)
    return not is_closed(actor_at(db, visitor or ANONYMOUS, address), project.full_path)


def may_see_site(db: Connection, user_id: int, project_id: int, address: str) -> bool:
    """Return whether a user may see the site of a project now, from an address."""
    actor = active_actor(db, user_id)
    if actor is None:
        return False
    try:
        access, project = find_project(db, actor_at(db, actor, address), project_id)
    except NotFound:
        return False
    level = project.options.pages_access_level
    return level != "disabled" and (level != "private" or access.level >= Level.GUEST or actor.admin)


def issue_code(vault: Vault, user_id: int, return_to: str, nonce: str, now: Timestamp) -> str:
    """Return the URL of a site with a code that identifies a user to it."""
    parts = urlsplit(return_to)
    origin = f"{parts.scheme}://{parts.netloc}"
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    expires_at = add_duration(now, seconds=CODE_SECONDS)
    code = sign_value(vault, _CODE_PURPOSE, SiteGrant(user_id, origin, expires_at, nonce, path or "/"))
    return f"{origin}{CALLBACK_PATH.decode()}?{urlencode({'code': code})}"


def request_host(request: Request) -> str:
    """Return the host of a request without its port."""
    return (urlsplit(request.origin.url).hostname or "").lower()


class SiteSignIn:
    """Check of the visitors of sites that not everyone may see."""

    def __init__(self, settings: Settings, database: Database, pool: Executor) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool

    async def refusal(self, request: Request, site: Site) -> ApiResponse | None:
        """Return the response to a visitor who may not see a site, or who has to sign in; None for all others."""
        if is_public(site.project):
            return None
        user_id = self.user_id(request)
        if user_id is None:
            return self.start(request)
        may_see = partial(may_see_site, user_id=user_id, project_id=site.project.id, address=request.origin.ip)
        return None if await self._database.read_async(may_see, self._pool) else not_found()

    def start(self, request: Request) -> ApiResponse:
        """Return a redirect to the forge, which identifies the visitor."""
        if request.headers.get(b"sec-fetch-mode", b"navigate") != b"navigate" or request.method != "GET":
            return not_found()
        nonce = secrets.token_urlsafe(18)
        path = quote(request.path.decode("latin-1"), safe="/%~!$&'()*+,;=:@-._")
        query = f"?{quote(request.query.decode('latin-1'), safe='/%~!$&()*+,;=:@?-._')}" if request.query else ""
        target = urlencode({"return_to": f"{request.origin.url}{path}{query}", "nonce": nonce})
        location = f"{self._settings.base_url}{AUTHORIZE_PATH}?{target}"
        headers = [(b"location", location.encode()), _NO_STORE, self._cookie(request, _NONCE_COOKIE, nonce)]
        return ApiResponse(302, b"", headers)

    def finish(self, request: Request) -> ApiResponse:
        """Exchange the code of the forge for the cookie of the site."""
        vault, now = self._database.vault, self._database.clock()
        sent = parse_qs(request.query.decode("latin-1")).get("code", [""])[0]
        grant = _verified(vault, _CODE_PURPOSE, sent)
        expected = _cookie_of(request, _NONCE_COOKIE) or ""
        if (
            grant is None
            or not expected
            or not hmac.compare_digest(grant.nonce.encode(), expected.encode())
            or grant.origin != request.origin.url
            or grant.expires_at <= now
        ):
            return error_page(400, "Sign-in failed", "Open the page again to repeat the sign-in.")
        expires_at = add_duration(now, seconds=COOKIE_SECONDS)
        value = sign_value(vault, _COOKIE_PURPOSE, SiteGrant(grant.user_id, grant.origin, expires_at))
        headers = [
            (b"location", f"{grant.origin}{grant.path}".encode()),  # A path may begin with two slashes.
            _NO_STORE,
            self._cookie(request, _COOKIE, value),
            self._cookie(request, _NONCE_COOKIE, "", seconds=0),
        ]
        return ApiResponse(302, b"", headers)

    def user_id(self, request: Request) -> int | None:
        """Return the id of the user whom the cookie of a request names."""
        value = _cookie_of(request, _COOKIE)
        grant = None if value is None else _verified(self._database.vault, _COOKIE_PURPOSE, value)
        if grant is None or grant.origin != request.origin.url or grant.expires_at <= self._database.clock():
            return None
        return grant.user_id

    def _cookie(self, request: Request, name: str, value: str, seconds: int = COOKIE_SECONDS) -> Header:
        parts = [f"{_host_prefix(request)}{name}={value}", "Path=/", "HttpOnly", "SameSite=Lax", f"Max-Age={seconds}"]
        if _host_prefix(request):
            parts.append("Secure")
        return b"set-cookie", "; ".join(parts).encode()


def _verified(vault: Vault, purpose: str, text: str) -> SiteGrant | None:
    try:
        return verify_signed(vault, purpose, text, SiteGrant)
    except (ValueError, msgspec.DecodeError):  # Not written by this server.
        return None


def _host_prefix(request: Request) -> str:
    """Return the prefix of names of cookies that only this host can set; browsers honour it over HTTPS only."""
    return "__Host-" if request.origin.url.startswith("https:") else ""


def _cookie_of(request: Request, name: str) -> str | None:
    """Return a cookie of a request; of two with its name, the first, as browsers send the most specific one first."""
    pairs = (pair.strip().partition("=") for pair in request.headers.get(b"cookie", b"").decode("latin-1").split(";"))
    return next((value for found, _, value in pairs if found == f"{_host_prefix(request)}{name}"), None)
