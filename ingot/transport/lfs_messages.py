"""The bodies of Git LFS' protocol, and what it calls the ways to fail."""

from typing import Any, TypeVar

import msgspec

from ingot.api.answers import Answer
from ingot.errors import Denied, Invalid, NotFound, Unauthenticated, Unavailable
from ingot.http.pace import TooSlow
from ingot.http.request import Header, Request, Trace
from ingot.transport.admission import Refused, busy, unauthorized
from ingot.transport.bodies import TooLarge, Unreadable, read_body

MOST_BYTES = 4 * 2**20
_KIND: Header = (b"content-type", b"application/vnd.git-lfs+json")
_CHALLENGE: Header = (b"lfs-authenticate", b'Basic realm="Ingot"')
T = TypeVar("T")


async def read_params(request: Request, kind: type[T]) -> T:
    """What a client sent as JSON; nothing at all counts as an empty object."""
    encoding = request.headers.get(b"content-encoding", b"").lower()
    try:
        body = b"".join([piece async for piece in read_body(request.receive, encoding, MOST_BYTES)])
    except TooLarge:
        raise Refused(413, "This is more than may be sent at once.") from None
    except Unreadable:
        raise Refused(400, "The body is not what its encoding says.") from None
    except (TooSlow, TimeoutError):
        raise Refused(408, "The body came too slowly.") from None
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except msgspec.ValidationError:
        raise Refused(400, "A field of the body is missing, or is not of the kind that it should be.") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused(400, "The body is not JSON.") from None


def json_answer(content: Any, status: int = 200) -> Answer:
    """An answer in the protocol's own type."""
    return Answer(status, msgspec.json.encode(content), [_KIND])


def refusal_answer(request: Request, trace: Trace, refused: Refused) -> Answer:
    """An error as clients show it to people."""
    answer = json_answer(explained(request, trace, refused.text), refused.status)
    challenge = [_CHALLENGE] if refused.status == 401 else []
    return answer._replace(headers=[*answer.headers, *refused.headers, *challenge])


def explained(request: Request, trace: Trace, text: str) -> dict[str, Any]:
    """What every error says."""
    url = f"{request.origin.base}/api/v4/docs"
    return {"message": text, "documentation_url": url, "request_id": trace.request_id}


def refused_for(error: Exception) -> Refused | None:
    """What a caller is told of a failure; nothing where it is a fault of ours."""
    match error:
        case Refused():
            return error
        case Unauthenticated():  # What they showed was taken from them while they were at it.
            return unauthorized()
        case Denied():
            return Refused(403, error.reason or "Access forbidden. Check your access level.")
        case NotFound():
            return Refused(404, "Not found.")
        case Invalid():
            return Refused(422, str(error))
        case Unavailable():
            return busy("The server cannot answer right now. Retry later.")
    return None
