"""Invalid path parameters on every declared route: rejected, and never a 5xx."""

import re

import pytest

from tests.api.kernel.route_requests import NO_ROW, declared_routes, request_route
from tests.client import Api, Make, User
from tests.factories import make_group, make_project

INVALID_VALUES = [
    "0",
    "2147483648",
    "9223372036854775807",
    "9223372036854775808",
    "999999999999999999999",
    "a%00b",
    "%ff",
    "..%2f..",
    "%2e%2e",
    "-1",
    "1.5",
    "%F0%9F%A6%8A",
    "a" * 3000,
    "%25",
]
# All parameters that any endpoint requires, so that the path is checked.
BODY = {
    "title": "x",
    "key": "x",
    "email": "x",
    "name": "x",
    "username": "-",
    "scopes": ["api"],
    "value": "x",
    "message": "x",
    "login": "x",
    "password": "x",
    "token": "x",
    "ref": "x",
}


@pytest.mark.parametrize("route", [route for route in declared_routes() if ":" in route])
def test_invalid_path_parameters_cause_no_server_error(api: Api, make: Make, route: str) -> None:
    """Attack: ids without a row, NUL, invalid UTF-8, path traversal."""
    _try_invalid_values(api, make.root, route)


@pytest.fixture(scope="module")
def parents(make: Make) -> dict[str, int]:
    """Return one object of each kind that contains others, by path prefix."""
    project = make_project(make, merge_pipelines_enabled=True, merge_trains_enabled=True)
    return {"users": make.user().id, "projects": project.id, "groups": make_group(make).id}


@pytest.mark.parametrize("route", [route for route in declared_routes() if route.count(":") > 1])
def test_invalid_parameters_below_an_existing_parent_cause_no_server_error(
    api: Api, make: Make, parents: dict[str, int], route: str
) -> None:
    container = parents.get(route.split("/")[1], NO_ROW)
    _try_invalid_values(api, make.root, re.sub(r":\w+", str(container), route, count=1))


def _try_invalid_values(api: Api, caller: User, route: str) -> None:
    """Request a path with invalid values; the first one finds the parameters that are required before the path."""
    looked_at = None
    for value in INVALID_VALUES:
        for parameters in ({}, {"json": BODY}) if looked_at is None else (looked_at,):
            answer = request_route(api, route, caller, value, **parameters)
            assert answer.status_code < 300 or answer.status_code in (400, 404), (value, answer.text)
            if looked_at is None and answer.status_code != 400:
                looked_at = parameters
