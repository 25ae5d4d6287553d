"""Conditional and range responses of ``ContentResponse``."""

import re
from typing import NamedTuple

from ingot.core.api.responses import ApiResponse, Header, etag_matches, json_response
from ingot.core.api.routes import ContentResponse
from ingot.core.http.request import Request

_RANGE = re.compile(rb"\s*bytes\s*=\s*([0-9]{0,18})\s*-\s*([0-9]{0,18})\s*", re.IGNORECASE)
_CACHE_PRIVATE: Header = (b"cache-control", b"max-age=0, private, must-revalidate")


class _Span(NamedTuple):
    start: int
    stop: int


def content_response(content: ContentResponse, request: Request) -> ApiResponse:
    """Return the content, the requested range, a redirect to it, or 304 if the client has this version."""
    if content.location is not None and request.method == "GET":
        headers = [(b"location", content.location.encode()), (b"cache-control", b"no-store")]
        return ApiResponse(302, b"", headers, final=True)
    tag = content.tag.encode()
    headers = [*content.headers, (b"etag", tag)]
    if all(name != b"cache-control" for name, _ in content.headers):
        headers.append(_CACHE_PRIVATE)
    if_none_match = request.headers.get(b"if-none-match")
    if if_none_match is not None and etag_matches(if_none_match, tag):
        return ApiResponse(304, b"", headers, final=True)
    if content.size is None:
        return _full_response(content, headers)
    headers.append((b"accept-ranges", b"bytes"))
    requested = _requested_range(request, tag)
    if requested is None:
        return _full_response(content, headers)
    span = _resolve_span(requested, content.size)
    if span is None:
        content_range = (b"content-range", b"bytes */%d" % content.size)
        return json_response(416, {"message": "416 Requested Range Not Satisfiable"}, [content_range])._replace(
            final=True
        )
    content_range = (b"content-range", b"bytes %d-%d/%d" % (span.start, span.stop - 1, content.size))
    return _partial_response(content, 206, [content_range, *headers], span)


def _full_response(content: ContentResponse, headers: list[Header]) -> ApiResponse:
    if content.size is None:
        return ApiResponse(200, b"", [_content_headers(content), *headers], content.pieces(0, 0), final=True)
    return _partial_response(content, 200, headers, _Span(0, content.size))


def _partial_response(content: ContentResponse, status: int, headers: list[Header], span: _Span) -> ApiResponse:
    if content.body is not None:
        return ApiResponse(
            status, content.body[span.start : span.stop], [_content_headers(content), *headers], final=True
        )
    length = (b"content-length", b"%d" % (span.stop - span.start))
    return ApiResponse(status, b"", [_content_headers(content), *headers, length], content.pieces(*span), final=True)


def _content_headers(content: ContentResponse) -> Header:
    return (b"content-type", content.content_type.encode())


def _requested_range(request: Request, tag: bytes) -> tuple[bytes, bytes] | None:
    """Return the first and last byte of a single requested range; otherwise None, for the whole content."""
    value = request.headers.get(b"range")
    if value is None or request.method != "GET":
        return None
    if_range = request.headers.get(b"if-range")
    if if_range is not None and if_range.strip() != tag:
        return None
    match = _RANGE.fullmatch(value)
    if match is None or not (match[1] or match[2]):
        return None
    first, last = match[1], match[2]
    return None if first and last and int(last) < int(first) else (first, last)


def _resolve_span(requested: tuple[bytes, bytes], size: int) -> _Span | None:
    first, last = requested
    if not first:
        start, stop = max(size - int(last), 0), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
    return _Span(start, stop) if start < stop else None
