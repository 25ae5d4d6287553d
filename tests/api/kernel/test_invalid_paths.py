"""Every route that is declared_routes, with junk in its path: that is refused, and never a fault of ours."""

import re

import pytest

from tests.api.kernel.route_requests import NO_ROW, declared_routes, request_route
from tests.client import Api, Make, Person
from tests.factories import make_group, make_project

JUNK = [
    "0",
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
# As much as any call needs, so that junk in a path gets past the parameters.
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
}


@pytest.mark.parametrize("route", [route for route in declared_routes() if ":" in route])
def test_junk_in_a_path_is_never_a_fault(api: Api, make: Make, route: str) -> None:
    """D46: numbers that no row has, NUL, broken UTF-8, ways out of a folder."""
    _try_junk(api, make.root, route)


@pytest.fixture(scope="module")
def there(make: Make) -> dict[str, int]:
    """One of each that others lie in, by what their paths begin with."""
    return {"users": make.user().id, "projects": make_project(make).id, "groups": make_group(make).id}


@pytest.mark.parametrize("route", [route for route in declared_routes() if route.count(":") > 1])
def test_junk_behind_one_that_is_there_is_never_a_fault(
    api: Api, make: Make, there: dict[str, int], route: str
) -> None:
    container = there.get(route.split("/")[1], NO_ROW)
    _try_junk(api, make.root, re.sub(r":\w+", str(container), route, count=1))


def _try_junk(api: Api, caller: Person, route: str) -> None:
    """Parameters are read before paths: the first of the junk tells with which of them the path is looked at."""
    looked_at = None
    for value in JUNK:
        for parameters in ({}, {"json": BODY}) if looked_at is None else (looked_at,):
            answer = request_route(api, route, caller, value, **parameters)
            assert answer.status_code < 300 or answer.status_code in (400, 404), (value, answer.text)
            if looked_at is None and answer.status_code != 400:
                looked_at = parameters
