"""Client of the control endpoints of a test server."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

_TIMEOUT_SECONDS = 60.0


class ControlError(Exception):
    """The server refused a control call; the text says why."""


@dataclass(frozen=True)
class FaultInjection:
    """A fault of the responses to matching requests; docs/testing.md describes the fields."""

    method: str = ""
    path: str = ""
    times: int | None = None
    rate: float = 1.0
    delay: float = 0.0
    status: int | None = None
    body: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    retry_after: int | None = None
    reset: str = ""
    truncate: int | None = None
    slow: int | None = None


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the server has received, with its response; secrets are redacted."""

    id: int
    method: str
    path: str
    query: dict[str, Any]
    headers: dict[str, str]
    body: Any
    status: int
    response_headers: dict[str, str]
    response_body: Any


@dataclass(frozen=True)
class HookDelivery:
    """A delivery that the built-in receiver of webhooks got."""

    id: int
    receiver: str
    event: str
    headers: dict[str, str]
    body: Any


class ControlClient:
    """Calls of the control endpoints, by the standard library only."""

    def __init__(self, url: str, secret: str) -> None:
        self._base = f"{url}/-/testing/"
        self._secret = secret
        # The server is on this machine, so that a proxy of the environment does not apply.
        self._opener = build_opener(ProxyHandler({}))

    def call(
        self, method: str, path: str, document: Any = None, query: Mapping[str, Any] | None = None, wait: float = 0.0
    ) -> Any:
        """Call an endpoint and return its document; raise ``ControlError`` if it refuses."""
        given = {name: value for name, value in (query or {}).items() if value not in ("", None)}
        url = self._base + path + (f"?{urlencode(given)}" if given else "")
        body = document.encode() if isinstance(document, str) else json.dumps(document or {}).encode()
        headers = {"X-Ingot-Testing": self._secret, "Content-Type": "application/json"}
        request = Request(url, body if method == "POST" else None, headers, method=method)  # noqa: S310 - Always http.
        try:
            with self._opener.open(request, timeout=_TIMEOUT_SECONDS + wait) as response:
                text = response.read()
        except HTTPError as error:
            with error:
                message = error.read().decode("utf-8", "replace")
            raise ControlError(f"{method} {path}: {error.code} {message}") from None
        return json.loads(text) if text else None

    def add_fault(self, fault: FaultInjection) -> None:
        """Add a fault."""
        self.call("POST", "faults", asdict(fault))
