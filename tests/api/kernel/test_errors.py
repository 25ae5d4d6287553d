"""Error responses: order of checks and bodies."""

import httpx
import pytest

from tests.client import Api, Make
from tests.conftest import Instance

NO_ROUTE = {"error": "404 Not Found"}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
@pytest.mark.parametrize("path", ["/nothing", "/users.json", "/", "/users/1/nothing", "/user/status/x"])
def test_an_unknown_route_is_reported_before_authentication(
    instance: Instance, make: Make, method: str, path: str
) -> None:
    for headers in ({}, {"PRIVATE-TOKEN": "nonsense"}, {"PRIVATE-TOKEN": make.root.token}):
        answer = httpx.request(method, f"{instance.url}/api/v4{path}", headers=headers)
        assert (answer.status_code, answer.json()) == (404, NO_ROUTE)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/users", {"GET", "HEAD", "POST"}),
        ("OPTIONS", "/users", {"GET", "HEAD", "POST"}),
        ("DELETE", "/user", {"GET", "HEAD"}),
        ("GET", "/users/1/block", {"POST"}),
        ("HEAD", "/users/1/block", {"POST"}),
        ("POST", "/users/1", {"GET", "HEAD", "PUT", "DELETE"}),
        ("TRACE", "/user", {"GET", "HEAD"}),
    ],
)
def test_a_wrong_method_lists_the_allowed_ones(instance: Instance, method: str, path: str, allowed: set[str]) -> None:
    answer = httpx.request(method, f"{instance.url}/api/v4{path}")

    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == allowed


@pytest.mark.parametrize("path", ["/user", "/users", "/templates/licenses/mit"])
def test_head_is_get_without_the_body(api: Api, make: Make, path: str) -> None:
    got, head = api.get(path, make.root), api.request("HEAD", path, make.root)

    assert (head.status_code, head.content) == (200, b"")
    volatile = {"date", "x-request-id"}
    assert {name: value for name, value in head.headers.items() if name not in volatile} == {
        name: value for name, value in got.headers.items() if name not in volatile
    }


@pytest.mark.parametrize("path", ["/user/", "//user", "/user//"])
def test_repeated_slashes_are_ignored(instance: Instance, make: Make, path: str) -> None:
    answer = httpx.get(f"{instance.url}/api/v4{path}", headers={"PRIVATE-TOKEN": make.root.token})

    assert answer.json()["id"] == make.root.id


def test_an_extension_is_part_of_the_name(api: Api, make: Make) -> None:
    assert api.get(f"/users/{make.root.id}", make.root).status_code == 200
    assert api.get(f"/users/{make.root.id}.json", make.root).json() == {"message": "404 User Not Found"}


# Each row has all the errors of the rows below, and one more.
ORDER = [
    ("PATCH", "/users/999999999/keys", "nonsense", 405),
    ("POST", "/users/999999999/keys", "nonsense", 401),
    ("POST", "/users/999999999/keys", None, 401),
    ("POST", "/users/999999999/keys", "user", 403),
    ("POST", "/users/999999999/keys", "root", 400),
    ("POST", "/users/999999999/keys?title=x&key=y", "root", 404),
    ("POST", "/users/1/keys?title=x&key=y", "root", 400),
]


@pytest.mark.parametrize(("method", "path", "who", "status"), ORDER)
def test_order_of_errors(instance: Instance, make: Make, method: str, path: str, who: str | None, status: int) -> None:
    token = {"user": make.user().token, "root": make.root.token, None: None}.get(who, who)
    headers = {"PRIVATE-TOKEN": token} if token else {}

    answer = httpx.request(method, f"{instance.url}/api/v4{path}", headers=headers)

    assert answer.status_code == status, answer.text


BODIES = [
    ("GET", "/user", None, 401, {"message": "401 Unauthorized"}),
    ("GET", "/application/settings", "user", 403, {"message": "403 Forbidden"}),
    ("GET", "/users/999999999", "user", 404, {"message": "404 User Not Found"}),
    ("GET", "/users/no-number", "user", 404, {"message": "404 User Not Found"}),
    ("PATCH", "/users", "user", 405, {"message": "405 Method Not Allowed"}),
    ("PUT", "/users/1/custom_attributes/x", "root", 400, {"message": '400 (Bad request) "value" not given'}),
    ("GET", "/users?page=x", "user", 400, {"message": {"page": ["is invalid"]}}),
]


@pytest.mark.parametrize(("method", "path", "who", "status", "body"), BODIES)
def test_bodies_of_errors(
    instance: Instance, make: Make, method: str, path: str, who: str | None, status: int, body: object
) -> None:
    token = {"user": make.user().token, "root": make.root.token, None: ""}[who]
    answer = httpx.request(method, f"{instance.url}/api/v4{path}", headers={"PRIVATE-TOKEN": token})

    assert (answer.status_code, answer.json()) == (status, body)
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("sent", "kept"), [("my-own.id_1", True), ("a" * 128, True), ("a" * 129, False), ("a b", False)]
)
def test_every_response_has_a_request_id(api: Api, make: Make, sent: str, kept: bool) -> None:
    for path, status in (("/user", 200), ("/nothing", 404)):
        answer = api.request("GET", path, make.root, headers={"X-Request-Id": sent})
        assert answer.status_code == status
        assert (answer.headers["x-request-id"] == sent) is kept
        assert answer.headers["x-request-id"]


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("forge.example", 200),
        ("forge.example:8443", 200),
        ("[::1]:80", 200),
        ("evil/../x", 400),
        ("a@b", 400),
        ('a"b', 400),
    ],
)
def test_an_invalid_host_is_rejected(api: Api, make: Make, host: str, status: int) -> None:
    answer = api.request("GET", "/version", make.root, headers={"Host": host})

    assert answer.status_code == status
