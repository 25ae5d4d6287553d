"""Encoding of page responses: status, security headers and body."""

from urllib.parse import quote

import msgspec

from ingot.core.http.request import Header
from ingot.core.settings import Settings
from ingot.web.cookies import NOTICE_COOKIE
from ingot.web.delivery import PAGE_TYPE
from ingot.web.notices import clear_notice_header
from ingot.web.page_routes import (
    DOCUMENT_HEADERS,
    FRAME_OPTIONS,
    SANDBOX,
    SECURITY_HEADERS,
    BytesResponse,
    ExternalRedirect,
    FileResponse,
    JsonResponse,
    LocalRedirect,
    PageResponse,
    Visit,
)
from ingot.web.rendering import TemplateRenderer

_NO_STORE: Header = (b"cache-control", b"no-store")

RenderedResponse = tuple[int, list[Header], bytes | FileResponse]


class ResponseEncoder:
    """Turns the responses of handlers into those of HTTP."""

    def __init__(self, settings: Settings, templates: TemplateRenderer) -> None:
        self._settings = settings
        self._templates = templates

    def encode(self, response: PageResponse, visit: Visit | None) -> RenderedResponse:
        """Return the status, headers and body of a response."""
        if isinstance(response, LocalRedirect):
            location = quote(response.location, safe="/%?#=&+:@!$,;~*'()")
            # The path of a request may begin with "//", and a browser would take what follows for a host.
            if not location.startswith("/") or location.startswith("//"):
                location = "/"
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
            protection = DOCUMENT_HEADERS if response.is_document else [SANDBOX, *SECURITY_HEADERS]
            return 200, [kind, *protection, *response.headers], content
        kind, policy = (b"content-type", PAGE_TYPE), (b"content-security-policy", response.policy)
        headers = [kind, policy, _NO_STORE, *SECURITY_HEADERS, *response.headers]
        if response.frameable:
            headers[headers.index(FRAME_OPTIONS)] = (b"x-frame-options", b"SAMEORIGIN")
        # A script that requests a page shows only parts of it.
        is_whole = not response.is_fragment and visit is not None and not visit.headers.fragment
        if visit is not None and is_whole and NOTICE_COOKIE in visit.headers.cookies:
            headers.append(clear_notice_header(self._settings))
        return response.status, headers, self._templates.render(response, visit)
