"""Expansion of variables in fields that the server reads."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping

MAX_LENGTH = 100_000
"""Maximum length of an expanded text."""
MAX_TOTAL_LENGTH = 10_000_000
"""Maximum length of all expanded variables of a job."""
_VARIABLE = re.compile(r"\$\$|%%|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}|%([A-Za-z_]\w*)%")


def expand_text(text: str, variables: Mapping[str, str], *, keep_unknown: bool = False) -> str:
    """Replace ``$NAME``, ``${NAME}`` and ``%NAME%``; unknown variables become empty, ``$$`` and ``%%`` remain."""
    return _substitute(text, lambda name, reference: variables.get(name, reference if keep_unknown else ""))


class ExpandedVariables(Mapping[str, str]):
    """Variables whose values are expanded when they are read; unknown ones and those of a cycle remain as text."""

    def __init__(self, variables: Mapping[str, str], raw: Collection[str] = ()) -> None:
        self._variables = variables
        self._raw = raw
        self._expanded: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        value = self._variables[name]
        if name in self._raw or not ("$" in value or "%" in value):
            return value
        if name not in self._expanded:
            self._expanded |= _expand_nested(self._with_references(name), self._raw)
        return self._expanded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def _with_references(self, name: str) -> dict[str, str]:
        """Return a variable and all variables that its value refers to."""
        found = {name: self._variables[name]}
        waiting = [name]
        while waiting:
            for inner in _names(found[waiting.pop()]):
                if inner in self._variables and inner not in found:
                    found[inner] = self._variables[inner]
                    if inner not in self._raw:
                        waiting.append(inner)
        return found


def _expand_nested(variables: Mapping[str, str], raw: Collection[str]) -> dict[str, str]:
    """Expand variables inside the values of others; unknown ones and those of a cycle remain as text."""
    expanded = {name: value for name, value in variables.items() if name in raw or not ("$" in value or "%" in value)}
    waiting = {name: value for name, value in variables.items() if name not in expanded}
    total = 0
    for name in _in_order({name: set(_names(value)) & waiting.keys() for name, value in waiting.items()}):
        value = waiting[name]
        if total < MAX_TOTAL_LENGTH:
            value = _substitute(value, expanded.get)
        total += len(value)
        expanded[name] = value
    return {name: expanded[name] for name in variables}


def _names(text: str) -> Iterator[str]:
    return (match[1] or match[2] or match[3] for match in _VARIABLE.finditer(text) if match.lastindex)


def _in_order(references: Mapping[str, set[str]]) -> Iterator[str]:
    """Yield names after the names that they refer to; those of cycles come last."""
    missing = {name: len(names) for name, names in references.items()}
    users: dict[str, list[str]] = {}
    for name, names in references.items():
        for inner in names:
            users.setdefault(inner, []).append(name)
    ready = [name for name, count in missing.items() if not count]
    while ready:
        name = ready.pop()
        del missing[name]
        yield name
        for user in users.get(name, ()):
            missing[user] -= 1
            if not missing[user]:
                ready.append(user)
    yield from missing


def _substitute(text: str, value_of: Callable[[str, str], str]) -> str:
    """Replace references to variables; the result is cut at MAX_LENGTH."""
    parts, length, end = [], 0, 0
    for match in _VARIABLE.finditer(text):
        name = match[1] or match[2] or match[3]
        part = text[end : match.start()] + (value_of(name, match[0]) if name else match[0])
        end = match.end()
        parts.append(part)
        length += len(part)
        if length > MAX_LENGTH:
            break
    return ("".join(parts) + text[end:])[:MAX_LENGTH]
