"""API responses: JSON, entity tags, and the error bodies of the specification."""

import time
from collections.abc import Iterator, Mapping
from hashlib import sha1
from typing import Any, NamedTuple

import msgspec

from ingot.core.api.params import MissingParameter
from ingot.core.api.request_fields import BadRequest
from ingot.core.api.router import NoRoute, WrongMethod
from ingot.core.disk_errors import STORAGE_FULL
from ingot.core.errors import (
    FULL_RETRY_AFTER_SECONDS,
    CommitUncertain,
    Conflict,
    Denied,
    Invalid,
    NotFound,
    StorageFull,
    Throttled,
    TransfersBusy,
    Unauthenticated,
    Unavailable,
    Unchanged,
)

Header = tuple[bytes, bytes]

encode = msgspec.json.Encoder().encode
JSON_CONTENT_TYPE: Header = (b"content-type", b"application/json")
RETRY_AFTER_SECONDS = 5


class InsufficientScope(Exception):
    """The token is valid, but lacks the required scopes."""

    def __init__(self, needed: frozenset[str]) -> None:
        super().__init__(" ".join(needed))
        self.needed = needed


class ApiResponse(NamedTuple):
    """A complete response, or its head and an iterator of the body."""

    status: int
    body: bytes
    headers: list[Header]
    pieces: Iterator[bytes] | None = None
    final: bool = False
    """True if it already has an entity tag and the conditions of the request were checked."""
    etag: bytes = b""


def json_response(status: int, content: Any, headers: list[Header] | None = None) -> ApiResponse:
    """Return a response with ``content`` as JSON."""
    return ApiResponse(status, encode(content), [JSON_CONTENT_TYPE, *(headers or [])])


def with_etag(response: ApiResponse) -> ApiResponse:
    """Add an entity tag over body and totals."""
    if response.pieces is not None or response.final:
        return response
    # Not used for security. Processors have instructions for SHA-1, which takes half the time of other digests.
    digest = sha1(response.body, usedforsecurity=False)
    for _, value in response.headers[1:]:
        digest.update(value)
    tag = b'W/"' + digest.hexdigest().encode() + b'"'
    headers = [*response.headers, (b"etag", tag), (b"cache-control", b"max-age=0, private, must-revalidate")]
    return ApiResponse(response.status, response.body, headers, etag=tag)


def with_headers(response: ApiResponse, headers: list[Header]) -> ApiResponse:
    """Return the response with more headers; it may be in a cache, so it is not changed itself."""
    # ``_replace`` takes three times as long.
    return ApiResponse(
        response.status, response.body, response.headers + headers, response.pieces, response.final, response.etag
    )


def conditional(response: ApiResponse, headers: Mapping[bytes, bytes]) -> ApiResponse:
    """Return the response, or 304 if the client has this version according to the headers of its request."""
    if_none_match = headers.get(b"if-none-match")
    if if_none_match is None or response.status != 200 or not response.etag:
        return response
    if not etag_matches(if_none_match, response.etag):
        return response
    return ApiResponse(304, b"", [header for header in response.headers if header is not JSON_CONTENT_TYPE])


def etag_matches(if_none_match: bytes, tag: bytes) -> bool:
    """Return whether ``If-None-Match`` contains a tag."""
    strong = tag.removeprefix(b"W/")
    return if_none_match.strip() == b"*" or any(
        part.strip().removeprefix(b"W/") == strong for part in if_none_match.split(b",")
    )


def error_response(error: Exception, denied: int = 403, conflict: int = 409) -> ApiResponse | None:
    """Return the specified response to an error of the caller, or None if the error is a bug of ours."""
    match error:
        case NoRoute():
            return json_response(404, {"error": "404 Not Found"})
        case WrongMethod():
            return json_response(
                405, _message("405 Method Not Allowed"), [(b"allow", ", ".join(error.allowed).encode())]
            )
        case BadRequest():
            # The client would otherwise continue to send the rest of its body.
            headers = [(b"connection", b"close")] if error.status == 408 else []
            return json_response(error.status, _message(error.message), headers)
        case MissingParameter():
            return json_response(400, _message(f'400 (Bad request) "{error}" not given'))
        case Unchanged():
            return ApiResponse(304, b"", [])
        case Unauthenticated():
            return json_response(401, _message(". ".join(filter(None, ("401 Unauthorized", error.reason)))))
        case NotFound():
            return json_response(
                404, _message(error.message or " ".join(filter(None, ("404", error.what, "Not Found"))))
            )
        case InsufficientScope():
            return _scope_response(error.needed)
        case Denied():
            return _denied_response(error, denied)
        case Invalid():
            code = {"error_code": error.code} if error.code else {}
            return json_response(400, _message(error.errors or error.message) | code)
        case Conflict():
            return json_response(conflict, _message(error.errors or error.message))
        case Throttled():
            text = error.text or "429 Too Many Requests. Retry later"
            return json_response(error.status, _message(text), retry_after_headers(error))
        case StorageFull():
            retry = (b"retry-after", b"%d" % FULL_RETRY_AFTER_SECONDS)
            return json_response(507, _message(f"507 Insufficient Storage - {STORAGE_FULL}"), [retry])
        case Unavailable():
            retry = (b"retry-after", b"%d" % RETRY_AFTER_SECONDS)
            reason = f" - {error}" if isinstance(error, CommitUncertain | TransfersBusy) else ""
            return json_response(503, _message(f"503 Service Unavailable{reason}"), [retry])
    return None


def _denied_response(error: Denied, status: int) -> ApiResponse:
    if status == 403:
        return json_response(403, _message(f"403 Forbidden - {error.reason}" if error.reason else "403 Forbidden"))
    default = {400: "400 Bad Request", 401: "401 Unauthorized"}.get(status, f"{status}")
    return json_response(status, _message(error.reason or default))


def _scope_response(needed: frozenset[str]) -> ApiResponse:
    return json_response(
        403,
        {
            "message": "403 Forbidden - insufficient_scope",
            "error": "insufficient_scope",
            "error_description": "The request requires higher privileges than provided by the access token.",
            "scope": " ".join(sorted(needed)),
        },
    )


def retry_after_headers(error: Throttled) -> list[Header]:
    """Return the headers that state when to try again and, where it is published, the limit."""
    headers = [(b"retry-after", b"%d" % error.retry_after)]
    if error.limit is not None:
        headers += quota_headers(error.limit, error.limit, 0, int(time.time()) + error.retry_after)
    return headers


def quota_headers(per_minute: int, used: int, left: int, resets: int) -> list[Header]:
    """Return the rate limit headers; clients pace themselves by the limit per minute, ``resets`` is a Unix time."""
    return [
        (b"ratelimit-limit", b"%d" % per_minute),
        (b"ratelimit-observed", b"%d" % used),
        (b"ratelimit-remaining", b"%d" % left),
        (b"ratelimit-reset", b"%d" % resets),
    ]


def _message(message: Any) -> dict[str, Any]:
    return {"message": message}
