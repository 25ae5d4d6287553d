"""Answers to the messages of a client; no session is kept, so that any worker can answer any request."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from msgspec import UNSET
from msgspec.structs import replace

from ingot.core.access.actor import Actor
from ingot.core.access.scopes import MCP_SCOPE, WRITE_SCOPES
from ingot.core.api.internal_client import InternalCaller, InternalClient, Target
from ingot.core.api.params import MissingParameter
from ingot.core.api.request_fields import BadRequest
from ingot.core.api.responses import InsufficientScope, error_response
from ingot.core.api.routes import AlternateResponse
from ingot.core.errors import Failure
from ingot.core.http.request import Origin
from ingot.mcp.messages import PROTOCOL_VERSIONS, Message
from ingot.mcp.prompts import PROMPTS
from ingot.mcp.resources import TEMPLATES, match_resource, project_resource
from ingot.mcp.results import result_of, text_result
from ingot.mcp.tools import OFFSET, TOOLS, Tool, describe, is_available, schema_of

_INVALID_REQUEST = -32600
_METHOD_NOT_FOUND = -32601
_INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603
_RESOURCE_NOT_FOUND = -32002
_INSTRUCTIONS = "The argument id is the number or the full path of a project."


class ProtocolError(Exception):
    """An error of the protocol; those of tools are results."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def _whole_list(list_all: Callable[[], dict[str, Any]]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Return a method that lists everything at once, so that no cursor is valid."""

    def run(params: dict[str, Any]) -> dict[str, Any]:
        if params.get("cursor") is not None:
            raise ProtocolError(_INVALID_PARAMS, f"Invalid cursor: {params['cursor']}")
        return list_all()

    return run


def _tool_actor(actor: Actor) -> Actor:
    """Return the actor of the tools: the scope of the protocol gives all of them what ``api`` gives elsewhere.

    A token that is limited to tools has no quick actions for anything else.
    """
    names = actor.restrictions.mcp_tools
    if actor.scopes is not None and MCP_SCOPE in actor.scopes:
        names = tuple(TOOLS) if names is None and WRITE_SCOPES.isdisjoint(actor.scopes) else names
        actor = replace(actor, scopes=actor.scopes | WRITE_SCOPES)
    if names is None:
        return actor
    return replace(actor, tool_routes=frozenset(TOOLS[name].route for name in names if name in TOOLS))


class McpService:
    """Answers for one caller."""

    def __init__(self, client: InternalClient, actor: Actor, origin: Origin, version: str, *, read_only: bool) -> None:
        self._client = client
        self._caller = InternalCaller(_tool_actor(actor), origin, reads_count=True)
        self._version = version
        self._read_only = read_only
        self._methods: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "initialize": self._initialize,
            "ping": lambda _: {},
            "tools/list": _whole_list(self._list_tools),
            "tools/call": self._call_tool,
            "resources/list": _whole_list(self._list_resources),
            "resources/templates/list": _whole_list(self._list_templates),
            "resources/read": self._read_resource,
            "prompts/list": _whole_list(self._list_prompts),
            "prompts/get": self._get_prompt,
        }

    def answer(self, message: Message) -> dict[str, Any] | None:
        """Return the response to a message; None for notifications and responses."""
        if message.jsonrpc != "2.0" or message.id is None:
            problem = '"jsonrpc" must be "2.0"' if message.jsonrpc != "2.0" else '"id" must not be null'
            error = {"code": _INVALID_REQUEST, "message": f"Invalid request: {problem}"}
            return {"jsonrpc": "2.0", "id": None if message.id is UNSET else message.id, "error": error}
        if message.id is UNSET or not message.method:
            return None
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message.id}
        try:
            method = self._methods.get(message.method)
            if method is None:
                raise ProtocolError(_METHOD_NOT_FOUND, f"Method not found: {message.method}")
            return {**answer, "result": method(message.params)}
        except ProtocolError as error:
            return {**answer, "error": {"code": error.code, "message": str(error)}}

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        requested = params.get("protocolVersion")
        return {
            "protocolVersion": requested if requested in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
            "capabilities": {"tools": {"listChanged": False}, "resources": {}, "prompts": {"listChanged": False}},
            "serverInfo": {"name": "ingot", "title": "Ingot", "version": self._version},
            "instructions": _INSTRUCTIONS,
        }

    def _list_tools(self) -> dict[str, Any]:
        return {"tools": [describe(self._client.table, tool) for tool in TOOLS.values() if self._has(tool)]}

    def _has(self, tool: Tool) -> bool:
        allowed = self._caller.actor.restrictions.mcp_tools
        if allowed is not None and tool.name not in allowed:
            return False
        return is_available(self._client.table, self._caller.actor, tool, read_only=self._read_only)

    def _call_tool(self, params: dict[str, Any]) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments", {})
        tool = TOOLS.get(name) if isinstance(name, str) else None
        if tool is None or not self._has(tool):
            raise ProtocolError(_INVALID_PARAMS, f"Unknown tool: {name}")
        if not isinstance(arguments, dict):
            raise ProtocolError(_INVALID_PARAMS, "The arguments must be an object")
        schema = schema_of(self._client.table, tool)
        unknown, missing = arguments.keys() - schema["properties"].keys(), schema["required"] - arguments.keys()
        if unknown or missing:
            word, names = ("Unknown", unknown) if unknown else ("Missing", missing)
            return text_result(f"{word} arguments: {', '.join(sorted(names))}", is_error=True)
        return self._run(tool, arguments)

    def _list_resources(self) -> dict[str, Any]:
        """List the projects that the user is a member of, those with the newest activity first."""
        tool = TOOLS["list_projects"]
        if not self._has(tool):
            return {"resources": []}
        result = self._run(tool, {"membership": True, "order_by": "last_activity_at"})
        if result["isError"]:
            raise ProtocolError(_INTERNAL_ERROR, result["content"][0]["text"])
        return {"resources": [project_resource(project) for project in result["structuredContent"]["items"]]}

    def _list_templates(self) -> dict[str, Any]:
        return {"resourceTemplates": [each.description for each in TEMPLATES if self._has(TOOLS[each.tool])]}

    def _read_resource(self, params: dict[str, Any]) -> dict[str, Any]:
        uri = params.get("uri")
        found = match_resource(uri) if isinstance(uri, str) else None
        if found is None or not self._has(TOOLS[found[0].tool]):
            raise ProtocolError(_RESOURCE_NOT_FOUND, f"Resource not found: {uri}")
        template, arguments = found
        result = self._run(TOOLS[template.tool], arguments)
        text = result["content"][0]["text"]
        if result["isError"]:
            raise ProtocolError(_RESOURCE_NOT_FOUND, f"Resource not found: {text}")
        return {"contents": [{"uri": uri, "mimeType": template.media_type, "text": text}]}

    def _list_prompts(self) -> dict[str, Any]:
        return {"prompts": [prompt.description for prompt in PROMPTS.values() if self._has(TOOLS[prompt.tool])]}

    def _get_prompt(self, params: dict[str, Any]) -> dict[str, Any]:
        name, arguments = params.get("name"), params.get("arguments", {})
        prompt = PROMPTS.get(name) if isinstance(name, str) else None
        if prompt is None or not self._has(TOOLS[prompt.tool]):
            raise ProtocolError(_INVALID_PARAMS, f"Unknown prompt: {name}")
        if not isinstance(arguments, dict) or not all(isinstance(arguments.get(each), str) for each in prompt.takes):
            raise ProtocolError(_INVALID_PARAMS, f"The prompt needs the arguments {', '.join(prompt.takes)}")
        return {"description": prompt.title, "messages": [prompt.message(arguments)]}

    def _run(self, tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
        rest = {name: value for name, value in arguments.items() if name != OFFSET or OFFSET not in tool.own}
        offset = arguments.get(OFFSET) if OFFSET in tool.own else None
        if offset is not None and (not isinstance(offset, int) or isinstance(offset, bool) or offset < 0):
            return text_result("The offset must be a number of bytes", is_error=True)
        try:
            route, arguments = (
                (tool.route, rest) if tool.choose is None else tool.choose(rest, self._caller.origin.base)
            )
        except ValueError as error:
            return text_result(str(error), is_error=True)
        endpoint = self._client.table.declared_as(*route.split())
        names = [name for name in arguments if f":{name}" in endpoint.path.split("/")]
        # The id may be URL-encoded, as in the paths of the API; a path of a project or group contains no "%".
        path = {name: unquote(str(arguments[name])) if name == "id" else str(arguments[name]) for name in names}
        sent = {name: value for name, value in arguments.items() if name not in path}
        target = Target(path, endpoint.path.split("/")[1])
        try:
            response = self._client.call(self._caller, endpoint.handler, target, sent)
        except (Failure, BadRequest, MissingParameter, InsufficientScope) as error:
            refusal = error_response(error, endpoint.denied, endpoint.conflict)
            return text_result(refusal.body.decode() if refusal else str(error), is_error=True)
        if isinstance(response, AlternateResponse):
            return {**result_of(response.content, ()), "isError": response.status >= 400}
        return result_of(response, tool.gives, tail=tool.tail, offset=offset)
