"""Fast JSON schema validation: the keywords used by our document, compiled to functions.

The library interprets the schema for each response, which took four times as long as the request for a list of
twenty. Rejected values are checked by the library again, and a test compares the two.
"""

from collections.abc import Callable
from typing import Any

Check = Callable[[Any], bool]
TYPES: dict[str, Check] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
BOUNDS: dict[str, tuple[str, Callable[[Any, int], bool]]] = {
    "minimum": ("number", lambda value, limit: value >= limit),
    "maximum": ("number", lambda value, limit: value <= limit),
    "maxLength": ("string", lambda value, limit: len(value) <= limit),
}
IGNORED_KEYWORDS = {"title", "description", "default"}


class SchemaValidator:
    """Checks of one document; named schemas are compiled once."""

    def __init__(self, schemas: dict[str, Any]) -> None:
        self._schemas = schemas
        self._named: dict[str, Check] = {}

    def check_of(self, schema: dict[str, Any]) -> Check:
        """Return the check of a schema; an unknown keyword accepts nothing, and so leaves it to the library."""
        checks: list[Check] = []
        for word, said in schema.items():
            if word == "type" and isinstance(said, str):
                checks.append(TYPES[said])
            elif word == "$ref":
                checks.append(self._reference(said.removeprefix("#/components/schemas/")))
            elif word == "anyOf":
                checks.append(_any_of([self.check_of(each) for each in said]))
            elif word == "enum" and all(isinstance(each, str) for each in said):
                checks.append(_among(frozenset(said)))
            elif word == "enum" and all(type(each) is int for each in said):
                checks.append(_among_numbers(frozenset(said)))
            elif word in BOUNDS:
                checks.append(_bounded(BOUNDS[word], said))
            elif word == "items":
                checks.append(_items(self.check_of(said)))
            elif word == "required":
                checks.append(_required(frozenset(said)))
            elif word == "properties":
                checks.append(_properties({name: self.check_of(each) for name, each in said.items()}))
            elif word == "additionalProperties":
                check = self.check_of(said) if isinstance(said, dict) else lambda _, said=said: said
                checks.append(_others(schema.get("properties", {}).keys(), check))
            elif word not in IGNORED_KEYWORDS:
                return lambda _: False
        return checks[0] if len(checks) == 1 else lambda value: all(check(value) for check in checks)

    def _reference(self, name: str) -> Check:
        def check(value: Any) -> bool:
            # Compiled on first use, because a view may contain itself.
            if name not in self._named:
                self._named[name] = self.check_of(self._schemas[name])
            return self._named[name](value)

        return check


def _any_of(checks: list[Check]) -> Check:
    return lambda value: any(check(value) for check in checks)


def _among(words: frozenset[str]) -> Check:
    return lambda value: isinstance(value, str) and value in words


def _among_numbers(numbers: frozenset[int]) -> Check:
    return lambda value: TYPES["number"](value) and value in numbers


def _bounded(bound: tuple[str, Callable[[Any, int], bool]], limit: int) -> Check:
    kind, within = bound
    return lambda value: not TYPES[kind](value) or within(value, limit)


def _items(check: Check) -> Check:
    return lambda value: not isinstance(value, list) or all(map(check, value))


def _required(names: frozenset[str]) -> Check:
    return lambda value: not isinstance(value, dict) or names <= value.keys()


def _properties(checks: dict[str, Check]) -> Check:
    def check(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        return all(checks[name](held) for name, held in value.items() if name in checks)

    return check


def _others(named: Any, check: Check) -> Check:
    return lambda value: (
        not isinstance(value, dict) or all(check(held) for name, held in value.items() if name not in named)
    )
