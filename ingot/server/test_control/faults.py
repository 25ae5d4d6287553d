"""Faults that a test injects into the responses to matching requests."""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from ingot.core.errors import Invalid
from ingot.core.http.request import Message, Receive, Send
from ingot.server.test_control.exchange import AsgiApplication, reset_connection, respond_bytes, transport_of

_SLOW_SECONDS = 0.1
_MAX_DELAY_SECONDS = 3600
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_FRAMING_HEADERS = {"content-length", "transfer-encoding", "connection"}
Pause = Callable[[float], Awaitable[bool]]
"""Waits for seconds; returns False if the instance is reset meanwhile."""


class FaultRule(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A fault, the requests that it applies to, and its number of times."""

    method: str = ""
    """Empty for all methods."""
    path: str = ""
    """Regular expression that is searched in the path."""
    times: int | None = None
    """Number of requests, or None for all."""
    rate: float = 1.0
    """Share of the matching requests."""
    delay: float = 0.0
    """Seconds before anything else happens."""
    status: int | None = None
    """Status of the response, which is sent instead of that of the application."""
    body: Any = ""
    """Text, or a document that is sent as JSON."""
    headers: dict[str, str] = {}
    """Headers of the response with ``status`` or ``retry_after``."""
    retry_after: int | None = None
    reset: str = ""
    """``before``: reset the connection, and do nothing; ``after``: do what is requested, and reset it."""
    truncate: int | None = None
    """Number of bytes of the body after which the connection is reset."""
    slow: int | None = None
    """Number of bytes of the body that are sent at a time, ten times a second."""


class FaultPlan:
    """Rules in the order in which they were added; the first that matches a request applies."""

    def __init__(self) -> None:
        self._random = random.Random(0)  # noqa: S311 - Rates must be the same in every run.
        self._reset = asyncio.Event()
        self.rules: list[FaultRule] = []

    def add(self, rule: FaultRule) -> None:
        """Add a rule; raise ``Invalid`` if it has no valid pattern or effect."""
        _check(rule)
        self.rules.append(rule)

    async def pause(self, seconds: float) -> bool:
        """Wait; return False if the instance is reset meanwhile, so that a reset need not wait for a delay."""
        try:
            async with asyncio.timeout(seconds):
                await self._reset.wait()
        except TimeoutError:
            return True
        return False

    def end_pauses(self) -> None:
        """End all pauses that have begun."""
        self._reset.set()
        self._reset = asyncio.Event()

    def clear(self) -> None:
        """Remove all rules."""
        self.rules.clear()
        self._random.seed(0)

    def take(self, scope: Message) -> FaultRule | None:
        """Return the fault of a request, and count it."""
        path: str = scope["raw_path"].decode("latin-1")
        for rule in self.rules:
            if (
                rule.times == 0
                or (rule.method and rule.method.upper() != scope["method"])
                or not re.search(rule.path, path)
            ):
                continue
            if rule.rate < 1 and self._random.random() >= rule.rate:
                continue
            if rule.times is not None:
                rule.times -= 1
            return rule
        return None


def _check(rule: FaultRule) -> None:
    """Raise ``Invalid`` if a rule has a value that is not valid, or one that would have no effect."""
    try:
        re.compile(rule.path)
    except (re.error, RecursionError, OverflowError) as error:
        raise Invalid(f"path is not a regular expression: {error}") from error
    if rule.reset not in ("", "before", "after"):
        raise Invalid("reset must be before or after")
    if rule.status is not None and not 200 <= rule.status <= 599:
        raise Invalid("status must be between 200 and 599")
    if not 0 <= rule.rate <= 1 or (rule.times is not None and rule.times < 1):
        raise Invalid("rate must be between 0 and 1, and times must be at least 1")
    if not 0 <= rule.delay <= _MAX_DELAY_SECONDS:
        raise Invalid(f"delay must be between 0 and {_MAX_DELAY_SECONDS} seconds")
    if (rule.slow is not None and rule.slow < 1) or (rule.truncate or 0) < 0 or (rule.retry_after or 0) < 0:
        raise Invalid("truncate and retry_after must not be negative, and slow must be at least 1")
    responds = rule.status is not None or rule.retry_after is not None
    if not (responds or rule.delay or rule.reset or rule.truncate is not None or rule.slow is not None):
        raise Invalid("A fault needs delay, status, retry_after, reset, truncate or slow")
    if (rule.body != "" or rule.headers) and not responds:
        raise Invalid("body and headers need status or retry_after")
    if rule.reset and (responds or rule.truncate is not None or rule.slow is not None):
        raise Invalid("A connection that is reset has no response")
    _check_headers(rule.headers)


def _check_headers(headers: dict[str, str]) -> None:
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
            raise Invalid(f"The header {name} cannot be sent")
        if name.lower() in _FRAMING_HEADERS:
            raise Invalid(f"The header {name} is set by the server; use truncate for a body that ends early")


async def apply_fault(
    rule: FaultRule, pause: Pause, application: AsgiApplication, scope: Message, receive: Receive, send: Send
) -> None:
    """Serve a request with a fault."""
    if (rule.delay and not await pause(rule.delay)) or rule.reset == "before":
        reset_connection(scope)
        return
    if rule.truncate is not None or rule.slow is not None:
        send = _FaultySend(rule, pause, scope, send)
    if rule.status is not None or rule.retry_after is not None:
        headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in rule.headers.items()]
        if rule.retry_after is not None:
            headers.append((b"retry-after", b"%d" % rule.retry_after))
        if not any(name == b"content-type" for name, _ in headers):
            headers.append((b"content-type", b"application/json"))
        status = rule.status if rule.status is not None else 429
        body = rule.body.encode() if isinstance(rule.body, str) else msgspec.json.encode(rule.body)
        await respond_bytes(send, status, headers, body)
        return
    if rule.reset == "after":
        await application(scope, receive, _discard)
        reset_connection(scope)
        return
    await application(scope, receive, send)


class _FaultySend:
    """``send`` of a response whose body is truncated or slow."""

    def __init__(self, rule: FaultRule, pause: Pause, scope: Message, send: Send) -> None:
        self._rule = rule
        self._pause = pause
        self._scope = scope
        self._send = send
        self._left = rule.truncate
        self._cut = False

    async def __call__(self, message: Message) -> None:
        if self._cut:
            return
        if message["type"] != "http.response.body":
            await self._send(message)
            return
        body: bytes = message.get("body", b"")
        if self._left is not None:
            body = body[: self._left]
            self._left -= len(body)
        for start in range(0, len(body), self._rule.slow or max(1, len(body))):
            if self._rule.slow is not None and not await self._pause(_SLOW_SECONDS):
                self._cut = True
                reset_connection(self._scope)
                return
            piece = body[start : start + (self._rule.slow or len(body))]
            await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        if self._left == 0:
            self._cut = True
            # The bytes so far must leave before the connection ends.
            await asyncio.sleep(_SLOW_SECONDS)
            transport_of(self._scope).abort()
        elif not message.get("more_body"):
            await self._send({"type": "http.response.body", "body": b""})


async def _discard(message: Message) -> None:
    """Drop a part of a response that the client never receives."""
