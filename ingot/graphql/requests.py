"""Requests as clients send them: a JSON object, a list of such objects, a form, or a query string."""

from typing import Any

import msgspec

from ingot.core.api.params import Params
from ingot.core.api.request_fields import BadRequest, parse_query, read_body
from ingot.core.api.routes import BodyContext
from ingot.core.http.body_budget import ANONYMOUS_BODY_LIMIT

MAX_BODY = 2 * 2**20
MAX_OPERATIONS = 20
"""Operations in one request; their complexity is added."""


class GraphqlRequest(msgspec.Struct, frozen=True):
    """One operation with its variables."""

    query: str
    variables: dict[str, Any]
    operation_name: str | None


class QueryParams(Params):
    """Query string of a GET request."""

    query: str
    variables: str | None = None
    operationName: str | None = None  # noqa: N815 - The name that clients send.


async def read_requests(context: BodyContext) -> GraphqlRequest | list[GraphqlRequest]:
    """Read the operations of a POST request; a list is answered by a list."""
    limit = ANONYMOUS_BODY_LIMIT if context.charge.anonymous else MAX_BODY
    pieces = []
    async for piece in read_body(context.receive, context.headers, limit):
        await context.charge.add(len(piece))
        pieces.append(piece)
    body = b"".join(pieces)
    kind = context.headers.get(b"content-type", b"").split(b";")[0].strip().lower()
    if kind == b"application/x-www-form-urlencoded":
        return to_request(parse_query(body.strip()))
    if kind == b"application/graphql":
        return to_request({"query": body.decode("utf-8", "replace")})
    if kind and kind != b"application/json" and not kind.endswith(b"+json"):
        raise BadRequest(415, "415 Unsupported Media Type")
    decoded = _decode(body)
    if not isinstance(decoded, list):
        return to_request(decoded)
    if not 1 <= len(decoded) <= MAX_OPERATIONS:
        raise BadRequest(400, f"A request has between 1 and {MAX_OPERATIONS} operations")
    return [to_request(each) for each in decoded]


def to_request(sent: Any) -> GraphqlRequest:
    """Return the operation that a mapping describes; raise ``BadRequest`` if it is malformed."""
    if not isinstance(sent, dict):
        raise BadRequest(400, "The request is not a JSON object with a query")
    query, variables, name = sent.get("query"), sent.get("variables"), sent.get("operationName")
    if not isinstance(query, str) or not query.strip():
        raise BadRequest(400, 'The request has no "query"')
    if isinstance(variables, str):
        variables = _decode(variables.encode()) if variables.strip() else None
    if not isinstance(variables, dict | None):
        raise BadRequest(400, "The variables are not a JSON object")
    if not isinstance(name, str | None):
        raise BadRequest(400, "The operation name is not a text")
    return GraphqlRequest(query, variables or {}, name)


def _decode(text: bytes) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, ValueError) as error:
        raise BadRequest(400, "The request is not valid JSON") from error
