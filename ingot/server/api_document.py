"""The OpenAPI document of all endpoints, and the endpoint that returns it."""

from functools import cache
from threading import Lock
from typing import Any

import msgspec

from ingot.core.access.rules import anyone
from ingot.core.api.openapi import openapi_document
from ingot.core.api.routes import Call, RawResponse, Routes
from ingot.core.offload import require_blocking_allowed
from ingot.core.version import product_version
from ingot.server.registry import all_endpoints

routes = Routes("documents")


@routes.get("/openapi.json", may=anyone, returns=RawResponse)
def get_openapi_document(call: Call) -> RawResponse:  # noqa: ARG001 - Every handler gets its call.
    """Get the OpenAPI document of this API."""
    return RawResponse(_document_json(), "application/json")


_BUILDING = Lock()
"""Held while the document is built, so that concurrent first calls wait for one result."""


def _document_json() -> bytes:
    if _encoded_document.cache_info().currsize == 0:
        require_blocking_allowed()  # The first call takes seconds.
    with _BUILDING:
        return _encoded_document()


@cache
def _encoded_document() -> bytes:
    return msgspec.json.encode(api_document())


@cache
def api_document() -> dict[str, Any]:
    """Return the OpenAPI document of all endpoints."""
    return openapi_document(all_endpoints(), product_version())


def operation_count() -> int:
    """Return the number of operations in the OpenAPI document."""
    return sum(map(len, api_document()["paths"].values()))
