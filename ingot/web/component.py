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
from ingot.core.access.actor import Actor
from ingot.core.api.endpoint_call import SubjectCache
from ingot.core.api.internal_client import InternalCaller, InternalClient
from ingot.core.api.kernel import read_credentials
from ingot.core.api.params import MissingParameter
from ingot.core.api.request_fields import BadRequest, close_uploads, parse_body, parse_query
from ingot.core.api.responses import error_response
from ingot.core.api.router import NoRoute, Router, WrongMethod
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.http.body_budget import BodyBudget, BodyCharge
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.errors import Denied, Failure, NotFound, StorageFull, Unauthenticated, Unavailable
from ingot.git.core.errors import is_storage_full
from ingot.git.core.library import reopen_repositories
from ingot.log import log_failure
from ingot.offload import WouldBlock, forbid_blocking
from ingot.projects.groups.queries import find_group
from ingot.projects.projects.queries import find_project
from ingot.settings import Settings
from ingot.web.access_denied import ask_to_sign_in, reject_form
from ingot.web.admin.routes import PAGES as ADMIN
from ingot.web.ci.routes import PAGES as CI
from ingot.web.client import PageClient
from ingot.web.code.routes import PAGES as CODE
from ingot.web.cookies import NOTICE_COOKIE, SESSION_COOKIE, VISITOR_COOKIE, read_cookies, set_cookie
from ingot.web.discussions.routes import PAGES as DISCUSSIONS
from ingot.web.display_zone import page_locale
from ingot.web.explore.routes import PAGES as EXPLORE
from ingot.web.file_response import send_file
from ingot.web.files import uploads, wiki_files
from ingot.web.files.routes import PAGES as FILES
from ingot.web.files.static import LAYOUT_FILES, versioned_url
from ingot.web.groups.routes import PAGES as GROUPS
from ingot.web.issues.routes import PAGES as ISSUES
from ingot.web.merge_requests.routes import PAGES as MERGE_REQUESTS
from ingot.web.notices import clear_notice_header, notice_header
from ingot.web.oauth.routes import PAGES as OAUTH
from ingot.web.page_routes import (
    FORM_LIMIT,
    FRAME_OPTIONS,
    SANDBOX,
    SECURITY_HEADERS,
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
    session_actor,
)
from ingot.web.paths import plain_path, project_page_names, router_path
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
    *CI,
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
_NO_STORE: Header = (b"cache-control", b"no-store")
_PAGE_TYPE = b"text/html; charset=utf-8"
_MAX_POOLED_REQUESTS = 4096
_CORS_ANY_ORIGIN: Header = (b"access-control-allow-origin", b"*")
_PREFLIGHT_HEADERS: list[Header] = [
    _CORS_ANY_ORIGIN,
    (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-max-age", b"7200"),
]
_WRITE_METHODS = ("POST", "PUT", "PATCH", "DELETE")

_REFUSALS = (NoRoute, WrongMethod, BadRequest, Failure, MissingParameter, Unavailable)
"""Errors that have a specified response."""

RenderedResponse = tuple[int, list[Header], bytes | FileResponse]


class _PageCall(msgspec.Struct):
    """State of one page request, filled in while it is processed."""

    request: Request
    form: dict[str, Any] = {}
    cookies: dict[str, str] = {}
    visitor: str = ""
    visit: Visit | None = None
    charge: BodyCharge | None = None


class PagesComponent:
    """HTTP component for the pages, and so for every request that no other component handles."""

    def __init__(
        self, settings: Settings, database: Database, pool: Executor, client: InternalClient, bodies: BodyBudget
    ) -> None:
        self._settings = settings
        self._database = database
        self._pool = pool
        self._client = client
        self._bodies = bodies
        self._templates = TemplateRenderer(database)
        routes = [route for pages in ALL_PAGES for route in pages.routes]
        self._router: Router[PageRoute] = Router(routes, lambda route: route.slashes)
        self._api_paths = frozenset(route.path.encode() for route in routes if route.for_api_clients)
        self._slow_pages: dict[str, tuple[int, int]] = {}
        self._router_path = router_path(project_page_names(route.path for route in routes))

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
        for_api_client = request.path in self._api_paths
        if for_api_client and request.method == "OPTIONS":
            await send_response(send, trace, 204, [*_PREFLIGHT_HEADERS], b"")
            return
        page_call = _PageCall(request)
        try:
            status, headers, body = await self._serve_or_recover(page_call, trace)
        except _REFUSALS as error:
            status, headers, body = self._respond_to_error(error, page_call)
        finally:
            close_uploads(page_call.form)
            if page_call.charge is not None:
                page_call.charge.release()
        if for_api_client:
            headers.append(_CORS_ANY_ORIGIN)
        if isinstance(body, FileResponse):
            try:
                await send_file(request, send, trace, headers, body, self._pool)
            except Exception as error:
                if trace.answered or not self._is_deleted(page_call):
                    raise
                log_failure("deleted during the request", error, route=trace.route)
                status, headers, body = self._respond_to_error(NotFound(), page_call)
            else:
                return
        assert isinstance(body, bytes)  # noqa: S101 - A refusal has no file.
        await send_response(send, trace, status, headers, body)

    async def _serve_or_recover(self, page_call: _PageCall, trace: Trace) -> RenderedResponse:
        """Serve a page; on an unexpected error, determine whether a full disk or a concurrent deletion caused it."""
        try:
            return await self._serve(page_call, trace)
        except _REFUSALS:
            raise
        except Exception as error:
            if is_storage_full(error):
                log_failure("disk full", error, route=trace.route)
                raise StorageFull from error
            if page_call.request.method in ("GET", "HEAD"):
                return await self._serve_again(error, page_call, trace)
            if not self._is_deleted(page_call):
                raise
            log_failure("deleted during the request", error, route=trace.route)
            raise NotFound from error

    async def _serve_again(self, error: Exception, page_call: _PageCall, trace: Trace) -> RenderedResponse:
        """Read a page a second time: objects that were deleted during the first attempt are not found now."""
        log_failure("page read again", error, route=trace.route)
        reopen_repositories()
        try:
            return await self._serve(page_call, trace)
        except _REFUSALS:
            raise
        except Exception:  # noqa: BLE001 - The first error is reported.
            raise error from None

    def _is_deleted(self, page_call: _PageCall) -> bool:
        """Return whether the project or group of the page was deleted while the request ran."""
        visit = page_call.visit
        if visit is None or "path" not in visit.request.path:
            return False
        return self._database.read(partial(_is_missing, actor=visit.viewer.actor, path=visit.request.path["path"]))

    def _respond_to_error(self, error: Exception, page_call: _PageCall) -> RenderedResponse:
        api_response = error_response(error)
        assert api_response is not None  # noqa: S101 - Each of these has one.
        status = api_response.status
        by_browser = page_call.visit is None or page_call.visit.headers.credentials.token is None
        if by_browser and page_call.request.method in ("GET", "HEAD") and isinstance(error, Denied | Unauthenticated):
            status = 404  # A 403 would reveal that the page exists.
        for_api_client = page_call.request.path in self._api_paths
        response = JsonResponse({"error": "invalid_request"}, status) if for_api_client else error_page(status)
        visit = page_call.visit or (None if for_api_client else self._visit_of_missing_page(page_call))
        status, headers, body = self._render(response, visit)
        if isinstance(error, WrongMethod):
            headers.append((b"allow", ", ".join(error.allowed).encode()))
        headers += [header for header in api_response.headers if header[0] == b"retry-after"]
        return status, headers, body

    def _visit_of_missing_page(self, page_call: _PageCall) -> Visit | None:
        """Return the visit for a 404 page if the user is signed in, so that the page shows their navigation."""
        page_call.cookies = read_cookies(page_call.request)
        if SESSION_COOKIE not in page_call.cookies:
            return None
        try:
            visit = self._database.read(partial(self._build_visit, {}, page_call))
        except (BadRequest, Failure, Unavailable):  # Falls back to the page for signed-out users.
            return None
        return visit if visit.viewer.user else None

    async def _serve(self, page_call: _PageCall, trace: Trace) -> RenderedResponse:
        request, method = page_call.request, page_call.request.method
        path = (
            wiki_files.wiki_path_to_route(request.path)
            or uploads.upload_path_to_route(request.path)
            or self._router_path(request.path)
        )
        if method in _WRITE_METHODS:
            charge = page_call.charge = self._bodies.open(request.origin.ip)
            charge.anonymous = not await self._database.read_async(partial(_has_session, request), self._pool)
            limit = FORM_LIMIT if charge.anonymous else self._limit(method, path)
            page_call.form = await parse_body(request.receive, request.headers, limit, charge)
            method = str(page_call.form.get("_method", method)).upper()
        route, path_params = self._router.match(method, path)
        trace.route = route.path
        page_call.cookies = read_cookies(request)
        page_call.visitor = page_call.cookies.get(VISITOR_COOKIE) or secrets.token_urlsafe(16)
        dispatch = partial(self._dispatch, route, path_params, page_call, trace)
        if route.method == "GET":
            status, headers, body = await self._read_with_fallback(route, dispatch, page_call, trace)
        else:
            status, headers, body = await self._run_in_pool(dispatch)
        if (
            page_call.visit
            and not page_call.visit.viewer.user
            and route.open
            and (b"content-type", _PAGE_TYPE) in headers
        ):
            self._set_visitor_cookie(page_call, headers)
        return status, headers, body

    def _limit(self, method: str, path: bytes) -> int:
        try:
            return self._router.match(method, path)[0].limit
        except (NoRoute, WrongMethod):
            return FORM_LIMIT  # The real method may be in the form's ``_method`` field.

    async def _read_with_fallback(
        self, route: PageRoute, dispatch: Callable[[], RenderedResponse], page_call: _PageCall, trace: Trace
    ) -> RenderedResponse:
        """Render the matched page; if it is not found, try the whole URL as the path of a project or group."""
        try:
            return await self._read(route, dispatch)
        except NotFound:
            whole = plain_path(page_call.request.path)
            if whole is None or trace.route == "/:path":
                raise
            route, path_params = self._router.match("GET", whole)
            return await self._read(route, partial(self._dispatch, route, path_params, page_call, trace))

    async def _read(self, route: PageRoute, dispatch: Callable[[], RenderedResponse]) -> RenderedResponse:
        """Render a page on the event loop, or restart it in the thread pool when it would block.

        After that, the next requests for the page go directly to the pool. Their number doubles with each blocked
        attempt, so that a page that blocked only because caches were empty returns to the event loop.
        """
        if self._database.engine.is_remote:
            return await self._run_in_pool(dispatch)
        left, _ = self._slow_pages.get(route.path, (0, 0))
        if left:
            self._slow_pages[route.path] = left - 1, self._slow_pages[route.path][1]
            return await self._run_in_pool(dispatch)
        try:
            with forbid_blocking():
                return dispatch()
        except WouldBlock:
            requests = min(2 * self._slow_pages.get(route.path, (0, 2))[1], _MAX_POOLED_REQUESTS)
            self._slow_pages[route.path] = requests, requests
            return await self._run_in_pool(dispatch)

    async def _run_in_pool(self, work: Callable[[], RenderedResponse]) -> RenderedResponse:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _set_visitor_cookie(self, page_call: _PageCall, headers: list[Header]) -> None:
        """Set the visitor cookie, which forms need; never on other responses, because shared caches may store those."""
        if page_call.cookies.get(VISITOR_COOKIE) != page_call.visitor:
            headers.append(set_cookie(self._settings, VISITOR_COOKIE, page_call.visitor))

    def _dispatch(
        self, route: PageRoute, path_params: dict[str, str], page_call: _PageCall, trace: Trace
    ) -> RenderedResponse:
        """Identify the user, check access, run the page's handler and render its response."""
        visit = page_call.visit = self._database.read(partial(self._build_visit, path_params, page_call))
        if visit.viewer.user is not None:
            trace.user = visit.viewer.user.username
        with page_locale(visit):
            response = self._redirect_if_blocked(route, visit, page_call.request) or (
                self._database.read(partial(_read_page, route, visit))
                if route.method == "GET"
                else self._run_form(route, page_call)
            )
        return self._render(response, visit)

    def render_for(self, user: User | None, request: Request) -> None:
        """Render a page for a user and discard it, to warm up what it needs."""
        route, path_params = self._router.match("GET", self._router_path(request.path))
        page_call = _PageCall(request)
        visit = self._database.read(lambda db: self._visit_of(path_params, page_call, db, None, user))
        self._render(self._database.read(partial(_read_page, route, visit)), visit)

    def _build_visit(self, path_params: dict[str, str], page_call: _PageCall, db: Connection) -> Visit:
        cookie = page_call.cookies.get(SESSION_COOKIE, "")
        session, user = (session_or_none(db, cookie) if cookie else None) or (None, None)
        return self._visit_of(path_params, page_call, db, session, user)

    def _visit_of(
        self,
        path_params: dict[str, str],
        page_call: _PageCall,
        db: Connection,
        session: Session | None,
        user: User | None,
    ) -> Visit:
        request = page_call.request
        query, actor = parse_query(request.query), session_actor(user)
        subject_cache: SubjectCache | None = {} if request.method == "GET" else None
        return Visit(
            request=PageRequest(request.origin, _address(request), path_params, query, page_call.form),
            headers=PageHeaders(
                credentials=read_credentials(request.headers, query, writes=False),
                authorization=request.headers.get(b"authorization", b"").decode("latin-1"),
                cookies=page_call.cookies,
                fragment=b"hx-request" in request.headers,
                takes_gzip=b"gzip" in request.headers.get(b"accept-encoding", b""),
                accept_language=request.headers.get(b"accept-language", b""),
            ),
            viewer=Viewer(
                actor=actor,
                user=user,
                session=session,
                csrf=csrf_token(db, session) if session else db.vault.derive("visitor", page_call.visitor.encode()),
                must_set_up_two_factor=user is not None and is_second_factor_due(db, user),
            ),
            client=PageClient(self._client, InternalCaller(actor, request.origin, subject_cache)),
            database=self._database,
            settings=self._settings,
        )

    def _redirect_if_blocked(self, route: PageRoute, visit: Visit, request: Request) -> PageResponse | None:
        if visit.viewer.user is None and not route.open:
            return ask_to_sign_in(route.method, visit, request.headers)
        if visit.viewer.user is not None and visit.viewer.user.password_expired and not route.with_expired_password:
            return LocalRedirect("/profile/password/new")
        if (
            visit.viewer.must_set_up_two_factor
            and not route.with_expired_password
            and not route.path.startswith(TWO_FACTOR)
        ):
            return LocalRedirect(TWO_FACTOR)
        return None

    def _run_form(self, route: PageRoute, page_call: _PageCall) -> PageResponse:
        """Check the CSRF token and run the form's handler."""
        visit = page_call.visit
        assert visit is not None  # noqa: S101 - _dispatch sets it before this call.
        token = page_call.form.get("authenticity_token") or page_call.request.headers.get(b"x-csrf-token", b"").decode(
            "latin-1"
        )
        valid = isinstance(token, str) and hmac.compare_digest(token.encode(), visit.viewer.csrf.encode())
        if not (route.csrf_exempt or valid):
            return reject_form(visit, page_call.request.headers)
        response = route.handler(visit)
        if isinstance(response, LocalRedirect) and route.notice:
            text = route.notice if isinstance(route.notice, str) else route.notice(visit.request)
            header = notice_header(self._settings, self._database.vault, text)
            return LocalRedirect(response.location, [*response.headers, header])
        return response

    def _render(self, response: PageResponse, visit: Visit | None) -> RenderedResponse:
        if isinstance(response, LocalRedirect):
            location = quote(response.location, safe="/%?#=&+:@!$,;~*'()") if response.location.startswith("/") else "/"
            return 302, [(b"location", location.encode()), *SECURITY_HEADERS, *response.headers], b""
        if isinstance(response, ExternalRedirect):
            location = quote(response.location, safe="/%?#=&+:@!$,;~*'()[]")
            return 302, [(b"location", location.encode()), _NO_STORE, *SECURITY_HEADERS, *response.headers], b""
        if isinstance(response, JsonResponse):
            kind = (b"content-type", b"application/json; charset=utf-8")
            headers = [kind, SANDBOX, _NO_STORE, *SECURITY_HEADERS, *response.headers]
            return response.status, headers, msgspec.json.encode(response.content)
        if isinstance(response, BytesResponse | FileResponse):
            kind = (b"content-type", response.content_type.encode())
            content = response.content if isinstance(response, BytesResponse) else response
            return 200, [kind, SANDBOX, *SECURITY_HEADERS, *response.headers], content
        kind, policy = (b"content-type", _PAGE_TYPE), (b"content-security-policy", response.policy)
        headers = [kind, policy, _NO_STORE, *SECURITY_HEADERS, *response.headers]
        if response.frameable:
            headers[headers.index(FRAME_OPTIONS)] = (b"x-frame-options", b"SAMEORIGIN")
        # A script that requests a page shows only parts of it.
        is_whole = not response.is_fragment and visit is not None and not visit.headers.fragment
        if visit is not None and is_whole and NOTICE_COOKIE in visit.headers.cookies:
            headers.append(clear_notice_header(self._settings))
        return response.status, headers, self._templates.render(response, visit)


def _is_missing(db: Connection, actor: Actor, path: str) -> bool:
    for find in (find_project, find_group):
        try:
            find(db, actor, path)
        except NotFound:
            continue
        return False
    return True


def _has_session(request: Request, db: Connection) -> bool:
    cookie = read_cookies(request).get(SESSION_COOKIE, "")
    return bool(cookie) and session_or_none(db, cookie) is not None


def _read_page(route: PageRoute, visit: Visit, db: Connection) -> PageResponse:
    return route.handler(visit, db) if route.takes_connection else route.handler(visit)


def _address(request: Request) -> str:
    return request.path.decode("latin-1") + ("?" + request.query.decode("latin-1") if request.query else "")
