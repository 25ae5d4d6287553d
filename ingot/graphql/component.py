"""HTTP component of the GraphQL API at ``/api/graphql``.

The kernel of the REST API authenticates callers, limits rates and bodies. The library and the schema are loaded at the
first query, so that a server that gets none starts earlier and needs less memory.
"""

from collections.abc import Callable
from functools import cached_property

import msgspec

from ingot.core.access.rules import anyone
from ingot.core.access.scopes import READ_SCOPES
from ingot.core.api.component import CORS_HEADERS, NOSNIFF, PREFLIGHT_HEADERS
from ingot.core.api.internal_client import InternalClient
from ingot.core.api.kernel import Kernel
from ingot.core.api.responses import ApiResponse, encode, json_response
from ingot.core.api.route_table import imported_table
from ingot.core.api.routes import RawResponse, Routes, StagedCall
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Request, Send, Trace
from ingot.graphql.context import EndpointTable, QueryContext
from ingot.graphql.requests import GraphqlRequest, QueryParams, read_requests, to_request

_PREFIX = b"/api"
_PATHS = (b"/api/graphql", b"/api/graphql/")
_JSON = "application/json; charset=utf-8"


class GraphqlComponent:
    """HTTP component that answers GraphQL queries; ``client`` calls the endpoints of the REST API."""

    def __init__(self, kernel: Kernel, client: Callable[[], InternalClient]) -> None:
        self._kernel = kernel
        self._client = client
        routes = Routes("graphql")
        routes.get("/graphql", may=anyone, returns=RawResponse, scopes=READ_SCOPES, staged=True)(self._answer_query)
        routes.post(
            "/graphql",
            may=anyone,
            returns=RawResponse,
            status=200,
            scopes=READ_SCOPES,
            staged=True,
            read_body=read_requests,
        )(self._answer_body)
        self._routes = imported_table(routes.endpoints)

    def handles(self, request: Request) -> bool:
        """Return whether the path is that of the GraphQL API."""
        return request.path in _PATHS

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to one request."""
        if request.method == "OPTIONS" and b"access-control-request-method" in request.headers:
            await send_response(send, trace, 204, [*PREFLIGHT_HEADERS], b"")
            return
        response, call = await self._kernel.handle(request, b"/graphql", self._routes)
        if call is not None:
            trace.route, trace.user = call.endpoint.path, call.actor.username
        if response.status >= 400:
            response = _in_graphql_form(response)
        headers = [*response.headers, NOSNIFF]
        if b"origin" in request.headers:
            headers += CORS_HEADERS
        await send_response(send, trace, response.status, headers, response.body)

    @cached_property
    def _table(self) -> EndpointTable:
        return EndpointTable(self._client())

    def _answer_query(self, stage: StagedCall, params: QueryParams) -> RawResponse:
        """Answer a query in the query string."""
        sent = {"query": params.query, "variables": params.variables, "operationName": params.operationName}
        return self._answer(stage, to_request(sent), may_mutate=False)

    def _answer_body(self, stage: StagedCall, body: GraphqlRequest | list[GraphqlRequest]) -> RawResponse:
        """Answer the queries and mutations of a body."""
        return self._answer(stage, body, may_mutate=True)

    def _answer(
        self, stage: StagedCall, sent: GraphqlRequest | list[GraphqlRequest], *, may_mutate: bool
    ) -> RawResponse:
        from ingot.graphql.service import GraphqlService  # Loads the library and the schema.

        context = QueryContext(self._table, stage.database, stage.actor, stage.origin, stage.settings)
        service = GraphqlService(context, may_mutate=may_mutate)
        answer = [service.answer(each) for each in sent] if isinstance(sent, list) else service.answer(sent)
        return RawResponse(encode(answer), _JSON)


def _in_graphql_form(response: ApiResponse) -> ApiResponse:
    """Return an error of the kernel as an error of GraphQL, with the same status."""
    try:
        content = msgspec.json.decode(response.body)
    except msgspec.DecodeError:
        content = {}
    message = content.get("message") or content.get("error") or str(response.status)
    text = message if isinstance(message, str) else encode(message).decode()
    converted = json_response(response.status, {"errors": [{"message": text}]})
    kept = [header for header in response.headers if header[0] != b"content-type"]
    return converted._replace(headers=[*converted.headers, *kept])
