"""OpenAPI document: valid and complete; the suite compares all responses with it."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from ingot.core.api.openapi import described_paths
from ingot.server import api_document
from ingot.server.registry import all_endpoints
from tests.client import Api
from tests.conftest import Instance


def _document(api: Api) -> dict[str, Any]:
    answer = api.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    document: dict[str, Any] = answer.json()
    return document


def test_the_document_is_valid(api: Api) -> None:
    document = _document(api)

    assert document["openapi"].startswith("3.1")
    assert [str(error) for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_concurrent_first_calls_build_the_document_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls get it, with an ETag by which a client asks whether its copy is current."""
    built, build = [], api_document.api_document

    def count() -> dict[str, Any]:
        built.append(1)
        return build()

    monkeypatch.setattr(api_document, "api_document", count)
    api_document._encoded_document.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: httpx.get(f"{api.url}/api/v4/openapi.json"), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(built) == 1
    (tag,) = {answer.headers["etag"] for answer in answers}
    current = httpx.get(f"{api.url}/api/v4/openapi.json", headers={"If-None-Match": tag})
    assert (current.status_code, current.content) == (304, b"")


def test_the_document_lists_exactly_the_endpoints(api: Api) -> None:
    described = {
        (method.upper(), path) for path, operations in _document(api)["paths"].items() for method in operations
    }
    declared = {(each.method, path) for each in all_endpoints() for path in described_paths(each).values()}

    assert described == declared


def test_every_operation_has_a_summary_and_a_unique_id(api: Api) -> None:
    operations = [each for operations in _document(api)["paths"].values() for each in operations.values()]

    assert [each["operationId"] for each in operations if not each["summary"].endswith(".")] == []
    names = [each["operationId"] for each in operations]
    assert len(names) == len(set(names))


def test_parameters_are_those_of_the_endpoint(api: Api) -> None:
    paths = _document(api)["paths"]
    listed = {each["name"] for each in paths["/users"]["get"]["parameters"]}
    created = paths["/users"]["post"]["requestBody"]["content"]

    assert {"search", "username", "active", "created_after", "page", "per_page"} <= listed
    assert set(created) == {"multipart/form-data", "application/json", "application/x-www-form-urlencoded"}
    assert created["application/json"]["schema"]["required"] == ["email", "username", "name"]
    assert paths["/users/{id}/keys/{key_id}"]["get"]["parameters"][0]["in"] == "path"


def test_public_operations_are_marked(api: Api) -> None:
    described = _document(api)
    for endpoint in all_endpoints():
        operation = described["paths"][re.sub(r":(\w+)", r"{\1}", endpoint.path)][endpoint.method.lower()]
        assert ({} in operation.get("security", described["security"])) is endpoint.open, endpoint.path


def test_the_documentation_page_loads_nothing_from_other_hosts(instance: Instance) -> None:
    page = httpx.get(f"{instance.url}/api/v4/docs")

    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert not re.search(r"(?:src|href)=\"(?:https?:)?//", page.text)
    assert page.text.count("<main") == page.text.count("<h1") == 1, "The page has one main landmark and one heading."
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for path in re.findall(r"(?:src|href)=\"(/assets/[^\"]+)\"", page.text):
        assert httpx.get(instance.url + path).status_code == 200, path
