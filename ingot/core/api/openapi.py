"""OpenAPI document, generated from the declarations of the endpoints."""

import re
import types
import typing
from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UnsetType

from ingot.core.api.component import API_PREFIX
from ingot.core.api.params import Params, RawText, TextOrFile, Upload
from ingot.core.api.routes import ContentResponse, Endpoint, RawResponse, StreamedResponse
from ingot.core.db.times import Date, Timestamp

_NAME = re.compile(r":(\w+)")
_COMPONENT = "#/components/schemas/{name}"
_ERROR = {"$ref": "#/components/responses/Error"}
_PAGING: list[dict[str, Any]] = [
    {"name": "page", "in": "query", "schema": {"type": "integer", "default": 1, "minimum": 1}},
    {"name": "per_page", "in": "query", "schema": {"type": "integer", "default": 20, "maximum": 100}},
    {"name": "pagination", "in": "query", "schema": {"type": "string", "enum": ["keyset"]}},
]
_PAGE_HEADERS = {
    name: {"schema": {"type": "string"}}
    for name in ("Link", "X-Total", "X-Total-Pages", "X-Per-Page", "X-Page", "X-Next-Page", "X-Prev-Page")
}
_TEXT = {"text/plain": {"schema": {"type": "string"}}}
_EMPTY_TEXT = {"text/plain": {"schema": {"type": "string", "maxLength": 0}}}


def openapi_document(endpoints: Iterable[Endpoint], version: str) -> dict[str, Any]:
    """Return the whole document."""
    declared = list(endpoints)
    names = Counter(endpoint.handler.__name__ for endpoint in declared)
    uses = Counter((endpoint.tag, endpoint.method, endpoint.handler) for endpoint in declared)
    response_types = [kind for endpoint in declared for kind in (endpoint.returns, *endpoint.instead.values())]
    structs = {struct for kind in response_types for struct in _structs_in(kind)}
    _, components = msgspec.json.schema_components(structs, ref_template=_COMPONENT)
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in sorted(declared, key=lambda each: each.path):
        name = endpoint.handler.__name__
        identity = name if names[name] == 1 else f"{endpoint.tag}_{name}"
        if uses[endpoint.tag, endpoint.method, endpoint.handler] > 1:
            # One handler with several paths: the first path segment tells them apart.
            identity = f"{name}_of_{endpoint.path.split('/')[1]}"
        for word, path in described_paths(endpoint).items():
            operation = _operation(endpoint, f"{identity}_{word.replace('-', '_')}" if word else identity, word)
            paths.setdefault(path, {})[endpoint.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Ingot",
            "version": version,
            "description": "A git forge. Send a token as `PRIVATE-TOKEN` or as a bearer.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": API_PREFIX.decode()}],
        "security": [{"privateToken": []}, {"bearer": []}, {"session": []}],
        "paths": paths,
        "components": {
            "schemas": components | {"Error": _error_schema()},
            "responses": {
                "Error": {
                    "description": "The request failed; the message says why.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
                }
            },
            "securitySchemes": {
                "privateToken": {"type": "apiKey", "in": "header", "name": "PRIVATE-TOKEN"},
                "bearer": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": "_service_session"},
            },
        },
    }


def input_schema(endpoint: Endpoint) -> dict[str, Any]:
    """Return the schemas of the parameters: ``path`` by name, other ``properties``, and which of these are required."""
    schema = _params_schema(endpoint.params) if endpoint.params else {"properties": {}}
    paging = {each["name"]: each["schema"] for each in _PAGING} if endpoint.paged else {}
    return {
        "path": {name: _path_schema(name) for name in _NAME.findall(endpoint.path)},
        "properties": {**paging, **schema["properties"]},
        "required": schema.get("required", []),
    }


def described_paths(endpoint: Endpoint) -> dict[str, str]:
    """Return the path of an endpoint, and one path for each value of its last parameter."""
    whole = _NAME.sub(r"{\1}", endpoint.path)
    return {"": whole, **{word: f"{whole.rpartition('/')[0]}/{word}" for word in endpoint.kinds}}


def _error_schema() -> dict[str, Any]:
    texts = {"type": "array", "items": {"type": "string"}}
    nested = {"type": "object", "additionalProperties": {"anyOf": [texts, {"type": "object"}]}}
    return {
        "type": "object",
        "properties": {
            "message": {"anyOf": [{"type": "string"}, nested]},
            "error": {"type": "string"},
            "error_description": {"type": "string"},
            "scope": {"type": "string"},
            "error_code": {"type": "string"},
        },
        "anyOf": [{"required": ["message"]}, {"required": ["error"]}],
        "additionalProperties": False,
    }


def _operation(endpoint: Endpoint, identity: str, word: str) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _path_schema(name)}
        for name in (_NAME.findall(endpoint.path)[:-1] if word else _NAME.findall(endpoint.path))
    ]
    operation: dict[str, Any] = {
        "operationId": identity,
        "summary": endpoint.summary.split("\n")[0],
        "tags": [endpoint.tag],
        "parameters": parameters,
        "responses": _responses(endpoint),
    }
    if endpoint.open:
        operation["security"] = [{}, {"privateToken": []}, {"bearer": []}, {"session": []}]
    params = endpoint.kinds.get(word, endpoint.params) if endpoint.params else None
    schema = _params_schema(params) if params else None
    if schema is None:
        schema = {"type": "object", "properties": {}}
    elif endpoint.method in ("POST", "PUT", "PATCH"):
        kinds = ["multipart/form-data"] if _has_file(schema) else []
        kinds += ["application/json", "application/x-www-form-urlencoded"]
        required = bool(schema.get("required"))
        operation["requestBody"] = {"required": required, "content": {kind: {"schema": schema} for kind in kinds}}
    else:
        parameters += _query_parameters(schema)
    if endpoint.paged:
        names = {parameter["name"] for parameter in parameters}
        parameters += [parameter for parameter in _PAGING if parameter["name"] not in names]
    return operation


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    success: dict[str, Any] = {"description": "Success."}
    if endpoint.returns in (RawResponse, StreamedResponse, ContentResponse):
        success["content"] = _TEXT
    elif endpoint.method == "DELETE" and endpoint.returns is not None:
        deleted = _response_schema(_without(endpoint.returns, type(None)))
        success["description"] = "The deleted object, or an empty body if it did not exist."
        success["content"] = {"application/json": {"schema": deleted}, **_EMPTY_TEXT}
    elif endpoint.returns is not None:
        described = _response_schema(_without(endpoint.returns, ContentResponse))
        success["content"] = {"application/json": {"schema": described}}
        if ContentResponse in get_args(endpoint.returns):
            success["content"] |= {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    if endpoint.paged:
        success["headers"] = _PAGE_HEADERS
    responses = {str(endpoint.status): success, "4XX": _ERROR, "503": _ERROR}
    if endpoint.writes:
        responses["507"] = _ERROR
    for status, kind in endpoint.instead.items():
        content = {} if kind is None else {"content": {"application/json": {"schema": _alternate_schema(status, kind)}}}
        responses[str(status)] = {"description": "Alternate result.", **content}
    if endpoint.returns is ContentResponse:
        responses["206"] = {"description": "The requested range.", "content": _TEXT}
    if endpoint.method in ("GET", "POST", "DELETE"):
        responses["304"] = {"description": "Not modified."}
    return responses


def _alternate_schema(status: int, kind: Any) -> dict[str, Any]:
    """Return the schema of an alternate response; malformed parameters have the same status as one with 400."""
    schema = _response_schema(kind)
    return {"anyOf": [schema, {"$ref": "#/components/schemas/Error"}]} if status == 400 else schema


def _without(kind: Any, other: type) -> Any:
    parts = [part for part in get_args(kind) if part is not other]
    return Union[tuple(parts)] if get_origin(kind) in (Union, types.UnionType) else kind  # noqa: UP007 - Built from a list.


def _structs_in(kind: Any) -> list[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return [kind]
    return [struct for part in get_args(kind) for struct in _structs_in(part)]


def _response_schema(kind: Any) -> dict[str, Any]:
    """Return the schema of a response; unions of views become alternatives."""
    if get_origin(kind) in (Union, types.UnionType):
        return {"anyOf": [_response_schema(part) for part in get_args(kind)]}
    if get_origin(kind) is list:
        return {"type": "array", "items": _response_schema(get_args(kind)[0])}
    (schema,), _ = msgspec.json.schema_components([kind], ref_template=_COMPONENT)
    return schema


# These ids are not numbers.
_PARAMETER_NAMES = {"discussion_id"}


def _path_schema(name: str) -> dict[str, Any]:
    return {"type": "integer"} if name.endswith("_id") and name not in _PARAMETER_NAMES else {"type": "string"}


def _params_schema(struct: type[Params]) -> dict[str, Any]:
    hints = typing.get_type_hints(struct, include_extras=True)
    fields = msgspec.structs.fields(struct)
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {field.encode_name: _request_schema(hints[field.name]) for field in fields},
    }
    required = [field.encode_name for field in fields if field.required]
    return schema | ({"required": required} if required else {})


def _request_schema(kind: Any) -> dict[str, Any]:
    if get_origin(kind) in (Union, types.UnionType):
        parts = [part for part in get_args(kind) if part not in (UnsetType, type(None))]
        return _request_schema(parts[0])
    if get_origin(kind) is Annotated:
        return _request_schema(get_args(kind)[0])
    if get_origin(kind) is Literal:
        return {"enum": list(get_args(kind))}
    if get_origin(kind) is list:
        return {"type": "array", "items": _request_schema(get_args(kind)[0])}
    if get_origin(kind) is dict:
        return {"type": "object", "additionalProperties": _request_schema(get_args(kind)[1])}
    if isinstance(kind, type) and issubclass(kind, Params):
        return _params_schema(kind)
    if kind is Any:
        return {}
    return {
        str: {"type": "string"},
        RawText: {"type": "string"},
        TextOrFile: {"type": "string"},
        int: {"type": "integer"},
        float: {"type": "number"},
        bool: {"type": "boolean"},
        Timestamp: {"type": "string", "format": "date-time"},
        Date: {"type": "string", "format": "date"},
        Upload: {"type": "string", "format": "binary"},
    }[kind].copy()


def _has_file(schema: dict[str, Any]) -> bool:
    return any(field.get("format") == "binary" for field in schema["properties"].values())


def _query_parameters(schema: dict[str, Any]) -> list[dict[str, Any]]:
    required = schema.get("required", [])
    return [
        {
            "name": f"{name}[]" if property_schema.get("type") == "array" else name,
            "in": "query",
            "required": name in required,
            "schema": property_schema,
        }
        for name, property_schema in schema["properties"].items()
    ]
