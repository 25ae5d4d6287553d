"""Personal access tokens: created by administrators, managed by their users, rotated and revoked."""

from typing import Any

import pytest

from tests.client import Api, Make, User


def _created(api: Api, make: Make, user: User, **more: Any) -> dict[str, Any]:
    sent = {"name": "A token", "scopes": ["api"], **more}
    answer = api.post(f"/users/{user.id}/personal_access_tokens", make.root, **sent)
    assert answer.status_code == 201, answer.text
    token: dict[str, Any] = answer.json()
    return token


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("self", 403), ("stranger", 403), ("admin", 201)])
def test_administrators_create_tokens_for_users(api: Api, make: Make, who: str, status: int) -> None:
    user = make.user()
    caller = {"nobody": None, "self": user, "stranger": make.user(), "admin": make.root}[who]

    answer = api.post(f"/users/{user.id}/personal_access_tokens", caller, name="x", scopes=["read_user"])

    assert answer.status_code == status
    if status == 201:
        made = answer.json()
        assert (made["user_id"], made["scopes"], made["active"], made["revoked"]) == (
            user.id,
            ["read_user"],
            True,
            False,
        )
        assert api.get("/user", user.with_token(made["token"])).json()["id"] == user.id


INVALID: list[tuple[dict[str, Any], Any]] = [
    ({"name": None}, '400 (Bad request) "name" not given'),
    ({"scopes": None}, '400 (Bad request) "scopes" not given'),
    ({"name": " "}, {"name": ["can't be blank"]}),
    ({"name": "x" * 256}, {"name": ["is too long (maximum is 255 characters)"]}),
    ({"scopes": []}, {"scopes": ["can't be blank"]}),
    ({"scopes": ["everything"]}, {"scopes": ["can only contain available scopes"]}),
    ({"scopes": ["api", "everything"]}, {"scopes": ["can only contain available scopes"]}),
    ({"expires_at": "soon"}, {"expires_at": ["is invalid"]}),
    ({"expires_at": "2026-02-30"}, {"expires_at": ["is invalid"]}),
]


@pytest.mark.parametrize("kind", ["personal_access_tokens", "impersonation_tokens"])
@pytest.mark.parametrize(("sent", "message"), INVALID)
def test_invalid_parameters_are_named(api: Api, make: Make, kind: str, sent: dict[str, Any], message: Any) -> None:
    answer = api.post(f"/users/{make.user().id}/{kind}", make.root, **{"name": "x", "scopes": ["api"], **sent})

    assert (answer.status_code, answer.json()) == (400, {"message": message})


@pytest.mark.parametrize("expires_at", [None, "2001-01-01", "9999-12-31"])
def test_an_expiry_in_the_past_creates_an_inactive_token(api: Api, make: Make, expires_at: str | None) -> None:
    made = _created(api, make, make.user(), expires_at=expires_at)

    assert (made["expires_at"], made["active"]) == (expires_at, expires_at != "2001-01-01")


def test_users_list_their_own_tokens_and_administrators_all(api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    token_id = _created(api, make, user)["id"]

    def listed(caller: User, **params: Any) -> set[int]:
        return {each["id"] for each in api.get("/personal_access_tokens", caller, per_page=100, **params).json()}

    assert token_id in listed(user)
    assert token_id in listed(user, user_id=user.id)
    assert token_id not in listed(other)
    assert token_id in listed(make.root, user_id=user.id)
    assert token_id not in listed(make.root, user_id=other.id)
    assert api.get("/personal_access_tokens", other, user_id=user.id).status_code in (401, 403, 404)
    assert api.get("/personal_access_tokens").status_code == 401


def test_list_filters(api: Api, make: Make) -> None:
    user = make.user()
    active = _created(api, make, user, name="Active One")["id"]
    expired = _created(api, make, user, name="Expired One", expires_at="2001-01-01")["id"]
    revoked = _created(api, make, user, name="Revoked One")["id"]
    api.delete(f"/personal_access_tokens/{revoked}", user)
    rows: list[tuple[dict[str, Any], set[int]]] = [
        ({"search": "one"}, {active, expired, revoked}),
        ({"search": "ACTIVE"}, {active}),
        ({"search": "one", "state": "active"}, {active}),
        ({"search": "one", "state": "inactive"}, {expired, revoked}),
        ({"search": "one", "state": "all"}, {active, expired, revoked}),
        ({"search": "one", "revoked": True}, {revoked}),
        ({"search": "one", "revoked": False}, {active, expired}),
        ({"search": "one", "created_before": "2001-01-01"}, set()),
        ({"search": "one", "created_after": "2001-01-01"}, {active, expired, revoked}),
    ]

    for params, expected in rows:
        assert {each["id"] for each in api.get("/personal_access_tokens", user, **params).json()} == expected, params
    assert api.get("/personal_access_tokens", user, state="sleeping").status_code == 400


# To other users the token does not exist.
CALLERS = [
    ("nobody", 401, 401, False),
    ("stranger", 404, 404, False),
    ("owner", 200, 200, True),
    ("admin", 200, 200, True),
]


@pytest.mark.parametrize(("who", "reads", "revokes", "revoked"), CALLERS)
def test_permissions(api: Api, make: Make, who: str, reads: int, revokes: int, revoked: bool) -> None:
    owner = make.user()
    made = _created(api, make, owner)
    caller = {"nobody": None, "stranger": make.user(), "owner": owner, "admin": make.root}[who]
    path = f"/personal_access_tokens/{made['id']}"

    read = api.get(path, caller)
    assert read.status_code == reads
    assert made["token"] not in read.text
    assert api.delete(path, caller).status_code == revokes
    worked = api.get("/user", owner.with_token(made["token"])).status_code
    assert worked == (401 if revoked else 200)
    assert api.get(path, owner).json()["revoked"] is revoked
    if revoked:
        assert api.delete(path, caller).status_code == 404, "Nothing is left to revoke."


def test_a_token_reads_itself_with_any_scope(api: Api, make: Make) -> None:
    user = make.user()
    for scope in ("api", "read_user", "read_api", "read_repository", "write_repository", "sudo"):
        made = _created(api, make, user, scopes=[scope])
        caller = user.with_token(made["token"])
        shown = api.get("/personal_access_tokens/self", caller).json()
        assert (shown["id"], shown["scopes"]) == (made["id"], [scope])
        assert "token" not in shown
        assert api.delete("/personal_access_tokens/self", caller).status_code == 200
        assert api.get("/personal_access_tokens/self", caller).status_code == 401


def test_other_credentials_have_no_self(api: Api, make: Make) -> None:
    user = make.user()
    private = api.get("/user", make.root, sudo=user.username).json()["private_token"]
    acting = api.post(f"/users/{user.id}/impersonation_tokens", make.root, name="x", scopes=["api"]).json()["token"]

    for token in (private, acting):
        caller = user.with_token(token)
        for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/rotate")):
            status = 403 if token == acting and path else 400
            assert api.request(method, f"/personal_access_tokens/self{path}", caller).status_code == status
        assert api.get("/user", caller).status_code == 200


@pytest.mark.parametrize("who", ["self", "owner", "admin"])
def test_rotation_revokes_the_old_token(api: Api, make: Make, who: str) -> None:
    user = make.user()
    old = _created(api, make, user, scopes=["api", "read_user"])
    caller = {"self": user.with_token(old["token"]), "owner": user, "admin": make.root}[who]

    path = "/personal_access_tokens/self/rotate" if who == "self" else f"/personal_access_tokens/{old['id']}/rotate"
    rotated = api.post(path, caller)

    assert rotated.status_code == 200
    new = rotated.json()
    assert (new["name"], new["scopes"], new["user_id"]) == (old["name"], old["scopes"], user.id)
    assert new["expires_at"] is not None
    assert new["id"] != old["id"]
    assert api.get("/user", user.with_token(old["token"])).status_code == 401
    assert api.get("/user", user.with_token(new["token"])).status_code == 200
    again = api.post(f"/personal_access_tokens/{old['id']}/rotate", make.root)
    assert again.status_code == 400


def test_rotation_checks_expiry_and_permission(api: Api, make: Make) -> None:
    user = make.user()
    made = _created(api, make, user)
    path = f"/personal_access_tokens/{made['id']}/rotate"

    assert api.post(path, make.user()).status_code == 404
    assert api.post(path).status_code == 401
    assert api.post(path, user, expires_at="soon").status_code == 400
    assert api.post(path, user, expires_at="9999-01-01").json()["expires_at"] == "9999-01-01"


@pytest.mark.parametrize(("token_id", "status"), [("0", 404), ("999999999", 404), ("no-number", 400)])
def test_missing_tokens(api: Api, make: Make, token_id: str, status: int) -> None:
    for method, path in (("GET", ""), ("POST", "/rotate"), ("DELETE", "")):
        assert api.request(method, f"/personal_access_tokens/{token_id}{path}", make.root).status_code == status


def test_users_create_tokens_without_access_to_data(api: Api, make: Make) -> None:
    """Other scopes are refused; a token with ``self_rotate`` rotates itself and does nothing else."""
    user, url = make.user(), "/user/personal_access_tokens"
    made = api.post(url, user, name="x", scopes=["k8s_proxy", "self_rotate"], expires_at="2999-01-01")
    assert made.status_code == 201, made.text
    assert (made.json()["user_id"], made.json()["scopes"]) == (user.id, ["k8s_proxy", "self_rotate"])
    limited = user.with_token(made.json()["token"])
    assert api.get("/user", limited).status_code == 403
    assert api.post(url, limited, name="y", scopes=["self_rotate"]).status_code == 403
    rotated = api.post("/personal_access_tokens/self/rotate", limited)
    assert (rotated.status_code, rotated.json()["scopes"]) == (200, ["k8s_proxy", "self_rotate"])
    assert api.post("/personal_access_tokens/self/rotate", limited).status_code == 401
    invalid: list[dict[str, Any]] = [{"scopes": ["api"]}, {"scopes": []}, {"scopes": ["self_rotate"], "name": ""}, {}]
    for sent in invalid:
        assert api.post(url, user, **{"name": "x", **sent}).status_code == 400, sent
    assert api.post(url, None, name="x", scopes=["self_rotate"]).status_code == 401
