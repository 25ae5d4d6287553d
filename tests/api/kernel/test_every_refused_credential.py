"""Every declared route, called with credentials that open no route: deploy tokens, and tokens of blocked users."""

from functools import partial

import pytest

from ingot.accounts.users.tables import users
from ingot.core.db.connection import Connection
from tests.api.kernel.route_requests import declared_routes, request_route, runner_routes
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.oauth_client import by_password

PASSWORD = "correct horse battery"
DEPLOY_SCOPES = [
    *("read_repository", "read_registry", "write_registry"),
    *("read_package_registry", "write_package_registry"),
]


def _set_state(db: Connection, user_id: int, state: str) -> None:
    db.update(users, user_id, state=state)


@pytest.fixture(scope="module")
def refused(instance: Instance, api: Api, make: Make) -> dict[str, dict[str, str]]:
    """Return headers with a credential each: valid deploy tokens with all scopes, and tokens of blocked users."""
    owner = make.user()
    group = make_group(make, owner)
    project = make_project(make, owner, group=group)
    headers: dict[str, dict[str, str]] = {}
    made = api.post(f"{group.url}/deploy_tokens", owner, name="x", scopes=DEPLOY_SCOPES).json()
    headers["token of a group"] = {"PRIVATE-TOKEN": made["token"]}
    headers["token of a group as bearer"] = {"Authorization": f"Bearer {made['token']}"}
    made = api.post(f"{project.url}/deploy_tokens", owner, name="x", scopes=DEPLOY_SCOPES).json()
    headers["token of a project"] = {"PRIVATE-TOKEN": made["token"]}
    for state in ("blocked", "banned", "deactivated"):
        user = make.user(admin=True, password=PASSWORD)
        tokens = {
            "personal": user.token,
            "impersonation": api.post(
                f"/users/{user.id}/impersonation_tokens", make.root, name="x", scopes=["api"]
            ).json()["token"],
            "private": api.post("/session", login=user.username, password=PASSWORD).json()["private_token"],
            "oauth": by_password(instance.url, user).json()["access_token"],
        }
        instance.app.database.write(partial(_set_state, user_id=user.id, state=state))
        # Every state and every kind once; all pairs would only repeat the same check.
        kinds = {"blocked": ["personal", "oauth"], "banned": ["impersonation"], "deactivated": ["private"]}[state]
        headers |= {f"{kind} token of a {state} user": {"PRIVATE-TOKEN": tokens[kind]} for kind in kinds}
    return headers


@pytest.mark.parametrize("route", declared_routes())
def test_no_route_accepts_it(api: Api, refused: dict[str, dict[str, str]], route: str) -> None:
    """Refused credentials do not reach the routes that are open to anonymous callers either."""
    as_anonymous = request_route(api, route, None) if route in runner_routes() else None
    for name, headers in refused.items():
        answer = request_route(api, route, None, headers=headers)
        if as_anonymous is not None:
            assert (answer.status_code, answer.content) == (as_anonymous.status_code, as_anonymous.content), name
            continue
        assert (answer.status_code, answer.json()) == (401, {"message": "401 Unauthorized"}), name
