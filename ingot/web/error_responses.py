"""Responses to requests that fail: error pages, which keep the frame of the project, and JSON for API clients."""

from functools import partial

from ingot.core.api.request_fields import BadRequest
from ingot.core.api.responses import error_response
from ingot.core.api.route_table import RouteTable
from ingot.core.api.router import WrongMethod
from ingot.core.db.database import Database
from ingot.core.errors import Denied, Failure, Throttled, Unauthenticated, Unavailable
from ingot.core.settings import Settings
from ingot.web.cookies import read_cookies
from ingot.web.form_addresses import RouterPath, page_of_form
from ingot.web.page_routes import JsonResponse, LocalRedirect, PageResponse, PageRoute, TemplateResponse, Visit
from ingot.web.projects.context import project_context
from ingot.web.rendering import error_page
from ingot.web.response_encoder import RenderedResponse, ResponseEncoder
from ingot.web.visits import PageCall, VisitBuilder

_READS = ("GET", "HEAD")
_FRAMELESS = (Failure, BadRequest, Unavailable)


class ErrorResponses:
    """Builds the responses to failed requests."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        visits: VisitBuilder,
        encoder: ResponseEncoder,
        table: RouteTable[PageRoute],
        router_path: RouterPath,
        api_paths: frozenset[bytes],
    ) -> None:
        self._router_path = router_path
        self._settings = settings
        self._database = database
        self._visits = visits
        self._encoder = encoder
        self._table = table
        self._api_paths = api_paths

    def respond(self, error: Exception, page_call: PageCall) -> RenderedResponse:
        """Return the response to an error that has a specified one."""
        api_response = error_response(error)
        assert api_response is not None  # noqa: S101 - Each of these has one.
        request, status = page_call.request, api_response.status
        for_api_client = request.path in self._api_paths
        by_browser = page_call.visit is None or page_call.visit.headers.credentials.token is None
        is_read = request.method in _READS
        if isinstance(error, WrongMethod) and is_read and not for_api_client:
            page = page_of_form(self._table, self._router_path, request.path)
            if page is not None:
                return self._encoder.encode(LocalRedirect(page), None)
        if by_browser and is_read and isinstance(error, Denied | Unauthenticated):
            status = 404  # A 403 would reveal that the page exists.
        visit = page_call.visit or (None if for_api_client else self._visit_without_route(page_call))
        response: PageResponse = JsonResponse({"error": "invalid_request"}, status)
        if not for_api_client:
            response = self._page(status, error.text if isinstance(error, Throttled) else "", visit)
        status, headers, body = self._encoder.encode(response, visit)
        if isinstance(error, WrongMethod):
            headers.append((b"allow", ", ".join(error.allowed).encode()))
        headers += [header for header in api_response.headers if header[0].startswith((b"retry-after", b"ratelimit-"))]
        return status, headers, body

    def _page(self, status: int, message: str, visit: Visit | None) -> TemplateResponse:
        """Return the error page; that of a missing page of a project that the user may see has the project's frame."""
        page = error_page(status, message)
        if status != 404 or visit is None or "path" not in visit.request.path or visit.headers.fragment:
            return page
        try:
            return self._database.read(lambda _: project_context(visit).page(page.template, "", page.context, 404))
        except _FRAMELESS:
            return page

    def _visit_without_route(self, page_call: PageCall) -> Visit | None:
        """Return the visit for an address without a page, so that the error page shows the navigation."""
        page_call.cookies = read_cookies(page_call.request)
        try:
            return self._database.read(partial(self._visits.of_session, {}, page_call))
        except _FRAMELESS:  # Falls back to the page without navigation.
            return None
