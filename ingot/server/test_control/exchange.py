"""Exchange of one HTTP request at the level of ASGI: reading the body, responding, and cutting the connection."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from ingot.core.http.protocol import TRANSPORT_EXTENSION
from ingot.core.http.request import Header, Message, Receive, Send

AsgiApplication = Callable[[Message, Receive, Send], Awaitable[None]]
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


async def read_body(receive: Receive, max_bytes: int) -> bytes:
    """Return the body of a request, at most ``max_bytes`` of it."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)
        body += message.get("body", b"")
        if len(body) >= max_bytes or not message.get("more_body"):
            return bytes(body[:max_bytes])


async def respond(send: Send, status: int, document: Any = None) -> None:
    """Send a response with a JSON document, or without a body."""
    body = b"" if document is None else msgspec.json.encode(document)
    headers: list[Header] = [(b"content-type", b"application/json")] if body else []
    await respond_bytes(send, status, headers, body)


async def respond_bytes(send: Send, status: int, headers: list[Header], body: bytes) -> None:
    """Send a whole response; some statuses have no body."""
    if status in (204, 304):
        body = b""
    else:
        headers = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def transport_of(scope: Message) -> asyncio.Transport:
    """Return the connection of a request."""
    transport: asyncio.Transport = scope["extensions"][TRANSPORT_EXTENSION]["transport"]
    return transport


def reset_connection(scope: Message) -> None:
    """Reset the connection, as a host that fails or a firewall does."""
    transport = transport_of(scope)
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
    transport.abort()
