"""Client of the protocol that sends single messages."""

from collections.abc import Mapping
from itertools import count
from typing import Any

import httpx

from tests.client import TIMEOUT, User
from tests.conftest import Instance

_IDS = count(1)
ACCEPT = "application/json, text/event-stream"


class Agent:
    """A user's agent; ``read_only`` asks for the tools that change nothing."""

    def __init__(self, instance: Instance, user: User | None, *, read_only: bool = False) -> None:
        self.url = f"{instance.url}/api/v4/mcp" + ("?read_only=true" if read_only else "")
        self.headers = {"Accept": ACCEPT} | ({"Authorization": f"Bearer {user.token}"} if user else {})

    def post(self, content: Any, headers: Mapping[str, str] | None = None, method: str = "POST") -> httpx.Response:
        """Send any JSON document, or bytes as they are."""
        body = {"content": content} if isinstance(content, bytes) else {"json": content}
        timeout = httpx.Timeout(**TIMEOUT)
        return httpx.request(method, self.url, headers={**self.headers, **(headers or {})}, timeout=timeout, **body)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return the response."""
        number = next(_IDS)
        answer = self.post({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        assert answer.status_code == 200, answer.text
        response: dict[str, Any] = answer.json()
        assert response["jsonrpc"] == "2.0" and response["id"] == number
        return response

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return the result."""
        response = self.ask("tools/call", name=tool, arguments=arguments)
        result: dict[str, Any] = response["result"]
        return result

    def get(self, tool: str, **arguments: Any) -> Any:
        """Call a tool that succeeds and return the content, which is an object."""
        result = self.call(tool, **arguments)
        assert not result["isError"], result
        return result["structuredContent"]

    def tools(self) -> dict[str, dict[str, Any]]:
        """Return the tools by name."""
        return {tool["name"]: tool for tool in self.ask("tools/list")["result"]["tools"]}
