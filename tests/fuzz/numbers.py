"""Places of integers in the calls of all endpoints, each for numbers that no row can have."""

from collections.abc import Iterator
from typing import Any, NamedTuple

NUMBERS = (0, -1, 2**31, 2**63 - 1, 2**63, -(2**63) - 1)
"""Zero, negative numbers, and numbers at the limits of the integers of both databases."""
_MAX_DEPTH = 3


class NumberPlace(NamedTuple):
    """A parameter of an operation that gets a number: in the path, in the query, or in the body below some keys."""

    method: str
    template: str
    source: str
    keys: tuple[str, ...]
    number: int


def number_places(document: dict[str, Any]) -> Iterator[NumberPlace]:
    """Yield every integer parameter of every operation with every number; each parameter of a path may be a number."""
    schemas = document["components"]["schemas"]
    for template, operations in document["paths"].items():
        for method, operation in operations.items():
            places: list[tuple[str, tuple[str, ...]]] = [
                (each["in"], (each["name"],))
                for each in operation.get("parameters", ())
                if each["in"] == "path" or _has_integer(each.get("schema", {}), schemas)
            ]
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            places += [("body", keys) for keys in _integer_keys(schema, schemas)]
            for source, keys in places:
                for number in NUMBERS:
                    yield NumberPlace(method, template, source, keys, number)


def with_number(fields: dict[str, Any], keys: tuple[str, ...], number: int) -> dict[str, Any]:
    """Return an object with a number below some keys; the key of a list ends with ``[]``."""
    name, rest = keys[0].removesuffix("[]"), keys[1:]
    inner = fields.get(name)
    value: Any = number
    if rest:
        held = inner[0] if isinstance(inner, list) and inner else inner
        value = with_number(held if isinstance(held, dict) else {}, rest, number)
    return {**fields, name: [value] if keys[0].endswith("[]") else value}


def _options(schema: dict[str, Any], schemas: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the forms that a value can have."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    if "anyOf" not in schema:
        return [schema]
    return [option for each in schema["anyOf"] for option in _options(each, schemas)]


def _has_integer(schema: dict[str, Any], schemas: dict[str, Any]) -> bool:
    return any(
        option.get("type") == "integer"
        or (option.get("type") == "array" and _has_integer(option.get("items", {}), schemas))
        for option in _options(schema, schemas)
    )


def _integer_keys(schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Yield the keys of the integers in an object."""
    if depth == _MAX_DEPTH:
        return
    for option in _options(schema, schemas):
        for name, each in option.get("properties", {}).items():
            for form in _options(each, schemas):
                is_list = form.get("type") == "array"
                key = f"{name}[]" if is_list else name
                for item in _options(form.get("items", {}), schemas) if is_list else [form]:
                    if item.get("type") == "integer":
                        yield (key,)
                    for inner in _integer_keys(item, schemas, depth + 1):
                        yield (key, *inner)
