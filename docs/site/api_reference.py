"""Pages of the API reference: one for each tag of the OpenAPI document, with its operations and their parameters."""

import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

_INTRODUCTION = """# REST API

All paths begin with `/api/v4`. A running server shows the same operations at `/api/v4/docs`, where you can try them,
and its OpenAPI document at `/api/v4/openapi.json`. [Permissions](../../access.md) lists the roles and scopes that each
needs.

```{toctree}
:maxdepth: 1

"""
_METHODS = ("get", "post", "put", "patch", "delete", "head")


class _Operation(NamedTuple):
    method: str
    path: str
    declaration: dict[str, Any]


def write_api_reference(document: dict[str, Any], folder: Path) -> None:
    """Write the pages anew."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    by_tag: dict[str, list[_Operation]] = defaultdict(list)
    for path, operations in document["paths"].items():
        for method in _METHODS:
            if method in operations:
                operation = operations[method]
                by_tag[operation["tags"][0].replace("_", " ")].append(_Operation(method.upper(), path, operation))
    names = {tag: tag.replace(" ", "-") for tag in sorted(by_tag)}
    for tag, name in names.items():
        text = f"# {tag.capitalize()}\n\n" + "\n".join(map(_section, by_tag[tag]))
        (folder / f"{name}.md").write_text(text)
    (folder / "index.md").write_text(_INTRODUCTION + "\n".join(names.values()) + "\n```\n")


def _section(operation: _Operation) -> str:
    """Return the section of an operation."""
    declaration = operation.declaration
    fields = [*_parameters(declaration), *_body_fields(declaration)]
    lines = [f"## `{operation.method} {operation.path}`", "", declaration["summary"], ""]
    if fields:
        lines += ["| Parameter | In | Type |", "|---|---|---|", *fields, ""]
    statuses = [status for status in declaration["responses"] if status.startswith("2")]
    if statuses:
        lines += [f"Status: {', '.join(statuses)}", ""]
    return "\n".join(lines)


def _parameters(declaration: dict[str, Any]) -> list[str]:
    return [
        _row(parameter["name"], parameter["in"], parameter["schema"], required=parameter.get("required", False))
        for parameter in declaration.get("parameters", ())
    ]


def _body_fields(declaration: dict[str, Any]) -> list[str]:
    content = declaration.get("requestBody", {}).get("content", {})
    schema: dict[str, Any] = next((media.get("schema", {}) for media in content.values()), {})
    required = schema.get("required", ())
    return [
        _row(name, "body", field, required=name in required) for name, field in schema.get("properties", {}).items()
    ]


def _row(name: str, place: str, schema: dict[str, Any], *, required: bool) -> str:
    return f"| `{name}`{' (required)' if required else ''} | {place} | {_type(schema)} |"


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema:
        return " or ".join(_type(option) for option in schema["anyOf"])
    if "$ref" in schema:
        return "object"
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return f"{kind} ({schema['format']})" if "format" in schema else str(kind)
