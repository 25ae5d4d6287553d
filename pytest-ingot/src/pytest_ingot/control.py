"""Client of the control endpoints of a test server."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

from pytest_ingot.records import FaultInjection

_TIMEOUT_SECONDS = 60.0


class ControlError(Exception):
    """The server refused a control call; the text says why."""


class ControlClient:
    """Calls of the control endpoints, by the standard library only."""

    def __init__(self, url: str, secret: str, *, is_remote: bool = False) -> None:
        self._base = f"{url}/-/testing/"
        self._secret = secret
        # A server on this machine is not reached through a proxy of the environment.
        self._opener = build_opener(*([] if is_remote else [ProxyHandler({})]))

    def call(
        self, method: str, path: str, document: Any = None, query: Mapping[str, Any] | None = None, wait: float = 0.0
    ) -> Any:
        """Call an endpoint and return its document; raise ``ControlError`` if it refuses."""
        given = {name: value for name, value in (query or {}).items() if value not in ("", None)}
        url = self._base + path + (f"?{urlencode(given)}" if given else "")
        body = document.encode() if isinstance(document, str) else json.dumps(document or {}).encode()
        headers = {"X-Ingot-Testing": self._secret, "Content-Type": "application/json"}
        request = Request(url, body if method == "POST" else None, headers, method=method)  # noqa: S310 - http or https.
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
