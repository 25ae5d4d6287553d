"""What a handler is, and what may be told of one that failed."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from ingot.core.db.database import Database

JobHandler = Callable[[Database, Any], None]
"""Runs a job; it may run units of work of its own, and must be safe to run twice."""

MAX_TEXT_LENGTH = 200
_MAX_SCANNED_LENGTH = 2000
REDACTED = "[hidden]"
_MIN_WORD_LENGTH = 8
_MIN_TEXT_LENGTH = 4
_SECRETS = re.compile(
    r"(?<=://)[^/@\s]+(?=@)"  # The user and password of a URL.
    r"|(?<=[?&;=])[^?&;=\s]{4,}"  # The values of its query.
    r"|(?=[\w+/-]*\d)(?=[\w+/-]*[A-Za-z])[\w+/-]{20,}=*"  # What looks random: tokens, digests.
)


class RetryLater(Exception):
    """Raised by a handler whose time has not come: it is run again, and this counts as no failure.

    With a reason it counts as an attempt, and the reason is shown to whoever looks at the queue.
    """

    def __init__(self, seconds: float, reason: str | None = None) -> None:
        super().__init__(f"again in {seconds} seconds")
        self.seconds = seconds
        self.reason = reason


def describe_error(error: Exception, payload: Any, *, silent: type[Exception]) -> str:
    """What went wrong, in a line without secrets; of ``silent`` errors, which quote values, only their type."""
    name = type(error).__name__
    if isinstance(error, silent):
        return name
    text = str(error)[:_MAX_SCANNED_LENGTH]
    for secret in sorted(set(_payload_texts(payload)), key=len, reverse=True):
        text = text.replace(secret, REDACTED)
    text = " ".join(_SECRETS.sub(REDACTED, text).split())
    return f"{name}: {text[:MAX_TEXT_LENGTH]}" if text else name


def _payload_texts(payload: Any) -> Iterator[str]:
    """Every text in a payload, whole and by its long words, also as ``repr`` would quote it."""
    if isinstance(payload, dict):
        for value in payload.values():
            yield from _payload_texts(value)
    elif isinstance(payload, list):
        for value in payload:
            yield from _payload_texts(value)
    elif isinstance(payload, str):
        for text in (payload, *payload.split()):
            if len(text) >= (_MIN_TEXT_LENGTH if text is payload else _MIN_WORD_LENGTH):
                yield text
                yield repr(text)[1:-1]
