"""Log of the requests that a server for tests has received, with their responses and without secrets."""

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from ingot.core.http.request import Message, Receive, Send

MAX_ENTRIES = 10_000
MAX_BODY_BYTES = 64 * 1024
REDACTED = "[redacted]"
_SECRET_HEADERS = {"authorization", "cookie", "set-cookie", "unleash-instanceid", "x-ingot-testing"}
_SECRET_FIELD = re.compile(r"token|password|secret|private_key|otp|^code$", re.IGNORECASE)
_SECRET_IN_URL = re.compile(r"([?&#](?:\w*token|\w*secret|\w*password|code)=)[^&#]*", re.IGNORECASE)
_SECRET_IN_JSON = re.compile(
    r'("\w*(?:token|password|secret|private_key|otp)\w*"\s*:\s*)"(?:[^"\\]|\\.)*"?', re.IGNORECASE
)
_WITHOUT_TEXT = ("multipart/form-data", "text/html")
"""Types whose text may contain secrets at any place, such as forms and their hidden fields."""


class LoggedRequest(msgspec.Struct):
    """A request and its response; bodies are decoded from JSON or forms where possible."""

    id: int
    method: str
    path: str
    query: dict[str, Any]
    headers: dict[str, str]
    body: Any = None
    status: int | None = None
    response_headers: dict[str, str] = {}
    response_body: Any = None


class RequestLog:
    """The last requests, in the order in which they arrived."""

    def __init__(self) -> None:
        self._entries: deque[LoggedRequest] = deque(maxlen=MAX_ENTRIES)
        self._count = 0
        self._changed = asyncio.Condition()

    def entries(self, method: str = "", path: str = "", after: int = 0) -> list[LoggedRequest]:
        """Return the completed requests with a method, a pattern in their path, and an id above ``after``."""
        pattern = re.compile(path)
        return [
            entry
            for entry in self._entries
            if entry.status is not None
            and entry.id > after
            and method in ("", entry.method)
            and pattern.search(entry.path)
        ]

    async def wait(self, seconds: float, count: int, method: str, path: str, after: int) -> list[LoggedRequest]:
        """Return the matching requests as soon as there are ``count`` of them, or when the time is over."""
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: len(self.entries(method, path, after)) >= count)
        except TimeoutError:
            pass
        return self.entries(method, path, after)

    def clear(self) -> None:
        """Remove all requests; ids continue."""
        self._entries.clear()

    def restart(self) -> None:
        """Remove all requests, and count from 1 again."""
        self._entries.clear()
        self._count = 0

    @asynccontextmanager
    async def record(self, scope: Message, receive: Receive, send: Send) -> AsyncIterator[tuple[Receive, Send]]:
        """Record a request during a block; yield the functions that its application must use."""
        self._count += 1
        headers = _text_headers(scope["headers"])
        entry = LoggedRequest(
            self._count,
            scope["method"],
            scope["raw_path"].decode("latin-1"),
            _redacted(_fields(scope["query_string"])),
            _without_secrets(headers),
        )
        self._entries.append(entry)
        recording = _Recording(entry, receive, send)
        try:
            yield recording.receive, recording.send
        finally:
            entry.body = _decoded(recording.request_body, headers)
            entry.response_body = _decoded(recording.response_body, recording.response_headers)
            entry.response_headers = _without_secrets(recording.response_headers)
            entry.status = recording.status
            async with self._changed:
                self._changed.notify_all()


class _Recording:
    """Copy of what one request and its response contain, up to a limit."""

    def __init__(self, entry: LoggedRequest, receive: Receive, send: Send) -> None:
        self._entry = entry
        self._receive = receive
        self._send = send
        self.request_body = b""
        self.response_body = b""
        self.response_headers: dict[str, str] = {}
        self.status = 0
        """Status of the response, or 0 if the connection was cut before it."""

    async def receive(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request" and len(self.request_body) < MAX_BODY_BYTES:
            self.request_body = (self.request_body + message.get("body", b""))[:MAX_BODY_BYTES]
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.response_headers = _text_headers(message["headers"])
        elif message["type"] == "http.response.body" and len(self.response_body) < MAX_BODY_BYTES:
            self.response_body = (self.response_body + message.get("body", b""))[:MAX_BODY_BYTES]
        await self._send(message)


def _text_headers(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}


def _without_secrets(headers: dict[str, str]) -> dict[str, str]:
    hidden = {name for name in headers if name in _SECRET_HEADERS or _SECRET_FIELD.search(name)}
    return {
        name: REDACTED if name in hidden else _SECRET_IN_URL.sub(rf"\1{REDACTED}", value)
        for name, value in headers.items()
    }


def _fields(text: bytes) -> dict[str, Any]:
    """Return the fields of a query or form; a name that occurs several times has a list."""
    fields: dict[str, Any] = {}
    for name, value in parse_qsl(text.decode("utf-8", "replace"), keep_blank_values=True):
        if name not in fields:
            fields[name] = [value] if name.endswith("[]") else value
        else:
            fields[name] = [*(fields[name] if isinstance(fields[name], list) else [fields[name]]), value]
    return fields


def _decoded(body: bytes, headers: dict[str, str]) -> Any:
    """Return a body as a document without secrets, or as text; None for binary data, pages and files in forms."""
    kind = headers.get("content-type", "").partition(";")[0]
    if not body or kind in _WITHOUT_TEXT:
        return None
    if kind == "application/x-www-form-urlencoded":
        return _redacted(_fields(body))
    if kind == "application/json":
        try:
            return _redacted(msgspec.json.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # Truncated, nested too deep, or not JSON.
            pass
    try:
        return _SECRET_IN_JSON.sub(rf'\1"{REDACTED}"', body.decode())
    except UnicodeDecodeError:
        return None


def _redacted(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: REDACTED if _SECRET_FIELD.search(name) and _is_text(inner) else _redacted(inner)
            for name, inner in value.items()
        }
    return [_redacted(item) for item in value] if isinstance(value, list) else value


def _is_text(value: Any) -> bool:
    """Return whether a value is a text or a list of texts; numbers and flags of such fields are not secret."""
    return isinstance(value, str) or (isinstance(value, list) and any(isinstance(item, str) for item in value))
