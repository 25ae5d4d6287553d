"""Job handlers, and the description of their errors without secrets."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from ingot.core.db.database import Database

JobHandler = Callable[[Database, Any], None]
"""Runs a job; it may open its own transactions and must be idempotent."""

MAX_TEXT_LENGTH = 200
_MAX_SCANNED_LENGTH = 2000
REDACTED = "[hidden]"
_MIN_WORD_LENGTH = 8
_MIN_TEXT_LENGTH = 4
_SECRETS = re.compile(
    r"(?<=://)[^/@\s]+(?=@)"  # The user and password of a URL.
    r"|(?<=[?&;=])[^?&;=\s]{4,}"  # The values of its query.
    r"|(?=[\w+/-]*\d)(?=[\w+/-]*[A-Za-z])[\w+/-]{20,}=*"  # Random-looking text: tokens, digests.
)


class RetryLater(Exception):
    """Raised by a handler to run the job again later without counting a failure.

    With a reason it counts as an attempt, and the reason is shown in the list of jobs.
    """

    def __init__(self, seconds: float, reason: str | None = None) -> None:
        super().__init__(f"again in {seconds} seconds")
        self.seconds = seconds
        self.reason = reason


def describe_error(error: Exception, payload: Any, *, silent: type[Exception]) -> str:
    """Describe an error in one line without secrets.

    For ``silent`` errors, whose messages quote values, only the type is given.
    """
    name = type(error).__name__
    if isinstance(error, silent):
        return name
    text = str(error)[:_MAX_SCANNED_LENGTH]
    for secret in sorted(set(_payload_texts(payload)), key=len, reverse=True):
        text = text.replace(secret, REDACTED)
    text = " ".join(_SECRETS.sub(REDACTED, text).split())
    return f"{name}: {text[:MAX_TEXT_LENGTH]}" if text else name


def _payload_texts(payload: Any) -> Iterator[str]:
    """Yield every text in a payload, whole and by its long words, also as ``repr`` quotes it."""
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
