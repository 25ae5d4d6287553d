"""Random values that match a JSON schema, and values that do not."""

import base64
import random
from collections.abc import Callable
from typing import Any

_WORDS = ("alpha", "beta", "Gamma", "δέλτα", "e-mail", "f.g", "中文", "long " * 40, "<b>x</b>", "a/b", "0", "#1 @root")
_HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**63,
    2**70,
    1.5,
    "",
    "\x00",
    "é" * 300,
    "x" * 9_000,
    [],
    {},
    [[]],
    {"a": 1},
)
_BY_NAME: dict[str, tuple[Any, ...]] = {
    "email": ("a@example.org", "b@example.org"),
    "ref": ("master", "topic", "v1"),
    "branch": ("master", "topic"),
    "branch_name": ("master", "topic"),
    "source_branch": ("topic", "master"),
    "target_branch": ("master",),
    "from": ("master",),
    "to": ("topic",),
    "sha": ("master",),
    "color": ("#ff0000", "#00ff00"),
    "url": ("http://127.0.0.1:9/hook",),
    "link_url": ("http://example.org/link",),
    "image_url": ("http://example.org/image.svg",),
    "external_url": ("http://example.org/",),
    "due_date": ("2030-01-02",),
    "start_date": ("2029-01-02",),
    "expires_at": ("2030-01-02",),
    "file_path": ("README.md", "docs/a.txt"),
    "content": ("some text", base64.b64encode(b"text").decode()),
    "encoding": ("text",),
    "duration": ("1h 30m",),
    "password": ("a long password of the fuzzer",),
    "visibility": ("private", "internal", "public"),
    "slug": ("home",),
    "description": ("a text", "@root #1 !1"),
    "tag_name": ("v1", "v2"),
}

Ids = Callable[[str], int]
"""Returns the id of an existing object for the name of a parameter."""


class ValueGenerator:
    """Values of parameters; one in ``hostility`` is replaced by a value that no schema allows."""

    def __init__(self, chance: random.Random, schemas: dict[str, Any], ids: Ids, hostility: int = 25) -> None:
        self._chance = chance
        self._schemas = schemas
        self._ids = ids
        self._hostility = hostility

    def of(self, name: str, schema: dict[str, Any]) -> Any:
        """Return a value for the parameter ``name``."""
        if self._chance.randrange(self._hostility) == 0:
            return self._chance.choice(_HOSTILE)
        return self._valid(name, schema)

    def fields(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return an object with the required and some of the optional properties."""
        schema = self._resolved(schema)
        required = set(schema.get("required", ()))
        return {
            name: self.of(name, each)
            for name, each in schema.get("properties", {}).items()
            if name in required or self._chance.random() < 0.25
        }

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def _valid(self, name: str, schema: dict[str, Any]) -> Any:
        schema = self._resolved(schema)
        if "anyOf" in schema:
            options = [each for each in schema["anyOf"] if each.get("type") != "null"] or schema["anyOf"]
            return self._valid(name, self._chance.choice(options))
        if "enum" in schema:
            return self._chance.choice(schema["enum"])
        match schema.get("type"):
            case "integer":
                return self._ids(name)
            case "number":
                return self._chance.choice((0.5, 42, 99.9))
            case "boolean":
                return self._chance.random() < 0.5
            case "array":
                return [self._valid(name, schema.get("items", {})) for _ in range(self._chance.randrange(3))]
            case "object":
                return self.fields(schema)
        if name in _BY_NAME:
            return self._chance.choice(_BY_NAME[name])
        word = self._chance.choice(_WORDS)
        return f"{word}{self._chance.randrange(500)}" if self._chance.random() < 0.6 else word
