"""Permissions of every declared route, for tokens of a single scope."""

import pytest

from ingot.core.access.scopes import SCOPES
from tests.api.kernel.route_access import TABLE
from tests.api.kernel.route_requests import declared_routes, request_route
from tests.api.kernel.test_every_route import SELF_PREFIX
from tests.client import Api, Make, User


@pytest.fixture(scope="module")
def scoped_tokens(make: Make) -> dict[str, User]:
    """Return an administrator with one token of each single scope."""
    return {scope: make.root.with_token(make.token(make.root.id, scope)) for scope in SCOPES}


@pytest.mark.parametrize("route", declared_routes())
def test_a_token_reaches_exactly_the_routes_of_its_scope(
    api: Api, make: Make, scoped_tokens: dict[str, User], route: str
) -> None:
    """Attack: use an administrator's token of one scope for other routes."""
    _, scopes = TABLE[route]

    for scope in SCOPES:
        fresh = SELF_PREFIX in route
        answer = request_route(
            api, route, make.root.with_token(make.token(make.root.id, scope)) if fresh else scoped_tokens[scope]
        )
        if scope in scopes:
            assert answer.status_code not in (401, 403), (scope, answer.text)
        else:
            assert answer.status_code == 403, (scope, answer.text)
            assert answer.json()["error"] == "insufficient_scope"
