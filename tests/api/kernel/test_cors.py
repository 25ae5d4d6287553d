"""CORS: other sites may call with a token, never with the visitor's cookie."""

import pytest

from tests.client import Api, Make

EVIL = {"Origin": "https://elsewhere.example"}


def test_preflight_requires_no_credentials(api: Api) -> None:
    asked = {**EVIL, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "PRIVATE-TOKEN"}

    answer = api.request("OPTIONS", "/user/status", headers=asked)

    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert {"PUT", "DELETE", "PATCH"} <= set(answer.headers["access-control-allow-methods"].split(", "))
    allowed = {name.lower() for name in answer.headers["access-control-allow-headers"].split(", ")}
    assert {"private-token", "authorization", "content-type", "sudo"} <= allowed
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(("path", "status"), [("/users", 200), ("/nothing", 404), ("/users/0", 404)])
def test_scripts_may_read_responses_and_pagination_headers(api: Api, make: Make, path: str, status: int) -> None:
    answer = api.request("GET", path, make.root, headers=EVIL)

    assert answer.status_code == status
    assert answer.headers["access-control-allow-origin"] == "*"
    exposed = {name.lower() for name in answer.headers["access-control-expose-headers"].split(", ")}
    assert {"link", "x-total", "x-next-page", "etag", "ratelimit-remaining", "retry-after"} <= exposed
    assert "access-control-allow-credentials" not in answer.headers


def test_no_cors_headers_without_an_origin(api: Api, make: Make) -> None:
    answer = api.get("/users", make.root)

    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_responses_forbid_content_sniffing(api: Api, make: Make) -> None:
    for path in ("/users", "/nothing", "/templates/licenses"):
        assert api.get(path, make.root).headers["x-content-type-options"] == "nosniff"
