"""The bodies of Git LFS' protocol, and what it calls the ways to fail."""

from typing import Any, TypeVar

import msgspec

from ingot.core.api.responses import ApiResponse
from ingot.core.http.request import Header, Request, Trace
from ingot.core.http.transfer_rate import TransferTooSlow
from ingot.errors import Denied, Invalid, NotFound, Unauthenticated, Unavailable
from ingot.transport.admission import GitRequestRefused, service_unavailable, unauthorized
from ingot.transport.bodies import BodyNotDecodable, BodyTooLarge, read_body

MAX_BODY_BYTES = 4 * 2**20
_CONTENT_TYPE: Header = (b"content-type", b"application/vnd.git-lfs+json")
_CHALLENGE: Header = (b"lfs-authenticate", b'Basic realm="Ingot"')
T = TypeVar("T")


async def read_params(request: Request, kind: type[T]) -> T:
    """What a client sent as JSON; nothing at all counts as an empty object."""
    encoding = request.headers.get(b"content-encoding", b"").lower()
    try:
        body = b"".join([piece async for piece in read_body(request.receive, encoding, MAX_BODY_BYTES)])
    except BodyTooLarge:
        raise GitRequestRefused(413, "This is more than may be sent at once.") from None
    except BodyNotDecodable:
        raise GitRequestRefused(400, "The body is not what its encoding says.") from None
    except (TransferTooSlow, TimeoutError):
        raise GitRequestRefused(408, "The body came too slowly.") from None
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except msgspec.ValidationError:
        raise GitRequestRefused(
            400, "A field of the body is missing, or is not of the kind that it should be."
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise GitRequestRefused(400, "The body is not JSON.") from None


def json_response(content: Any, status: int = 200) -> ApiResponse:
    """An answer in the protocol's own type."""
    return ApiResponse(status, msgspec.json.encode(content), [_CONTENT_TYPE])


def error_response(request: Request, trace: Trace, refused: GitRequestRefused) -> ApiResponse:
    """An error as clients show it to people."""
    answer = json_response(error_body(request, trace, refused.text), refused.status)
    challenge = [_CHALLENGE] if refused.status == 401 else []
    return answer._replace(headers=[*answer.headers, *refused.headers, *challenge])


def error_body(request: Request, trace: Trace, text: str) -> dict[str, Any]:
    """What every error says."""
    url = f"{request.origin.base}/api/v4/docs"
    return {"message": text, "documentation_url": url, "request_id": trace.request_id}


def refusal_for_error(error: Exception) -> GitRequestRefused | None:
    """What a caller is told of a failure; nothing where it is a fault of ours."""
    match error:
        case GitRequestRefused():
            return error
        case Unauthenticated():  # What they showed was taken from them while they were at it.
            return unauthorized()
        case Denied():
            return GitRequestRefused(403, error.reason or "Access forbidden. Check your access level.")
        case NotFound():
            return GitRequestRefused(404, "Not found.")
        case Invalid():
            return GitRequestRefused(422, str(error))
        case Unavailable():
            return service_unavailable("The server cannot answer right now. Retry later.")
    return None
