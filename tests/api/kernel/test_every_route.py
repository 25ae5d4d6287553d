"""Every route that is declared, asked by everybody: what the table below does not allow is refused.

A route that is not in the table fails, so that nobody adds one without saying who reaches it, and by which scope.
"""

import re
from typing import Any

import httpx
import pytest

from ingot.access.scopes import SCOPES
from ingot.rooms import all_endpoints
from tests.api.kernel.reaching import ADMIN, ANYONE
from tests.api.kernel.who_reaches import TABLE
from tests.client import Api, Make, Person
from tests.making import make_group, make_project

# Calls that speak of the token by which they come use it up.
USED_UP = "/personal_access_tokens/self"
# A number that no row has, so that calls which are allowed change nothing.
NO_ROW = "999999999"
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
    "a" * 5000,
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


def _declared() -> list[str]:
    return sorted(f"{endpoint.method} {endpoint.path}" for endpoint in all_endpoints())


def _ask(api: Api, route: str, caller: Person | None, value: str = NO_ROW, **options: Any) -> httpx.Response:
    method, path = route.split(" ")
    answer = api.request(method, re.sub(r":\w+", value, path), caller, **options)
    assert answer.status_code < 500, f"{route} {value}: {answer.text}"
    return answer


def test_the_table_speaks_of_every_route_and_of_nothing_else() -> None:
    assert sorted(TABLE) == _declared()


@pytest.fixture(scope="module")
def stranger(make: Make) -> Person:
    """Somebody who has nothing to do with anything."""
    return make.user()


@pytest.mark.parametrize("route", _declared())
def test_nobody_gets_further_than_the_table_says(api: Api, make: Make, stranger: Person, route: str) -> None:
    """D30, D40: anonymous callers, strangers and administrators at every door."""
    who, _ = TABLE[route]
    if USED_UP in route:
        stranger = make.user()
    administrator = make.root.with_token(make.token(make.root.id)) if USED_UP in route else make.root

    anonymous = _ask(api, route, None)
    assert (anonymous.status_code == 401) is (who != ANYONE), anonymous.text
    asked = _ask(api, route, stranger)
    assert (asked.status_code == 403) is (who == ADMIN), asked.text
    assert asked.status_code != 401
    if who == ADMIN:
        assert asked.json() == {"message": "403 Forbidden"}
    assert _ask(api, route, administrator).status_code not in (401, 403)


@pytest.fixture(scope="module")
def narrow(make: Make) -> dict[str, Person]:
    """An administrator with a token of each scope alone."""
    return {scope: make.root.with_token(make.token(make.root.id, scope)) for scope in SCOPES}


@pytest.mark.parametrize("route", _declared())
def test_a_token_of_one_scope_gets_no_further_than_that_scope(
    api: Api, make: Make, narrow: dict[str, Person], route: str
) -> None:
    """D30: an administrator's token that is made for one thing opens nothing else, by default nothing at all."""
    _, scopes = TABLE[route]

    for scope in SCOPES:
        fresh = USED_UP in route
        answer = _ask(api, route, make.root.with_token(make.token(make.root.id, scope)) if fresh else narrow[scope])
        if scope in scopes:
            assert answer.status_code not in (401, 403), (scope, answer.text)
        else:
            assert answer.status_code == 403, (scope, answer.text)
            assert answer.json()["error"] == "insufficient_scope"


@pytest.mark.parametrize("route", [route for route in _declared() if ":" in route])
def test_junk_in_a_path_is_never_a_fault(api: Api, make: Make, route: str) -> None:
    """D46: numbers that no row has, NUL, broken UTF-8, ways out of a folder."""
    _try_junk(api, make.root, route)


@pytest.fixture(scope="module")
def there(make: Make) -> dict[str, int]:
    """One of each that others lie in, by what their paths begin with."""
    return {"users": make.user().id, "projects": make_project(make).id, "groups": make_group(make).id}


@pytest.mark.parametrize("route", [route for route in _declared() if route.count(":") > 1])
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
            answer = _ask(api, route, caller, value, **parameters)
            assert answer.status_code < 300 or answer.status_code in (400, 404), (value, answer.text)
            if looked_at is None and answer.status_code != 400:
                looked_at = parameters
