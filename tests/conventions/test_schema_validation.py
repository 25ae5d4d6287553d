"""Tests of the fast schema check of responses against the jsonschema library."""

from typing import Any

import jsonschema
import pytest

from ingot.api_document import api_document
from tests.schema_validation import SchemaValidator

VALUES: list[Any] = [None, True, 0, 1, 1.5, 2.0, "", "private", [], ["private"], [1], [None], {}, {"id": 1}, {"a": "b"}]
SCHEMAS: list[dict[str, Any]] = [
    {},
    {"type": "integer"},
    {"type": "number"},
    {"type": "boolean", "default": False},
    {"anyOf": [{"type": "string"}, {"type": "null"}]},
    {"enum": ["private", "public"]},
    {"enum": [1, None]},
    {"type": ["string", "null"]},
    {"type": "array", "items": {"type": "string"}},
    {"items": {"anyOf": [{"type": "integer"}, {"enum": ["private"]}]}},
    {"type": "object", "additionalProperties": {"type": "string"}},
    {"properties": {"id": {"type": "integer"}}, "additionalProperties": {"type": "null"}},
    {"additionalProperties": False},
    {"required": ["id"]},
    {"properties": {"id": {"type": "string"}}, "type": "object"},
    {"type": "integer", "minimum": 1},
]


def _samples(schema: dict[str, Any], schemas: dict[str, Any], depth: int = 0) -> Any:
    """Return a value that conforms to a schema."""
    if "$ref" in schema:
        return _samples(schemas[schema["$ref"].rpartition("/")[2]], schemas, depth + 1)
    if "anyOf" in schema and "type" not in schema:
        return _samples(schema["anyOf"][-1 if depth > 4 else 0], schemas, depth)
    if "enum" in schema:
        return schema["enum"][0]
    plain = {"string": "x", "integer": 1, "number": 1.5, "boolean": True, "null": None}
    if schema.get("type") == "array":
        return [_samples(schema["items"], schemas, depth + 1)] if "items" in schema and depth < 5 else []
    if schema.get("type") == "object":
        return {name: _samples(each, schemas, depth + 1) for name, each in schema.get("properties", {}).items()}
    return plain.get(schema.get("type", ""))


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_accepted_values_conform(schema: dict[str, Any]) -> None:
    accepts, library = SchemaValidator({}).check_of(schema), jsonschema.Draft202012Validator(schema)
    for value in VALUES:
        assert library.is_valid(value) or not accepts(value), value


def test_every_view_is_supported_and_invalid_values_are_rejected() -> None:
    """Valid values pass without the library; a missing field or one of another type is rejected."""
    document = api_document()
    schemas = document["components"]["schemas"]
    conforming = SchemaValidator(schemas)
    for name, schema in schemas.items():
        whole = {**schema, "components": document["components"]}
        library, accepts = jsonschema.Draft202012Validator(whole), conforming.check_of(schema)
        sample = _samples(schema, schemas)
        assert library.is_valid(sample) and accepts(sample), name
        for field in schema.get("properties", {}) if isinstance(sample, dict) else ():
            without = {other: value for other, value in sample.items() if other != field}
            for changed in (without, {**sample, field: object()}, {**sample, field: None}, {**sample, field: [1]}):
                assert accepts(changed) == library.is_valid(changed), (name, field, changed)
