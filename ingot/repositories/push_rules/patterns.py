"""Regular expressions of push rules, matched in linear time."""

from functools import lru_cache
from typing import Any

from ingot.core.errors import Invalid
from ingot.core.late_imports import require_modules

_MAX_MEMORY = 2**20
"""Bytes of a compiled expression; RE2 refuses larger ones."""


@lru_cache(64)
def compile_pattern(text: str) -> Any:
    """Compile an expression; raise Invalid if it is not valid or too large."""
    require_modules("re2")  # Few projects have push rules, and the library takes 4 MB in each worker.
    import re2

    options = re2.Options()
    options.max_mem = _MAX_MEMORY
    options.log_errors = False
    try:
        return re2.compile(text, options)
    except re2.error as error:
        raise Invalid(f"The expression '{text}' is not valid") from error


def matches(text: str, pattern: str) -> bool:
    """Return whether an expression is found in a text."""
    return compile_pattern(pattern).search(text) is not None
