"""Every route that is declared_routes, asked by everybody: what the table below does not allow is refused.

A route that is not in the table fails, so that nobody adds one without saying who reaches it, and by which scope.
"""

import pytest

from tests.api.kernel.access_kinds import ADMIN, ANYONE
from tests.api.kernel.route_access import TABLE
from tests.api.kernel.route_requests import declared_routes, request_route
from tests.client import Api, Make, Person

# Calls that speak of the token by which they come use it up.
USED_UP = "/personal_access_tokens/self"


def test_the_table_speaks_of_every_route_and_of_nothing_else() -> None:
    assert sorted(TABLE) == declared_routes()


@pytest.fixture(scope="module")
def stranger(make: Make) -> Person:
    """Somebody who has nothing to do with anything."""
    return make.user()


@pytest.mark.parametrize("route", declared_routes())
def test_nobody_gets_further_than_the_table_says(api: Api, make: Make, stranger: Person, route: str) -> None:
    """D30, D40: anonymous callers, strangers and administrators at every door."""
    who, _ = TABLE[route]
    if USED_UP in route:
        stranger = make.user()
    administrator = make.root.with_token(make.token(make.root.id)) if USED_UP in route else make.root

    anonymous = request_route(api, route, None)
    assert (anonymous.status_code == 401) is (who != ANYONE), anonymous.text
    asked = request_route(api, route, stranger)
    assert (asked.status_code == 403) is (who == ADMIN), asked.text
    assert asked.status_code != 401
    if who == ADMIN:
        assert asked.json() == {"message": "403 Forbidden"}
    assert request_route(api, route, administrator).status_code not in (401, 403)
