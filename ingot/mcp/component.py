"""HTTP component of the Model Context Protocol: streamable HTTP without sessions and without event streams."""

import re
from collections.abc import Callable
from functools import cached_property

from ingot.core.access.restrictions import GRANULAR
from ingot.core.access.rules import signed_in
from ingot.core.access.scopes import MCP_SCOPE, MCP_SCOPES
from ingot.core.api.component import CORS_HEADERS, NOSNIFF, PREFLIGHT_HEADERS
from ingot.core.api.internal_client import InternalClient
from ingot.core.api.kernel import Kernel
from ingot.core.api.responses import encode
from ingot.core.api.route_table import imported_table
from ingot.core.api.routes import RawResponse, Routes, StagedCall
from ingot.core.http.frontend import send_response
from ingot.core.http.request import Header, Request, Send, Trace
from ingot.mcp.messages import McpParams, Message, read_messages

_ALLOW_HEADERS = b"access-control-allow-headers"
_PREFLIGHT_HEADERS = [
    (name, value + b", MCP-Protocol-Version" if name == _ALLOW_HEADERS else value) for name, value in PREFLIGHT_HEADERS
]
_PATHS = (b"/api/v4/mcp", b"/api/v4/mcp/")
_JSON = "application/json"
_METADATA_PATH = "/.well-known/oauth-protected-resource/api/v4/mcp"
_LOOPBACK_ORIGIN = re.compile(rb"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")
_EXPOSED: Header = (b"access-control-expose-headers", b"WWW-Authenticate")


def _challenge(request: Request, status: int) -> bytes:
    """Return the header by which a client without a suitable token finds the authorization server (RFC 9728)."""
    parameters = {"realm": "Ingot", "resource_metadata": f"{request.origin.base}{_METADATA_PATH}", "scope": MCP_SCOPE}
    if status == 403:
        parameters["error"] = "insufficient_scope"
    elif b"authorization" in request.headers:
        parameters["error"] = "invalid_token"
    return ("Bearer " + ", ".join(f'{name}="{value}"' for name, value in parameters.items())).encode()


def _is_allowed_origin(request: Request) -> bool:
    """Return whether the page of a request, if it names one, is on this server or on the user's own machine."""
    origin = request.headers.get(b"origin")
    if origin is None or origin.decode("latin-1") == request.origin.base:
        return True
    return _LOOPBACK_ORIGIN.fullmatch(origin) is not None


class McpComponent:
    """HTTP component that answers agents; ``client`` calls the endpoints of the REST API."""

    def __init__(self, kernel: Kernel, client: Callable[[], InternalClient]) -> None:
        self._kernel = kernel
        self._make_client = client
        routes = Routes("mcp")
        routes.post(
            "/mcp",
            may=signed_in,
            returns=RawResponse,
            status=200,
            scopes=MCP_SCOPES | {GRANULAR},
            staged=True,
            read_body=read_messages,
        )(self._answer)
        self._routes = imported_table(routes.endpoints)

    def handles(self, request: Request) -> bool:
        """Return whether the path is that of the protocol."""
        return request.path in _PATHS

    async def serve(self, request: Request, send: Send, trace: Trace) -> None:
        """Respond to one request; refuse those of pages of other sites, as the protocol requires."""
        if not _is_allowed_origin(request):
            await send_response(send, trace, 403, [NOSNIFF], b"")
            return
        if request.method == "OPTIONS" and b"access-control-request-method" in request.headers:
            await send_response(send, trace, 204, [*_PREFLIGHT_HEADERS], b"")
            return
        response, call = await self._kernel.handle(request, b"/mcp", self._routes)
        if call is not None:
            trace.route, trace.user = call.endpoint.path, call.actor.username
        headers = [*response.headers, NOSNIFF]
        if response.status in (401, 403):
            headers.append((b"www-authenticate", _challenge(request, response.status)))
        if b"origin" in request.headers:
            headers += [*CORS_HEADERS, _EXPOSED]
        await send_response(send, trace, response.status, headers, response.body)

    @cached_property
    def _client(self) -> InternalClient:
        return self._make_client()

    def _answer(self, stage: StagedCall, params: McpParams, messages: Message | list[Message]) -> RawResponse:
        """Answer the messages of a body; without a request among them, the response is empty."""
        from ingot.mcp.service import McpService  # Loads the schemas of the tools.

        version = stage.settings.reported_version
        service = McpService(self._client, stage.actor, stage.origin, version, read_only=params.only_reads)
        several = messages if isinstance(messages, list) else [messages]
        answers = [answer for message in several if (answer := service.answer(message)) is not None]
        if not answers:
            return RawResponse(b"", status=202)
        return RawResponse(encode(answers if isinstance(messages, list) else answers[0]), _JSON)
