"""Messages of JSON-RPC, in which the protocol is written."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from ingot.core.api.params import Params
from ingot.core.api.request_fields import BadRequest, read_body
from ingot.core.api.routes import BodyContext

PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Supported versions of the protocol, the newest first."""
MAX_BODY = 4 * 2**20
MAX_MESSAGES = 20
"""Messages of a batch, which only the oldest version has."""


class McpParams(Params):
    """Query string of the endpoint."""

    read_only: str = "false"

    @property
    def only_reads(self) -> bool:
        """Whether tools that change something are left out: with every value, or none, that does not say no."""
        return self.read_only.strip().lower() not in ("false", "0", "f", "no", "off")


class Message(msgspec.Struct, frozen=True):
    """A request, or a notification if it has no id; a response has no method."""

    jsonrpc: Any = None
    method: str = ""
    id: str | int | UnsetType | None = UNSET
    params: dict[str, Any] = {}


_Messages = Message | list[Message]


async def read_messages(context: BodyContext) -> Message | list[Message]:
    """Read the body; raise BadRequest for malformed messages and unsupported versions."""
    version = context.headers.get(b"mcp-protocol-version")
    if version is not None and version.decode("latin-1") not in PROTOCOL_VERSIONS:
        raise BadRequest(400, "400 (Bad request) the version in MCP-Protocol-Version is not supported")
    pieces = []
    async for piece in read_body(context.receive, context.headers, MAX_BODY):
        await context.charge.add(len(piece))
        pieces.append(piece)
    try:
        messages: _Messages = msgspec.json.decode(b"".join(pieces), type=_Messages)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadRequest(400, "400 (Bad request) the body is not a message of JSON-RPC") from error
    if isinstance(messages, list) and version not in (None, PROTOCOL_VERSIONS[-1].encode()):
        raise BadRequest(400, "400 (Bad request) this version of the protocol has no batches")
    if isinstance(messages, list) and not 0 < len(messages) <= MAX_MESSAGES:
        raise BadRequest(400, f"400 (Bad request) a batch has 1 to {MAX_MESSAGES} messages")
    return messages
