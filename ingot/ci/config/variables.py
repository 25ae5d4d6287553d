"""Expansion of variables in fields that the server reads."""

import re
from collections.abc import Mapping

MAX_ROUNDS = 20
MAX_LENGTH = 100_000
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})|%(\w+)%|\$\$")


def expand_text(text: str, variables: Mapping[str, str], *, keep_unknown: bool = False) -> str:
    """Replace ``$NAME``, ``${NAME}`` and ``%NAME%``; unknown variables become empty."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2] or match[3]
        if name is None:
            return "$"
        unknown = match[0] if keep_unknown or match[3] else ""
        return variables.get(name, unknown)

    return _VARIABLE.sub(value, text)[:MAX_LENGTH]


def expand_nested(variables: Mapping[str, str], raw: frozenset[str] = frozenset()) -> dict[str, str]:
    """Expand variables inside the values of others; a cycle keeps its references as text."""
    expanded: dict[str, str] = {}

    def expand(name: str, path: tuple[str, ...]) -> str:
        if name in expanded:
            return expanded[name]
        text = variables[name]
        if name in raw or len(path) > MAX_ROUNDS:
            return text

        def value(match: re.Match[str]) -> str:
            inner = match[1] or match[2]
            if inner is None or inner in path or inner not in variables:
                return match[0]
            return expand(inner, (*path, inner))

        result = _VARIABLE.sub(value, text)[:MAX_LENGTH]
        if len(path) == 1:
            expanded[name] = result
        return result

    return {name: expand(name, (name,)) for name in variables}
