"""Faults that a test injects into the responses to matching requests."""

import asyncio
import random
import re

import msgspec

from ingot.core.http.request import Message, Receive, Send
from ingot.errors import Invalid
from ingot.operations.testing.exchange import AsgiApplication, reset_connection, respond_bytes, transport_of

_SLOW_SECONDS = 0.1


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
    body: str = ""
    headers: dict[str, str] = {}
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
        self.rules: list[FaultRule] = []

    def add(self, rule: FaultRule) -> None:
        """Add a rule; raise ``Invalid`` if it has no valid pattern or effect."""
        try:
            re.compile(rule.path)
        except re.error as error:
            raise Invalid(f"path is not a regular expression: {error}") from error
        if rule.reset not in ("", "before", "after"):
            raise Invalid("reset must be before or after")
        if rule.status is not None and not 200 <= rule.status <= 599:
            raise Invalid("status must be between 200 and 599")
        if rule.delay < 0 or (rule.slow is not None and rule.slow < 1) or (rule.truncate or 0) < 0:
            raise Invalid("delay and truncate must not be negative, and slow must be at least 1")
        self.rules.append(rule)

    def clear(self) -> None:
        """Remove all rules."""
        self.rules.clear()
        self._random.seed(0)

    def take(self, scope: Message) -> FaultRule | None:
        """Return the fault of a request, and count it."""
        path: str = scope["raw_path"].decode("latin-1")
        for rule in self.rules:
            if rule.times == 0 or (rule.method and rule.method != scope["method"]) or not re.search(rule.path, path):
                continue
            if rule.rate < 1 and self._random.random() >= rule.rate:
                continue
            if rule.times is not None:
                rule.times -= 1
            return rule
        return None


async def apply_fault(
    rule: FaultRule, application: AsgiApplication, scope: Message, receive: Receive, send: Send
) -> None:
    """Serve a request with a fault."""
    if rule.delay:
        await asyncio.sleep(rule.delay)
    if rule.reset == "before":
        reset_connection(scope)
        return
    if rule.status is not None or rule.retry_after is not None:
        headers = [(name.lower().encode(), value.encode()) for name, value in rule.headers.items()]
        if rule.retry_after is not None:
            headers.append((b"retry-after", b"%d" % rule.retry_after))
        if not any(name == b"content-type" for name, _ in headers):
            headers.append((b"content-type", b"application/json"))
        status = rule.status if rule.status is not None else 429
        await respond_bytes(send, status, headers, rule.body.encode())
        return
    if rule.reset == "after":
        await application(scope, receive, _discard)
        reset_connection(scope)
        return
    if rule.truncate is None and rule.slow is None:
        await application(scope, receive, send)
        return
    await application(scope, receive, _FaultySend(rule, scope, send))


class _FaultySend:
    """``send`` of a response whose body is truncated or slow."""

    def __init__(self, rule: FaultRule, scope: Message, send: Send) -> None:
        self._rule = rule
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
            if self._rule.slow is not None:
                await asyncio.sleep(_SLOW_SECONDS)
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
