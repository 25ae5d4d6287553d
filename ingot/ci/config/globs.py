"""Path patterns of ``changes``, ``exists`` and ``include:local``: ``*``, ``**``, ``?``, ``[…]`` and ``{a,b}``."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

_SINGLE = r"[^/\n]"
MAX_PATTERN_LENGTH = 4_096


def matches_any(patterns: Iterable[str], paths: Iterable[str]) -> bool:
    """Return whether a path matches one of the patterns, in time linear in the length of all paths."""
    patterns, text = tuple(patterns), "\n".join(paths)
    whole = _compile(patterns)
    matchers = [_compile((pattern,)) for pattern in patterns] if whole is None else [whole]
    return bool(text) and any(each is not None and each.search(text) is not None for each in matchers)


def path_matcher(pattern: str) -> Callable[[str], bool]:
    """Return a function that tells whether a path matches; it takes time linear in the length of the path."""
    compiled = _compile((pattern,))
    if compiled is None:
        return lambda path: path == pattern
    return lambda path: "\n" not in path and compiled.search(path) is not None


@lru_cache(maxsize=512)
def _compile(patterns: Sequence[str]) -> Any:
    """Return one expression that matches lines for all patterns; None if the patterns are too large."""
    import re2  # Few processes evaluate CI files, and the library takes 4 MB.

    options = re2.Options()
    options.log_errors = False
    sources = [_translate(pattern.removeprefix("./").lstrip("/")) for pattern in patterns]
    try:
        return re2.compile(f"(?m)^(?:{'|'.join(sources)})$", options)
    except re2.error:
        return None


def _translate(pattern: str) -> str:
    """Translate a pattern to a regular expression; braces without a partner stand for themselves."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        return re.escape(pattern).replace("\n", "")
    balanced = _has_balanced_braces(pattern)
    parts, index, depth = [], 0, 0
    while index < len(pattern):
        sign = pattern[index]
        step = 1
        if pattern.startswith("**/", index):
            parts.append(f"(?:{_SINGLE}+/)*")
            step = 3
        elif pattern.startswith("**", index):
            parts.append(r"[^\n]*")
            step = 2
        elif sign == "[" and (end := pattern.find("]", index + 2)) > 0:
            parts.append(_character_class(pattern[index + 1 : end]))
            step = end + 1 - index
        elif balanced and (sign in "{}" or (sign == "," and depth)):
            depth += {"{": 1, "}": -1}.get(sign, 0)
            parts.append({"{": "(?:", "}": ")"}.get(sign, "|"))
        else:
            parts.append({"*": f"{_SINGLE}*", "?": _SINGLE}.get(sign) or re.escape(sign))
        index += step
    return "".join(parts)


def _character_class(inside: str) -> str:
    text = re.sub(r"([\\\[\]^])", r"\\\1", inside.removeprefix("!").removeprefix("^"))
    return f"[^{text}/]" if inside[0] in "!^" and text else f"[{text or re.escape(inside)}]"


def _has_balanced_braces(pattern: str) -> bool:
    depth = 0
    for sign in pattern:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0 and "[" not in pattern
