"""HTTP component that serves the HTML pages: routing, sessions, CSRF checks, forms and template rendering."""

import asyncio
import hmac
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec

from ingot.accounts.sessions.queries import csrf_token, session_or_none
from ingot.accounts.sessions.tables import Session
from ingot.accounts.two_factor.queries import is_second_factor_due
from ingot.accounts.users.tables import User
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.api.endpoint_call import SubjectCache
from ingot.core.api.internal_client import InternalCaller, InternalClient
from ingot.core.api.kernel import read_credentials
from ingot.core.api.params import MissingParameter
from ingot.core.api.request_fields import BadRequest, close_uploads, parse_body, parse_query
from ingot.core.api.responses import error_response
from ingot.core.api.router import NoRoute, Router, WrongMethod
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.errors import Denied, Failure, NotFound, Throttled, Unauthenticated, Unavailable
from ingot.git.core.errors import MissingRepository
from ingot.log import log_failure
from ingot.offload import WouldBlock, forbid_blocking
from ingot.projects.projects.queries import find_project
from ingot.settings import Settings
from ingot.web.access_denied import ask_to_sign_in, reject_form
from ingot.web.admin.routes import PAGES as ADMIN
from ingot.web.client import PageClient
from ingot.web.code.routes import PAGES as CODE
from ingot.web.cookies import SESSION_COOKIE, VISITOR_COOKIE, read_cookies, set_cookie
from ingot.web.discussions.routes import PAGES as DISCUSSIONS
from ingot.web.explore.routes import PAGES as EXPLORE
from ingot.web.file_response import send_file
from ingot.web.files import uploads, wiki_files
from ingot.web.files.routes import PAGES as FILES
from ingot.web.files.static import LAYOUT_FILES, versioned_url
from ingot.web.groups.routes import PAGES as GROUPS
from ingot.web.issues.routes import PAGES as ISSUES
from ingot.web.merge_requests.routes import PAGES as MERGE_REQUESTS
from ingot.web.oauth.routes import PAGES as OAUTH
from ingot.web.page_routes import (
    FORM_LIMIT,
    BytesResponse,
    ExternalRedirect,
    FileResponse,
    JsonResponse,
    LocalRedirect,
    PageHeaders,
    PageRequest,
    PageResponse,
    PageRoute,
    PageRoutes,
    Viewer,
    Visit,
)
from ingot.web.paths import plain_path, project_page_words, router_path
from ingot.web.profile.routes import PAGES as PROFILE
from ingot.web.profile.two_factor import PAGE_PATH as TWO_FACTOR
from ingot.web.projects.routes import PAGES as PROJECTS
from ingot.web.rendering import TemplateRenderer, error_page
from ingot.web.sidebar.routes import PAGES as SIDEBAR
from ingot.web.sign_in.routes import PAGES as SIGN_IN
from ingot.web.snippets.routes import PAGES as SNIPPETS
from ingot.web.webhooks.routes import PAGES as WEBHOOKS
from ingot.web.wikis.routes import PAGES as WIKIS

ALL_PAGES: Sequence[PageRoutes] = (
    *SIGN_IN,
    *EXPLORE,
    *PROJECTS,
    *CODE,
    *DISCUSSIONS,
    *SIDEBAR,
    *ISSUES,
    *MERGE_REQUESTS,
    *GROUPS,
    *WEBHOOKS,
    *SNIPPETS,
    *WIKIS,
    *PROFILE,
    *OAUTH,
    *ADMIN,
    *FILES,
)
_SECURITY_HEADERS: list[Header] = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
]
_NO_STORE: Header = (b"cache-control", b"no-store")
_SANDBOX: Header = (b"content-security-policy", b"default-src 'none'; sandbox")
_PAGE_TYPE = b"text/html; charset=utf-8"
_MAX_POOLED_VISITS = 4096
_CORS_ANY_ORIGIN: Header = (b"access-control-allow-origin", b"*")
_PREFLIGHT_HEADERS: list[Header] = [
    _CORS_ANY_ORIGIN,
    (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-max-age", b"7200"),
]
_WRITE_METHODS = ("POST", "PUT", "PATCH", "DELETE")

RenderedResponse = tuple[int, list[Header], bytes | FileResponse]


class _PageCall(msgspec.Struct):
    """State of one page request, filled in while it is processed."""

    request: Request
    form: dict[str, Any] = {}
    cookies: dict[str, str] = {}
    visitor: str = ""
    visit: Visit | None = None


class PagesComponent:
    """HTTP component for the pages, and so for every request that no other component handles."""

    def __init__(self, settings: Settings, database: Database, pool: Executor, client: InternalClient) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._inside = client
        self._templates = TemplateRenderer(database)
        places = [place for pages in ALL_PAGES for place in pages.places]
        self._router: Router[PageRoute] = Router(places, lambda place: place.slashes)
        self._of_programs = frozenset(place.path.encode() for place in places if place.programs)
        self._long: dict[str, tuple[int, int]] = {}
        self._meant = router_path(project_page_words(place.path for place in places))

    def preload(self) -> bool:
        """Load templates and static files before the first request; return whether all templates are compiled."""
        for name in LAYOUT_FILES:
            versioned_url(name)
        return self._templates.preload()

    def handles(self, request: Request) -> bool:  # noqa: ARG002 - An unknown path gets a page too, which says so.
        """Accept any request."""
        return True

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Handle one request and send the response."""
        by_program = request.path in self._of_programs
        if by_program and request.method == "OPTIONS":
            await send_response(send, trace, 204, [*_PREFLIGHT_HEADERS], b"")
            return
        arrival = _PageCall(request)
        try:
            status, headers, body = await self._serve(arrival, trace)
        except (NoRoute, WrongMethod, BadRequest, Failure, MissingParameter, Unavailable) as error:
            status, headers, body = self._refuse(error, arrival)
        except MissingRepository as error:
            if not self._is_deleted(arrival):
                raise
            log_failure("deleted during the request", error, route=trace.route)
            status, headers, body = self._refuse(NotFound("Project"), arrival)
        finally:
            close_uploads(arrival.form)
        if by_program:
            headers.append(_CORS_ANY_ORIGIN)
        if isinstance(body, FileResponse):
            await send_file(request, send, trace, headers, body, self._pool)
            return
        await send_response(send, trace, status, headers, body)

    def _is_deleted(self, arrival: _PageCall) -> bool:
        """Return whether the project was deleted while its page was rendered."""
        visit = arrival.visit
        if visit is None or "path" not in visit.request.path:
            return False
        try:
            self._database.read(partial(find_project, actor=visit.viewer.actor, name=visit.request.path["path"]))
        except NotFound:
            return True
        return False

    def _refuse(self, error: Exception, arrival: _PageCall) -> RenderedResponse:
        answer = error_response(error)
        assert answer is not None  # noqa: S101 - Each of these has one.
        status = answer.status
        person = arrival.visit is None or arrival.visit.headers.credentials.token is None
        if person and arrival.request.method in ("GET", "HEAD") and isinstance(error, Denied | Unauthenticated):
            status = 404  # A 403 would reveal that the page exists.
        by_program = arrival.request.path in self._of_programs
        reply = JsonResponse({"error": "invalid_request"}, status) if by_program else error_page(status)
        visit = arrival.visit or (None if by_program else self._visitor_of_missing_page(arrival))
        status, headers, body = self._render(reply, visit)
        if isinstance(error, WrongMethod):
            headers.append((b"allow", ", ".join(error.allowed).encode()))
        if isinstance(error, Throttled):
            headers.append((b"retry-after", b"%d" % error.retry_after))
        return status, headers, body

    def _visitor_of_missing_page(self, arrival: _PageCall) -> Visit | None:
        """Return the visit for a 404 page if the user is signed in, so that the page shows their navigation."""
        arrival.cookies = read_cookies(arrival.request)
        if SESSION_COOKIE not in arrival.cookies:
            return None
        try:
            visit = self._database.read(partial(self._meet, {}, arrival))
        except (BadRequest, Failure, Unavailable):  # Falls back to the page for signed-out users.
            return None
        return visit if visit.viewer.user else None

    async def _serve(self, arrival: _PageCall, trace: Trace) -> RenderedResponse:
        request, method = arrival.request, arrival.request.method
        path = (
            wiki_files.wiki_path_to_route(request.path)
            or uploads.upload_path_to_route(request.path)
            or self._meant(request.path)
        )
        if method in _WRITE_METHODS:
            limit = (
                self._limit(method, path)
                if SESSION_COOKIE.encode() in request.headers.get(b"cookie", b"")
                else FORM_LIMIT
            )
            arrival.form = await parse_body(request.receive, request.headers, limit)
            method = str(arrival.form.get("_method", method)).upper()
        place, words = self._router.match(method, path)
        trace.route = place.path
        arrival.cookies = read_cookies(request)
        arrival.visitor = arrival.cookies.get(VISITOR_COOKIE) or secrets.token_urlsafe(16)
        enter = partial(self._enter, place, words, arrival, trace)
        if place.method == "GET":
            status, headers, body = await self._read_with_fallback(place, enter, arrival, trace)
        else:
            status, headers, body = await self._run_in_pool(enter)
        if arrival.visit and not arrival.visit.viewer.user and place.open and (b"content-type", _PAGE_TYPE) in headers:
            self._set_visitor_cookie(arrival, headers)
        return status, headers, body

    def _limit(self, method: str, path: bytes) -> int:
        try:
            return self._router.match(method, path)[0].limit
        except (NoRoute, WrongMethod):
            return FORM_LIMIT  # The real method may be in the form's ``_method`` field.

    async def _read_with_fallback(
        self, place: PageRoute, enter: Callable[[], RenderedResponse], arrival: _PageCall, trace: Trace
    ) -> RenderedResponse:
        """Render the matched page; if it is not found, try the whole URL as the path of a project or group."""
        try:
            return await self._read(place, enter)
        except NotFound:
            whole = plain_path(arrival.request.path)
            if whole is None or trace.route == "/:path":
                raise
            place, words = self._router.match("GET", whole)
            return await self._read(place, partial(self._enter, place, words, arrival, trace))

    async def _read(self, place: PageRoute, enter: Callable[[], RenderedResponse]) -> RenderedResponse:
        """Render a page on the event loop, or restart it in the thread pool when it would block.

        After that, the next requests for the page go directly to the pool. Their number doubles with each blocked
        attempt, so that a page that blocked only because caches were empty returns to the event loop.
        """
        left, _ = self._long.get(place.path, (0, 0))
        if left:
            self._long[place.path] = left - 1, self._long[place.path][1]
            return await self._run_in_pool(enter)
        try:
            with forbid_blocking():
                return enter()
        except WouldBlock:
            visits = min(2 * self._long.get(place.path, (0, 2))[1], _MAX_POOLED_VISITS)
            self._long[place.path] = visits, visits
            return await self._run_in_pool(enter)

    async def _run_in_pool(self, work: Callable[[], RenderedResponse]) -> RenderedResponse:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _set_visitor_cookie(self, arrival: _PageCall, headers: list[Header]) -> None:
        """Set the visitor cookie, which forms need; never on other responses, because shared caches may store those."""
        if arrival.cookies.get(VISITOR_COOKIE) != arrival.visitor:
            headers.append(set_cookie(self._settings, VISITOR_COOKIE, arrival.visitor))

    def _enter(self, place: PageRoute, words: dict[str, str], arrival: _PageCall, trace: Trace) -> RenderedResponse:
        """Identify the user, check access, run the page's handler and render its response."""
        visit = arrival.visit = self._database.read(partial(self._meet, words, arrival))
        if visit.viewer.user is not None:
            trace.user = visit.viewer.user.username
        reply = self._redirect_if_blocked(place, visit, arrival.request) or (
            self._database.read(partial(_read_page, place, visit))
            if place.method == "GET"
            else self._act(place, arrival)
        )
        return self._render(reply, visit)

    def render_for(self, user: User | None, request: Request) -> None:
        """Render a page for a user and discard it, to warm up what it needs."""
        place, words = self._router.match("GET", self._meant(request.path))
        arrival = _PageCall(request)
        visit = self._database.read(lambda db: self._visit(words, arrival, db, None, user))
        self._render(self._database.read(partial(_read_page, place, visit)), visit)

    def _meet(self, words: dict[str, str], arrival: _PageCall, db: Connection) -> Visit:
        cookie = arrival.cookies.get(SESSION_COOKIE, "")
        session, user = (session_or_none(db, cookie) if cookie else None) or (None, None)
        return self._visit(words, arrival, db, session, user)

    def _visit(
        self, words: dict[str, str], arrival: _PageCall, db: Connection, session: Session | None, user: User | None
    ) -> Visit:
        request = arrival.request
        query, actor = parse_query(request.query), _actor(user)
        known: SubjectCache | None = {} if request.method == "GET" else None
        return Visit(
            request=PageRequest(request.origin, _address(request), words, query, arrival.form),
            headers=PageHeaders(
                credentials=read_credentials(request.headers, query, writes=False),
                authorization=request.headers.get(b"authorization", b"").decode("latin-1"),
                cookies=arrival.cookies,
                fragment=b"hx-request" in request.headers,
                takes_gzip=b"gzip" in request.headers.get(b"accept-encoding", b""),
            ),
            viewer=Viewer(
                actor=actor,
                user=user,
                session=session,
                csrf=csrf_token(db, session) if session else db.vault.derive("visitor", arrival.visitor.encode()),
                must_set_up_two_factor=user is not None and is_second_factor_due(db, user),
            ),
            client=PageClient(self._inside, InternalCaller(actor, request.origin, known)),
            database=self._database,
            settings=self._settings,
        )

    def _redirect_if_blocked(self, place: PageRoute, visit: Visit, request: Request) -> PageResponse | None:
        if visit.viewer.user is None and not place.open:
            return ask_to_sign_in(place.method, visit, request.headers)
        if visit.viewer.user is not None and visit.viewer.user.password_expired and not place.with_expired_password:
            return LocalRedirect("/profile/password/new")
        if (
            visit.viewer.must_set_up_two_factor
            and not place.with_expired_password
            and not place.path.startswith(TWO_FACTOR)
        ):
            return LocalRedirect(TWO_FACTOR)
        return None

    def _act(self, place: PageRoute, arrival: _PageCall) -> PageResponse:
        """Check the CSRF token and run the form's handler."""
        visit = arrival.visit
        assert visit is not None  # noqa: S101 - _enter sets it before this call.
        sent = arrival.form.get("authenticity_token") or arrival.request.headers.get(b"x-csrf-token", b"").decode(
            "latin-1"
        )
        known = isinstance(sent, str) and hmac.compare_digest(sent.encode(), visit.viewer.csrf.encode())
        return place.handler(visit) if place.by_link or known else reject_form(visit, arrival.request.headers)

    def _render(self, reply: PageResponse, visit: Visit | None) -> RenderedResponse:
        if isinstance(reply, LocalRedirect):
            location = quote(reply.location, safe="/%?#=&+:@!$,;~*'()") if reply.location.startswith("/") else "/"
            return 302, [(b"location", location.encode()), *_SECURITY_HEADERS, *reply.headers], b""
        if isinstance(reply, ExternalRedirect):
            away = quote(reply.location, safe="/%?#=&+:@!$,;~*'()[]")
            return 302, [(b"location", away.encode()), _NO_STORE, *_SECURITY_HEADERS, *reply.headers], b""
        if isinstance(reply, JsonResponse):
            kind = (b"content-type", b"application/json; charset=utf-8")
            headers = [kind, _SANDBOX, _NO_STORE, *_SECURITY_HEADERS, *reply.headers]
            return reply.status, headers, msgspec.json.encode(reply.content)
        if isinstance(reply, BytesResponse | FileResponse):
            kind = (b"content-type", reply.content_type.encode())
            content = reply.content if isinstance(reply, BytesResponse) else reply
            return 200, [kind, _SANDBOX, *_SECURITY_HEADERS, *reply.headers], content
        kind, policy = (b"content-type", _PAGE_TYPE), (b"content-security-policy", reply.policy)
        headers = [kind, policy, _NO_STORE, *_SECURITY_HEADERS, *reply.headers]
        return reply.status, headers, self._templates.render(reply, visit)


def _read_page(place: PageRoute, visit: Visit, db: Connection) -> PageResponse:
    return place.handler(visit, db) if place.takes_connection else place.handler(visit)


def _actor(user: User | None) -> Actor:
    if user is None:
        return ANONYMOUS
    return Actor(user.id, user.username, user.name, user.admin, user.external, "session")


def _address(request: Request) -> str:
    return request.path.decode("latin-1") + ("?" + request.query.decode("latin-1") if request.query else "")
