"""Calls of the API within the process of the server, as the client of the seed makes them."""

from typing import Any

import msgspec

from ingot.core.errors import Invalid
from ingot.core.http.request import Header, Message
from ingot.server.test_control.exchange import AsgiApplication


class InProcessApi:
    """Client of an application, with the token of root, which may act as other users."""

    def __init__(self, application: AsgiApplication, host: str, token: str) -> None:
        self._application = application
        self._host = host
        self._token = token

    async def call(self, method: str, path: str, document: Any = None, sudo: str = "") -> Any:
        """Call an endpoint and return its document; raise ``Invalid`` with its message if it fails."""
        body = msgspec.json.encode(document or {})
        headers: list[Header] = [
            (b"host", self._host.encode()),
            (b"private-token", self._token.encode()),
            (b"content-type", b"application/json"),
            (b"content-length", b"%d" % len(body)),
        ]
        if sudo:
            headers.append((b"sudo", sudo.encode()))
        address, _, query = path.partition("?")
        scope: Message = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "raw_path": f"/api/v4{address}".encode(),
            "query_string": query.encode(),
            "headers": headers,
            "client": ("127.0.0.1", 0),
        }
        collected = _CollectedResponse(body)
        await self._application(scope, collected.receive, collected.send)
        if collected.status >= 400:
            raise Invalid(f"{method} {path}: {collected.status} {collected.body.decode('utf-8', 'replace')}")
        return msgspec.json.decode(collected.body) if collected.body else None


class _CollectedResponse:
    def __init__(self, request_body: bytes) -> None:
        self._request_body: bytes | None = request_body
        self.status = 0
        self.body = b""

    async def receive(self) -> Message:
        body, self._request_body = self._request_body, None
        if body is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            self.body += message.get("body", b"")
