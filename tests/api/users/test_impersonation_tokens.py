"""Impersonation tokens: hidden from the impersonated user."""

from typing import Any

import pytest

from tests.client import Api, Make, User


def _created(api: Api, make: Make, user: User, **more: Any) -> dict[str, Any]:
    sent = {"name": "Acting", "scopes": ["api"], **more}
    answer = api.post(f"/users/{user.id}/impersonation_tokens", make.root, **sent)
    assert answer.status_code == 201, answer.text
    token: dict[str, Any] = answer.json()
    return token


def test_a_token_is_created_used_listed_and_revoked(api: Api, make: Make) -> None:
    user = make.user()
    path = f"/users/{user.id}/impersonation_tokens"

    made = _created(api, make, user, scopes=["api", "read_user"], expires_at="9999-12-31")

    secret = made.pop("token")
    expected = {"name": "Acting", "scopes": ["api", "read_user"], "active": True, "revoked": False}
    expected |= {"impersonation": True, "expires_at": "9999-12-31"}
    assert {**made, **expected} == made
    assert api.get("/user", user.with_token(secret)).json()["id"] == user.id
    (listed,) = api.get(path, make.root).json()
    read = api.get(f"{path}/{made['id']}", make.root).json()
    for shown in (listed, read):
        assert {**shown, "last_used_at": None} == {**made, "last_used_at": None}

    for _ in range(2):
        assert api.delete(f"{path}/{made['id']}", make.root).status_code == 200
    assert api.get("/user", user.with_token(secret)).status_code == 401
    after = api.get(f"{path}/{made['id']}", make.root).json()
    assert (after["revoked"], after["active"]) == (True, False)


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("stranger", 403), ("self", 403), ("acting", 403)])
def test_only_administrators_reach_impersonation_tokens(api: Api, make: Make, who: str, status: int) -> None:
    """Attack: the impersonated user, or the token itself, lists, creates or revokes these tokens."""
    user = make.user()
    made = _created(api, make, user)
    acting = user.with_token(made["token"])
    caller = {"nobody": None, "stranger": make.user(), "self": user, "acting": acting}[who]
    path = f"/users/{user.id}/impersonation_tokens"

    assert api.get(path, caller).status_code == status
    assert api.get(f"{path}/{made['id']}", caller).status_code == status
    assert api.post(path, caller, name="x", scopes=["api"]).status_code == status
    assert api.delete(f"{path}/{made['id']}", caller).status_code == status
    assert api.get("/user", acting).status_code == 200
    if caller is not None:
        assert api.get(f"/personal_access_tokens/{made['id']}", caller).status_code == 404
        assert api.delete(f"/personal_access_tokens/{made['id']}", caller).status_code == 404
        assert api.get("/user", acting).status_code == 200
        mine = {each["id"] for each in api.get("/personal_access_tokens", caller, per_page=100).json()}
        assert made["id"] not in mine


@pytest.mark.parametrize(("state", "expected"), [("all", 3), ("active", 1), ("inactive", 2), (None, 3)])
def test_state_filter(api: Api, make: Make, state: str | None, expected: int) -> None:
    user = make.user()
    path = f"/users/{user.id}/impersonation_tokens"
    tokens = [_created(api, make, user), _created(api, make, user, expires_at="2001-01-01"), _created(api, make, user)]
    api.delete(f"{path}/{tokens[2]['id']}", make.root)

    listed = api.get(path, make.root, **({"state": state} if state else {}))

    assert (len(listed.json()), listed.headers["x-total"]) == (expected, str(expected))
    assert api.get(path, make.root, state="sleeping").status_code == 400


def test_impersonation_tokens_take_the_scopes_of_personal_ones(api: Api, make: Make) -> None:
    """The scope ``sudo`` of a token has no effect if its user is not an administrator."""
    user, other = make.user(), make.user()
    scopes = [
        "api",
        "sudo",
        "admin_mode",
        "create_runner",
        "k8s_proxy",
        "ai_features",
        "read_registry",
        "write_registry",
    ]
    path = f"/users/{user.id}/impersonation_tokens"
    made = api.post(path, make.root, name="x", scopes=scopes)

    assert (made.status_code, made.json()["scopes"]) == (201, scopes)
    caller = user.with_token(made.json()["token"])
    assert api.get("/user", caller).json()["id"] == user.id
    assert api.get("/user", caller, sudo=other.username).status_code == 403
    refused = api.post(path, make.root, name="x", scopes=["everything"])
    assert refused.json() == {"message": {"scopes": ["can only contain available scopes"]}}


def test_a_token_is_found_under_its_own_user_only(api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    made = _created(api, make, user)
    path = f"/users/{other.id}/impersonation_tokens/{made['id']}"

    assert api.get(path, make.root).json() == {"message": "404 Impersonation Token Not Found"}
    assert api.delete(path, make.root).status_code == 200
    assert api.get("/user", user.with_token(made["token"])).status_code == 200, "It was not this user's."


@pytest.mark.parametrize(
    ("user_id", "token_id", "reads", "revokes"), [("0", "1", 404, 404), ("1", "0", 404, 200), ("1", "x", 400, 400)]
)
def test_missing_tokens(api: Api, make: Make, user_id: str, token_id: str, reads: int, revokes: int) -> None:
    path = f"/users/{user_id}/impersonation_tokens/{token_id}"

    assert api.get(path, make.root).status_code == reads
    assert api.delete(path, make.root).status_code == revokes


def test_a_personal_access_token_is_not_an_impersonation_token(api: Api, make: Make) -> None:
    user = make.user()
    own = api.get("/personal_access_tokens/self", user).json()["id"]

    assert api.get(f"/users/{user.id}/impersonation_tokens/{own}", make.root).status_code == 404
    assert api.delete(f"/users/{user.id}/impersonation_tokens/{own}", make.root).status_code == 200
    assert api.get("/user", user).status_code == 200
