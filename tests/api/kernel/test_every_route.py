"""Permissions of every declared route, for each kind of caller.

A route that is missing in the table fails the test, so that every new route declares its callers and scopes.
"""

import pytest

from tests.api.kernel.access_kinds import ADMIN, ANYONE
from tests.api.kernel.route_access import TABLE
from tests.api.kernel.route_requests import declared_routes, request_route
from tests.client import Api, Make, User

# Endpoints about the current token invalidate it.
SELF_PREFIX = "/personal_access_tokens/self"


def test_the_table_lists_exactly_the_declared_routes() -> None:
    assert sorted(TABLE) == declared_routes()


@pytest.fixture(scope="module")
def other_user(make: Make) -> User:
    """Return a user without any membership."""
    return make.user()


@pytest.mark.parametrize("route", declared_routes())
def test_callers_reach_exactly_the_routes_in_the_table(api: Api, make: Make, other_user: User, route: str) -> None:
    """Attack: anonymous callers, other users and administrators call every route."""
    who, _ = TABLE[route]
    if SELF_PREFIX in route:
        other_user = make.user()
    administrator = make.root.with_token(make.token(make.root.id)) if SELF_PREFIX in route else make.root

    anonymous = request_route(api, route, None)
    assert (anonymous.status_code == 401) is (who != ANYONE), anonymous.text
    asked = request_route(api, route, other_user)
    assert (asked.status_code == 403) is (who == ADMIN), asked.text
    assert asked.status_code != 401
    if who == ADMIN:
        assert asked.json() == {"message": "403 Forbidden"}
    assert request_route(api, route, administrator).status_code not in (401, 403)
