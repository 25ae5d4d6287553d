"""HTTP component that serves the HTML pages: routing, sessions, CSRF checks, forms and template rendering."""

import asyncio
import hmac
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import closing
from functools import partial
from typing import TypeVar

from ingot.accounts.users.tables import User
from ingot.core.access.actor import ANONYMOUS, Actor
from ingot.core.api.internal_client import InternalClient
from ingot.core.api.params import MissingParameter
from ingot.core.api.rate_limits import LimitedRequest, RateLimits
from ingot.core.api.request_fields import BadRequest, close_uploads, parse_body
from ingot.core.api.route_table import IndexedRoute, RouteTable
from ingot.core.api.router import NoRoute, WrongMethod
from ingot.core.db.connection import Connection
from ingot.core.db.database import Database
from ingot.core.disk_errors import is_storage_full
from ingot.core.errors import (
    Failure,
    NotFound,
    StorageFull,
    TransfersBusy,
    Unavailable,
)
from ingot.core.http.body_budget import BodyBudget
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.core.http.transfer_slots import TransferSlots, caller_of
from ingot.core.log import log_failure
from ingot.core.module_index import index_lines
from ingot.core.offload import WouldBlock, forbid_blocking
from ingot.core.settings import Settings
from ingot.git.core.library import reopen_repositories
from ingot.projects.groups.queries import find_group
from ingot.projects.projects.queries import find_project
from ingot.web.access_denied import redirect_if_blocked, reject_form
from ingot.web.cookies import VISITOR_COOKIE, read_cookies, set_cookie
from ingot.web.delivery import PAGE_TYPE, deliver_page
from ingot.web.display_zone import page_locale
from ingot.web.error_responses import ErrorResponses
from ingot.web.file_response import send_file
from ingot.web.files import uploads, wiki_files
from ingot.web.files.static import LAYOUT_FILES, versioned_url
from ingot.web.notices import notice_header
from ingot.web.page_routes import (
    FORM_LIMIT,
    FileResponse,
    LocalRedirect,
    PageResponse,
    PageRoute,
    Visit,
    page_routes_of,
)
from ingot.web.paths import plain_path, project_page_names, router_path
from ingot.web.rendering import TemplateRenderer
from ingot.web.response_encoder import RenderedResponse, ResponseEncoder
from ingot.web.visits import PageCall, VisitBuilder, has_session, request_actors

_MAX_POOLED_REQUESTS = 4096
_CORS_ANY_ORIGIN: Header = (b"access-control-allow-origin", b"*")
_PREFLIGHT_HEADERS: list[Header] = [
    _CORS_ANY_ORIGIN,
    (b"access-control-allow-methods", b"GET, POST, OPTIONS"),
    (b"access-control-allow-headers", b"Authorization, Content-Type"),
    (b"access-control-max-age", b"7200"),
]
_WRITE_METHODS = ("POST", "PUT", "PATCH", "DELETE")
_UNLIMITED = frozenset({"/admin/application_settings", "/admin/application_settings/:topic"})
"""Pages without rate limits, so that an administrator can undo a limit that is too low."""
_REFUSALS = (NoRoute, WrongMethod, BadRequest, Failure, MissingParameter, Unavailable)
"""Errors that have a specified response."""

T = TypeVar("T")


class PagesComponent:
    """HTTP component for the pages, and so for every request that no other component handles."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        pool: Executor,
        client: InternalClient,
        bodies: BodyBudget,
        transfers: TransferSlots,
        limits: RateLimits,
    ) -> None:
        self._limits = limits
        self._settings = settings
        self._database = database
        self._pool = pool
        self._visits = VisitBuilder(settings, database, client)
        self._bodies = bodies
        self._transfers = transfers
        self._templates = TemplateRenderer(database)
        self._encoder = ResponseEncoder(settings, self._templates)
        for_clients = index_lines("page-for-clients")
        routes: list[IndexedRoute[PageRoute]] = [IndexedRoute(*words) for words in index_lines("page") + for_clients]
        self._table = RouteTable(routes, page_routes_of)
        self._api_paths = frozenset(path.encode() for _, path, *_ in for_clients)
        self._slow_pages: dict[str, tuple[int, int]] = {}
        self._router_path = router_path(project_page_names(route.path for route in routes))
        self._errors = ErrorResponses(
            settings, database, self._visits, self._encoder, self._table, self._router_path, self._api_paths
        )

    def preload(self) -> None:
        """Load the static files of all pages before the first request."""
        for name in LAYOUT_FILES:
            versioned_url(name)

    def handles(self, request: Request) -> bool:  # noqa: ARG002 - An unknown path gets a page too, which says so.
        """Accept any request."""
        return True

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Handle one request and send the response."""
        for_api_client = request.path in self._api_paths
        if for_api_client and request.method == "OPTIONS":
            await send_response(send, trace, 204, [*_PREFLIGHT_HEADERS], b"")
            return
        page_call = PageCall(request)
        try:
            status, headers, body = await self._serve_or_recover(page_call, trace)
        except _REFUSALS as error:
            status, headers, body = await self._refuse(error, page_call)
        finally:
            close_uploads(page_call.form)
            if page_call.charge is not None:
                page_call.charge.release()
        if for_api_client:
            headers.append(_CORS_ANY_ORIGIN)
        if isinstance(body, FileResponse):
            try:
                await self._send_file(page_call, send, trace, headers, body)
            except TransfersBusy as error:
                status, headers, body = await self._refuse(error, page_call)
            except Exception as error:
                if trace.answered or not await self._is_deleted(page_call):
                    raise
                log_failure("deleted during the request", error, route=trace.route)
                status, headers, body = await self._refuse(NotFound(), page_call)
            else:
                return
        assert isinstance(body, bytes)  # noqa: S101 - A refusal has no file.
        status, headers, body = deliver_page(request, page_call.visit, status, headers, body)
        await send_response(send, trace, status, headers, body)

    async def _send_file(
        self, page_call: PageCall, send: Send, trace: Trace, headers: list[Header], file: FileResponse
    ) -> None:
        request, visit = page_call.request, page_call.visit
        actor = ANONYMOUS if visit is None else visit.viewer.actor
        with closing(file.file):
            async with self._transfers.hold(caller_of(actor, request.origin.ip)):
                await send_file(request, send, trace, headers, file, self._pool)

    async def _serve_or_recover(self, page_call: PageCall, trace: Trace) -> RenderedResponse:
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
            if not await self._is_deleted(page_call):
                raise
            log_failure("deleted during the request", error, route=trace.route)
            raise NotFound from error

    async def _serve_again(self, error: Exception, page_call: PageCall, trace: Trace) -> RenderedResponse:
        """Read a page a second time: objects that were deleted during the first attempt are not found now."""
        log_failure("page read again", error, route=trace.route)
        reopen_repositories()
        try:
            return await self._serve(page_call, trace)
        except _REFUSALS:
            raise
        except Exception:  # noqa: BLE001 - The first error is reported.
            raise error from None

    async def _refuse(self, error: Exception, page_call: PageCall) -> RenderedResponse:
        """Return the response to an error; its page shows the navigation and so reads the database."""
        try:
            return await self._database.read_async(lambda _: self._errors.respond(error, page_call), self._pool)
        except Unavailable as unavailable:
            return await self._run_in_pool(partial(self._errors.respond, unavailable, page_call))

    async def _is_deleted(self, page_call: PageCall) -> bool:
        """Return whether the project or group of the page was deleted while the request ran."""
        visit = page_call.visit
        if visit is None or "path" not in visit.request.path:
            return False
        is_missing = partial(_is_missing, actor=visit.viewer.actor, path=visit.request.path["path"])
        return await self._database.read_async(is_missing, self._pool)

    async def _serve(self, page_call: PageCall, trace: Trace) -> RenderedResponse:
        request, method = page_call.request, page_call.request.method
        path = (
            wiki_files.wiki_path_to_route(request.path)
            or uploads.upload_path_to_route(request.path)
            or self._router_path(request.path)
        )
        if method in _WRITE_METHODS:
            charge = page_call.charge = self._bodies.open(request.origin.ip)
            charge.anonymous = not await self._database.read_async(partial(has_session, request), self._pool)
            limit = FORM_LIMIT if charge.anonymous else await self._limit(method, path)
            page_call.form = await parse_body(request.receive, request.headers, limit, charge)
            method = str(page_call.form.get("_method", method)).upper()
        route, path_params = await self._match(method, path)
        trace.route = route.path
        page_call.cookies = read_cookies(request)
        quota = await self._count_request(route, path_params, page_call)
        dispatch = partial(self._dispatch, route, path_params, page_call, trace)
        if route.method == "GET":
            status, headers, body = await self._read_with_fallback(route, dispatch, page_call, trace)
        else:
            status, headers, body = await self._run_in_pool(dispatch)
        if (
            page_call.visit
            and not page_call.visit.viewer.user
            and route.open
            and (b"content-type", PAGE_TYPE) in headers
        ):
            self._set_visitor_cookie(page_call, headers)
        return status, [*headers, *quota], body

    async def _count_request(self, route: PageRoute, path_params: dict[str, str], page_call: PageCall) -> list[Header]:
        """Count the request for the rate limits and return the headers of the quota; raise Throttled beyond a limit."""
        limits = (
            None
            if route.path in _UNLIMITED
            else await self._limits.applying("page", route.method, route.path, self._pool)
        )
        if not limits:
            return []
        request = page_call.request
        quota: list[Header] = []
        for actor in await self._database.read_async(partial(request_actors, page_call), self._pool):
            path, caller = request.path.decode("latin-1"), caller_of(actor, request.origin.ip)
            limited = LimitedRequest(actor, caller, path, path_params)
            reserved = self._limits.take_reserved(limits, limited)
            take = partial(self._limits.take, limits, limited)
            quota = await self._run_in_pool(take) if reserved is None else reserved
        return quota

    async def _match(self, method: str, path: bytes) -> tuple[PageRoute, dict[str, str]]:
        matched, path_params = self._table.match(method, path)
        route = matched.declaration
        if route is None:
            route = await self._run_in_pool(partial(self._table.load, matched))
        return route, path_params

    async def _limit(self, method: str, path: bytes) -> int:
        try:
            route, _ = await self._match(method, path)
            return route.limit
        except (NoRoute, WrongMethod):
            return FORM_LIMIT  # The real method may be in the form's ``_method`` field.

    async def _read_with_fallback(
        self, route: PageRoute, dispatch: Callable[[], RenderedResponse], page_call: PageCall, trace: Trace
    ) -> RenderedResponse:
        """Render the matched page; if it is not found, try the whole URL as the path of a project or group."""
        try:
            return await self._read(route, dispatch)
        except NotFound:
            whole = plain_path(page_call.request.path)
            if whole is None or trace.route == "/:path":
                raise
            route, path_params = await self._match("GET", whole)
            return await self._read(route, partial(self._dispatch, route, path_params, page_call, trace))

    async def _read(self, route: PageRoute, dispatch: Callable[[], RenderedResponse]) -> RenderedResponse:
        """Render a page on the event loop, or restart it in the thread pool when it would block.

        After that, the next requests for the page go directly to the pool. Their number doubles with each blocked
        attempt, so that a page that blocked only because caches were empty returns to the event loop.
        """
        if self._database.is_remote:
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

    async def _run_in_pool(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    def _set_visitor_cookie(self, page_call: PageCall, headers: list[Header]) -> None:
        """Set the visitor cookie, which forms need; never on other responses, because shared caches may store those."""
        if page_call.cookies.get(VISITOR_COOKIE) != page_call.visitor:
            headers.append(set_cookie(self._settings, VISITOR_COOKIE, page_call.visitor))

    def _dispatch(
        self, route: PageRoute, path_params: dict[str, str], page_call: PageCall, trace: Trace
    ) -> RenderedResponse:
        """Identify the user, check access, run the page's handler and render its response."""
        find_visit = partial(self._visits.of_session, path_params, page_call)
        if route.method != "GET":
            return self._respond(route, self._database.read(find_visit), page_call, trace)
        # One read for the user, the page and the layout, because each read first asks for new commits.
        return self._database.read(lambda db: self._respond(route, find_visit(db), page_call, trace))

    def _respond(self, route: PageRoute, visit: Visit, page_call: PageCall, trace: Trace) -> RenderedResponse:
        """Check the access of an identified user, run the page's handler and render its response."""
        page_call.visit = visit
        if visit.viewer.user is not None:
            trace.user = visit.viewer.user.username
        with page_locale(visit):
            response = redirect_if_blocked(route, visit, page_call.request) or (
                self._database.read(partial(_read_page, route, visit))
                if route.method == "GET"
                else self._run_form(route, page_call)
            )
        return self._encoder.encode(response, visit)

    def render_for(self, user: User | None, request: Request) -> None:
        """Render a page for a user and discard it, to warm up what it needs."""
        matched, path_params = self._table.match("GET", self._router_path(request.path))
        route = self._table.load(matched)
        page_call = PageCall(request)
        visit = self._database.read(lambda db: self._visits.of_user(path_params, page_call, db, user))
        self._encoder.encode(self._database.read(partial(_read_page, route, visit)), visit)

    def _run_form(self, route: PageRoute, page_call: PageCall) -> PageResponse:
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


def _is_missing(db: Connection, actor: Actor, path: str) -> bool:
    for find in (find_project, find_group):
        try:
            find(db, actor, path)
        except NotFound:
            continue
        return False
    return True


def _read_page(route: PageRoute, visit: Visit, db: Connection) -> PageResponse:
    return route.handler(visit, db) if route.takes_connection else route.handler(visit)
