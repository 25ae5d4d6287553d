"""Scans of texts, for example for references: those of long texts run while no transaction is open."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from ingot.core.offload import outside_transaction

P = ParamSpec("P")
T = TypeVar("T")
_MIN_LENGTH = 8_192
"""Length of a text from which a scan takes milliseconds."""


def text_scan(scan: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Let a pure function of a text never work on a long one within a transaction; its result must not be changed."""

    @wraps(scan)
    def scan_outside(text: str, /, *arguments: P.args, **options: P.kwargs) -> T:
        if len(text) < _MIN_LENGTH:
            return scan(text, *arguments, **options)
        key: tuple[Any, ...] = scan, text, arguments, tuple(options.items())
        return outside_transaction(key, partial(scan, text, *arguments, **options))

    return scan_outside
