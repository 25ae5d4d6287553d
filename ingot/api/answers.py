"""What goes back to the caller: JSON, its entity tag, and the contract's error bodies."""

import time
from collections.abc import Iterator
from hashlib import sha1
from typing import Any, NamedTuple

import msgspec

from ingot.api.fields import BadRequest
from ingot.api.params import Missing
from ingot.api.router import NoRoute, WrongMethod
from ingot.errors import Conflict, Denied, Invalid, NotFound, Throttled, Unauthenticated, Unavailable, Unchanged

Header = tuple[bytes, bytes]

encode = msgspec.json.Encoder().encode
JSON: Header = (b"content-type", b"application/json")
RETRY_AFTER_SECONDS = 5


class OutOfScope(Exception):
    """The credential is valid, but made for something else."""

    def __init__(self, needed: frozenset[str]) -> None:
        super().__init__(" ".join(needed))
        self.needed = needed


class Answer(NamedTuple):
    """A whole response, or its head and what makes the rest of it."""

    status: int
    body: bytes
    headers: list[Header]
    pieces: Iterator[bytes] | None = None
    final: bool = False
    """Whether it has its entity tag already, and the caller's conditions were looked at."""


def json_answer(status: int, content: Any, headers: list[Header] | None = None) -> Answer:
    """An answer whose body is ``content`` as JSON."""
    return Answer(status, encode(content), [JSON, *(headers or [])])


def tagged(answer: Answer, wanted: bytes | None) -> Answer:
    """Add an entity tag over body and totals; 304 where the caller holds that state already."""
    if answer.pieces is not None or answer.final:
        return answer
    # It guards nothing, and processors have instructions for this one: a page's tag costs half of what others take.
    digest = sha1(answer.body, usedforsecurity=False)
    for _, value in answer.headers[1:]:
        digest.update(value)
    tag = b'W/"' + digest.hexdigest().encode() + b'"'
    headers = [*answer.headers, (b"etag", tag), (b"cache-control", b"max-age=0, private, must-revalidate")]
    if wanted is not None and answer.status == 200 and holds(wanted, tag):
        return Answer(304, b"", [header for header in headers if header is not JSON])
    return Answer(answer.status, answer.body, headers)


def holds(wanted: bytes, tag: bytes) -> bool:
    """Whether ``If-None-Match`` names a tag."""
    strong = tag.removeprefix(b"W/")
    return wanted.strip() == b"*" or any(part.strip().removeprefix(b"W/") == strong for part in wanted.split(b","))


def error_answer(error: Exception, denied: int = 403, conflict: int = 409) -> Answer | None:
    """The contract's body for what a caller did wrong; nothing for a fault of ours."""
    match error:
        case NoRoute():
            return json_answer(404, {"error": "404 Not Found"})
        case WrongMethod():
            return json_answer(405, _message("405 Method Not Allowed"), [(b"allow", ", ".join(error.allowed).encode())])
        case BadRequest():
            # Who was not waited for would go on to send the rest.
            leave = [(b"connection", b"close")] if error.status == 408 else []
            return json_answer(error.status, _message(error.message), leave)
        case Missing():
            return json_answer(400, _message(f'400 (Bad request) "{error}" not given'))
        case Unchanged():
            return Answer(304, b"", [])
        case Unauthenticated():
            return json_answer(401, _message(". ".join(filter(None, ("401 Unauthorized", error.reason)))))
        case NotFound():
            return json_answer(404, _message(error.message or " ".join(filter(None, ("404", error.what, "Not Found")))))
        case OutOfScope():
            return _scope_answer(error.needed)
        case Denied():
            return _denied_answer(error, denied)
        case Invalid():
            code = {"error_code": error.code} if error.code else {}
            return json_answer(400, _message(error.errors or error.message) | code)
        case Conflict():
            return json_answer(conflict, _message(error.errors or error.message))
        case Throttled():
            return json_answer(429, _message("429 Too Many Requests. Retry later"), _throttled_headers(error))
        case Unavailable():
            retry = (b"retry-after", b"%d" % RETRY_AFTER_SECONDS)
            return json_answer(503, _message("503 Service Unavailable"), [retry])
    return None


def _denied_answer(error: Denied, status: int) -> Answer:
    if status == 403:
        return json_answer(403, _message(f"403 Forbidden - {error.reason}" if error.reason else "403 Forbidden"))
    word = {400: "400 Bad Request", 401: "401 Unauthorized"}.get(status, f"{status}")
    return json_answer(status, _message(error.reason or word))


def _scope_answer(needed: frozenset[str]) -> Answer:
    return json_answer(
        403,
        {
            "message": "403 Forbidden - insufficient_scope",
            "error": "insufficient_scope",
            "error_description": "The request requires higher privileges than provided by the access token.",
            "scope": " ".join(sorted(needed)),
        },
    )


def _throttled_headers(error: Throttled) -> list[Header]:
    headers = [(b"retry-after", b"%d" % error.retry_after)]
    if error.limit is not None:
        headers += quota_headers(error.limit, error.limit, 0, int(time.time()) + error.retry_after)
    return headers


def quota_headers(per_minute: int, used: int, left: int, resets: int) -> list[Header]:
    """What a caller has left; clients pace themselves by the limit per minute, ``resets`` is a Unix time."""
    return [
        (b"ratelimit-limit", b"%d" % per_minute),
        (b"ratelimit-observed", b"%d" % used),
        (b"ratelimit-remaining", b"%d" % left),
        (b"ratelimit-reset", b"%d" % resets),
    ]


def _message(message: Any) -> dict[str, Any]:
    return {"message": message}
