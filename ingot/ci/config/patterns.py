"""Regular expressions of CI files, matched in linear time."""

import re
from collections.abc import Callable
from functools import lru_cache

_LITERAL = re.compile(r"/(.*)/([ismU]*)", re.DOTALL)
_WITH_PROJECT = re.compile(r"(/.*/[ismU]*|[^/@][^@]*)@([^@]+)", re.DOTALL)


def is_pattern(text: str) -> bool:
    """Return whether a text is written as ``/pattern/flags``."""
    return len(text) > 1 and _LITERAL.fullmatch(text) is not None


def split_project(ref: str) -> tuple[str, str | None]:
    """Split ``ref@namespace/project`` of ``only`` and ``except``, where a pattern may contain the sign itself."""
    parts = _WITH_PROJECT.fullmatch(ref)
    return (parts[1], parts[2]) if parts else (ref, None)


@lru_cache(maxsize=1024)
def pattern_matcher(text: str) -> Callable[[str], bool] | None:
    """Return a function that searches for ``/pattern/flags``; None if it is not valid."""
    import re2  # Few processes evaluate CI files, and the library takes 4 MB.

    literal = _LITERAL.fullmatch(text)
    if literal is None:
        return None
    pattern = literal[1].replace("\\/", "/")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(f"(?{literal[2]}){pattern}" if literal[2] else pattern, options)
    except re2.error:
        return None
    return lambda value: compiled.search(value) is not None
