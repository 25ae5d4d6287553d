"""Path patterns of ``changes``, ``exists`` and ``include:local``: ``*``, ``**``, ``?``, ``[…]`` and ``{a,b}``."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

MAX_ALTERNATIVES = 100


def matches_any(patterns: Iterable[str], paths: Iterable[str]) -> bool:
    """Return whether a path matches one of the patterns."""
    matchers = [path_matcher(pattern) for pattern in patterns]
    return any(matches(path) for path in paths for matches in matchers)


@lru_cache(maxsize=1024)
def path_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that tells whether a path matches; it takes time linear in the length of the path."""
    import re2  # Few processes evaluate CI files, and the library takes 4 MB.

    source = "|".join(_translate(each) for each in _alternatives(pattern.removeprefix("./").lstrip("/")))
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(f"(?s:{source})", options)
    except re2.error:
        return lambda path: path == pattern
    return lambda path: compiled.fullmatch(path) is not None


def _alternatives(pattern: str) -> list[str]:
    """Expand ``{a,b}``, also nested, up to a limit."""
    done: list[str] = []
    waiting = [pattern]
    while waiting and len(done) + len(waiting) <= MAX_ALTERNATIVES:
        text = waiting.pop()
        inner = re.search(r"\{([^{}]*)\}", text)
        if inner is None:
            done.append(text)
            continue
        waiting += [text[: inner.start()] + choice + text[inner.end() :] for choice in inner[1].split(",")]
    return done or [pattern]


def _translate(pattern: str) -> str:
    parts = []
    index = 0
    while index < len(pattern):
        sign = pattern[index]
        if pattern.startswith("**/", index):
            parts.append("(?:[^/]+/)*")
            index += 3
        elif pattern.startswith("**", index):
            parts.append(".*")
            index += 2
        elif sign == "[" and (end := pattern.find("]", index + 2)) > 0:
            inside = pattern[index + 1 : end].replace("\\", "\\\\")
            parts.append(f"[^{inside[1:]}]" if inside[0] in "!^" else f"[{inside}]")
            index = end + 1
        else:
            parts.append({"*": "[^/]*", "?": "[^/]"}.get(sign) or re.escape(sign))
            index += 1
    return "".join(parts)
