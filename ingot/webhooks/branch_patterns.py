"""Regular expressions of branch filters, matched by RE2 in time linear in the length of the branch name.

Maintainers write these patterns and every push evaluates them, so a backtracking engine such as Python's ``re`` would
let one pattern block a worker. RE2 supports neither backreferences nor lookaround.
"""

from functools import lru_cache

from ingot.core.late_imports import require_modules

_MAX_MEMORY = 256 * 1024
"""Bytes of a compiled pattern and its automaton; RE2 refuses larger patterns."""
_CACHED_PATTERNS = 64


class PatternError(ValueError):
    """Refusal of a pattern that is invalid or too large; the message is RE2's reason."""


class BranchPattern:
    """Compiled regular expression."""

    def __init__(self, text: str) -> None:
        require_modules("re2")  # Few hooks filter by a regular expression, and the library takes 4 MB in each worker.
        import re2

        options = re2.Options()
        options.max_mem = _MAX_MEMORY
        options.never_capture = True
        options.log_errors = False
        try:
            self._compiled = re2.compile(text, options)
        except re2.error as error:
            raise PatternError(_reason(error)) from error

    def found_in(self, text: str) -> bool:
        """Return whether the pattern matches anywhere in the text."""
        return self._compiled.search(text) is not None


@lru_cache(_CACHED_PATTERNS)
def compile_pattern(text: str) -> BranchPattern:
    """Compile a pattern, or return the cached one; raise ``PatternError`` if it is invalid or too large."""
    return BranchPattern(text)


def is_found(pattern: str, text: str) -> bool:
    """Return whether a stored pattern matches anywhere in the text.

    A pattern that an older version accepted and RE2 refuses matches nothing: it must not fail the push.
    """
    try:
        return compile_pattern(pattern).found_in(text)
    except PatternError:
        return False


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
