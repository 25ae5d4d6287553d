"""Valid bodies of writing operations, generated from the OpenAPI document."""

from collections.abc import Callable
from itertools import count
from typing import Any

from ingot.server.api_document import api_document

Ids = Callable[[str], int]
"""Returns the id of an existing object for the name of a parameter."""

_NUMBERS = count(1)
_BY_NAME: dict[str, Any] = {
    "ref": "master",
    "branch": "topic",
    "branch_name": "topic",
    "target_branch": "master",
    "color": "#ff0000",
    "access_level": 30,
    "group_access": 30,
    "approvals_required": 1,
    "scopes": ["read_repository"],
    "redirect_uri": "http://example.org/callback",
    "link_url": "http://example.org/link",
    "image_url": "http://example.org/image.svg",
    "content": "a: {script: [x]}",
    "encoding": "text",
    "duration": "1h",
    "cron": "0 1 * * *",
    "visibility": "public",
    "password": "a long password of a user",
    "recipients": "a@example.org",
    "position": 0,
    "priority": "0",
    "state": "success",
    "status": "success",
    "tag": False,
    "user_xids": "a,b",
    "namespace": "kube",
    "runner_type": "instance_type",
    "version": "1.0.0",
}


def new_name(stem: str) -> str:
    """Return an unused name."""
    return f"{stem}{next(_NUMBERS)}"


class BodyGenerator:
    """Bodies with the required fields of an operation."""

    def __init__(self, ids: Ids) -> None:
        document = api_document()
        self._paths, self._schemas = document["paths"], document["components"]["schemas"]
        self._ids = ids

    def required_query(self, method: str, template: str) -> dict[str, Any]:
        """Return the required parameters of the query."""
        parameters = self._paths[template][method.lower()].get("parameters", ())
        return {
            each["name"]: self._value(each["name"], each.get("schema", {}))
            for each in parameters
            if each["in"] == "query" and each.get("required")
        }

    def required_body(self, method: str, template: str) -> dict[str, Any] | None:
        """Return the required fields of the body; None if the operation has none."""
        content = self._paths[template][method.lower()].get("requestBody", {}).get("content", {})
        return self._fields(content["application/json"]["schema"]) if "application/json" in content else None

    def _fields(self, schema: dict[str, Any]) -> dict[str, Any]:
        schema = self._resolved(schema)
        properties = schema.get("properties", {})
        return {name: self._value(name, properties[name]) for name in schema.get("required", ())}

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].rsplit("/", 1)[1]]
        return schema

    def _value(self, name: str, schema: dict[str, Any]) -> Any:
        schema = self._resolved(schema)
        if "anyOf" in schema:
            return self._value(name, next(each for each in schema["anyOf"] if each.get("type") != "null"))
        if "enum" in schema:
            chosen = _BY_NAME.get(name)
            return chosen if chosen in schema["enum"] else schema["enum"][0]
        kind = schema.get("type")
        if name in _BY_NAME and kind != "object":
            return _BY_NAME[name]
        match kind:
            case "integer":
                return self._ids(name)
            case "number":
                return 1
            case "boolean":
                return True
            case "array":
                return [self._value(name, schema.get("items", {}))]
            case "object":
                return self._fields(schema)
        return _text(name)


def _text(name: str) -> str:
    if name == "key":
        return new_name("KEY")
    if name == "email":
        return f"{new_name('address')}@example.org"
    if name == "url" or name.endswith("_url") or name == "webhook":
        return f"http://example.org/{new_name('hook')}"
    return new_name(name.replace("_", "-"))
