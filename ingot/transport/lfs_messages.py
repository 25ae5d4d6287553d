"""Request and response bodies of the Git LFS API, and its error responses."""

from typing import Any, TypeVar

import msgspec

from ingot.core.api.responses import ApiResponse, retry_after_headers
from ingot.core.errors import Denied, Invalid, NotFound, Throttled, Unauthenticated, Unavailable
from ingot.core.http.body_budget import BodyCharge
from ingot.core.http.request import Header, Request, Trace
from ingot.core.http.transfer_rate import TransferTooSlow
from ingot.transport.refusals import GitRequestRefused, storage_refusal, unauthorized, unavailable
from ingot.transport.request_bodies import BadEncoding, RequestTooLarge, read_body

MAX_BYTES = 4 * 2**20
_CONTENT_TYPE: Header = (b"content-type", b"application/vnd.git-lfs+json")
_CHALLENGE: Header = (b"lfs-authenticate", b'Basic realm="Ingot"')
T = TypeVar("T")


async def read_params(request: Request, kind: type[T], charge: BodyCharge) -> T:
    """Decode the JSON body of a request; an empty body counts as an empty object."""
    encoding = request.headers.get(b"content-encoding", b"").lower()
    try:
        chunks = []
        async for chunk in read_body(request.receive, encoding, MAX_BYTES, streamed=False):
            await charge.add(len(chunk))
            chunks.append(chunk)
        body = b"".join(chunks)
    except RequestTooLarge:
        raise GitRequestRefused(413, "The request is larger than allowed.") from None
    except BadEncoding:
        raise GitRequestRefused(400, "The body is not encoded as its Content-Encoding says.") from None
    except TransferTooSlow:
        raise GitRequestRefused(408, "The body arrived too slowly.") from None
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except msgspec.ValidationError:
        raise GitRequestRefused(400, "A field of the body is missing or has the wrong type.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise GitRequestRefused(400, "The body is not JSON.") from None


def json_response(content: Any, status: int = 200) -> ApiResponse:
    """Return a response with the content type of the LFS API."""
    return ApiResponse(status, msgspec.json.encode(content), [_CONTENT_TYPE])


def error_response(request: Request, trace: Trace, refused: GitRequestRefused) -> ApiResponse:
    """Return an error response, whose message clients show to the user."""
    answer = json_response(error_fields(request, trace, refused.text), refused.status)
    challenge = [_CHALLENGE] if refused.status == 401 else []
    return answer._replace(headers=[*answer.headers, *refused.headers, *challenge])


def error_fields(request: Request, trace: Trace, text: str) -> dict[str, Any]:
    """Return the fields that every error response has."""
    url = f"{request.origin.base}/api/v4/docs"
    return {"message": text, "documentation_url": url, "request_id": trace.request_id}


def refusal_of(error: Exception) -> GitRequestRefused | None:
    """Return the refusal for an error; None for a fault of the server."""
    match error:
        case GitRequestRefused():
            return error
        case Unauthenticated():  # The credential was revoked during the request.
            return unauthorized()
        case Denied():
            return GitRequestRefused(403, error.reason or "Access forbidden. Check your access level.")
        case NotFound():
            return GitRequestRefused(404, "Not found.")
        case Invalid():
            return GitRequestRefused(422, str(error))
        case Throttled():
            text = error.text or "Too many requests. Retry later."
            return GitRequestRefused(error.status, text, *retry_after_headers(error))
        case Unavailable():
            return storage_refusal(error) or unavailable(error)
    return storage_refusal(error)
