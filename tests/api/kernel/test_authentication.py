"""Authentication: every kind of credential, in every place, until it is revoked."""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from ingot.accounts.sessions.queries import csrf_token, session_or_none
from ingot.accounts.sessions.service import create_session
from ingot.accounts.tokens.queries import token_or_none
from ingot.accounts.tokens.service import create_token, reset_private_token, revoke_token
from ingot.accounts.users.queries import find_user
from tests.client import Api, Make, User
from tests.conftest import Instance

UNAUTHORIZED = {"message": "401 Unauthorized"}


def _private(instance: Instance, api: Api, make: Make, user: User) -> str:
    token: str = api.get("/user", make.root, sudo=user.username).json()["private_token"]
    return token


def _personal(instance: Instance, api: Api, make: Make, user: User) -> str:
    return make.token(user.id, "api")


def _impersonation(instance: Instance, api: Api, make: Make, user: User) -> str:
    made = api.post(f"/users/{user.id}/impersonation_tokens", make.root, name="x", scopes=["api"])
    token: str = made.json()["token"]
    return token


def _oauth(instance: Instance, api: Api, make: Make, user: User) -> str:
    return instance.app.database.write(lambda db: create_token(db, user.id, "oauth", "App", ["api"]))[1]


Kind = Callable[[Instance, Api, Make, User], str]
KINDS: list[Kind] = [_private, _personal, _impersonation, _oauth]
POSITIONS: dict[str, Callable[[str], dict[str, Any]]] = {
    "header": lambda token: {"headers": {"PRIVATE-TOKEN": token}},
    "header in another case": lambda token: {"headers": {"Private-token": token}},
    "bearer": lambda token: {"headers": {"Authorization": f"Bearer {token}"}},
    "bearer in another case": lambda token: {"headers": {"authorization": f"bearer {token}"}},
    "private_token in the query": lambda token: {"params": {"private_token": token}},
    "access_token in the query": lambda token: {"params": {"access_token": token}},
}
BODIES: dict[str, Callable[[str], dict[str, Any]]] = {
    "private_token in a form": lambda token: {"data": {"private_token": token}},
    "access_token in a form": lambda token: {"data": {"access_token": token}},
    "private_token in multipart": lambda token: {"files": {"private_token": (None, token)}},
    "private_token in JSON": lambda token: {"json": {"private_token": token}},
}


def _session(instance: Instance, user: User) -> tuple[dict[str, str], str]:
    """Return the cookie header of a signed-in browser, and its CSRF token."""
    database = instance.app.database
    cookie = database.write(lambda db: create_session(db, find_user(db, user.id), "127.0.0.1", "test"))

    def csrf(db: Any) -> str:
        found = session_or_none(db, cookie)
        assert found is not None
        return csrf_token(db, found[0])

    return {"Cookie": f"_service_session={cookie}"}, database.read(csrf)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_token_is_accepted_in_every_place(instance: Instance, api: Api, make: Make, kind: Kind) -> None:
    user = make.user()
    token = kind(instance, api, make, user)

    for place, put in POSITIONS.items():
        read = api.request("GET", "/user", **put(token))
        assert (read.status_code, read.json().get("id")) == (200, user.id), place
    for place, put in {**POSITIONS, **BODIES}.items():
        written = api.request("PUT", "/user/status", **put(token))
        assert written.status_code == 200, place
        refused = api.request("PUT", "/user/status", **put(token[:-1]))
        assert (refused.status_code, refused.json()) == (401, UNAUTHORIZED), place


@pytest.mark.parametrize("path", ["/user", "/users", "/version", "/namespaces", "/templates/licenses"])
def test_an_invalid_credential_is_rejected_even_on_public_routes(api: Api, path: str) -> None:
    for place, put in POSITIONS.items():
        answer = api.request("GET", path, **put("nonsense"))
        assert (answer.status_code, answer.json()) == (401, UNAUTHORIZED), place


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("event", ["block", "ban", "deactivate", "delete"])
def test_tokens_of_blocked_users_are_rejected(instance: Instance, api: Api, make: Make, kind: Kind, event: str) -> None:
    """Attack: use a credential after the user was blocked; the next request is denied."""
    user = make.user()
    caller = user.with_token(kind(instance, api, make, user))
    assert api.get("/user", caller).status_code == 200

    method, path = ("DELETE", "") if event == "delete" else ("POST", f"/{event}")
    assert api.request(method, f"/users/{user.id}{path}", make.root).status_code in (200, 201)

    assert api.get("/user", caller).status_code == 401
    assert api.get("/templates/licenses", caller).status_code == 401
    assert api.put("/user/status", caller, message="still here").status_code == 401


def test_a_revoked_token_is_rejected(instance: Instance, api: Api, make: Make) -> None:
    user = make.user()
    database = instance.app.database

    def created(kind: str) -> tuple[int, User]:
        token, secret = database.write(lambda db: create_token(db, user.id, kind, "x", ["api"]))  # type: ignore[arg-type]
        return token.id, user.with_token(secret)

    personal, impersonation, oauth = created("personal"), created("impersonation"), created("oauth")
    private = user.with_token(_private(instance, api, make, user))
    for caller in (personal[1], impersonation[1], oauth[1], private):
        assert api.get("/user", caller).status_code == 200

    assert api.delete(f"/personal_access_tokens/{personal[0]}", user).status_code == 200
    assert api.delete(f"/users/{user.id}/impersonation_tokens/{impersonation[0]}", make.root).status_code == 200

    def revoke(db: Any) -> None:
        token = token_or_none(db, oauth[0], "oauth")
        assert token is not None
        revoke_token(db, token)
        reset_private_token(db, user.id)

    database.write(revoke)
    for caller in (personal[1], impersonation[1], oauth[1], private):
        assert api.get("/user", caller).status_code == 401
    assert api.get("/user", user).status_code == 200, "The other tokens of the user stay."


@pytest.mark.parametrize(
    ("expires_at", "status"), [("2001-01-01", 401), ("9999-12-31", 200), (None, 200)], ids=["past", "future", "never"]
)
@pytest.mark.parametrize("path", ["personal_access_tokens", "impersonation_tokens"])
def test_an_expired_token_is_rejected(api: Api, make: Make, path: str, expires_at: str | None, status: int) -> None:
    user = make.user()
    made = api.post(f"/users/{user.id}/{path}", make.root, name="x", scopes=["api"], expires_at=expires_at)

    assert made.json()["active"] is (status == 200)
    assert api.get("/user", user.with_token(made.json()["token"])).status_code == status


def test_a_session_cookie_reads_but_writes_only_with_a_csrf_token(instance: Instance, api: Api, make: Make) -> None:
    """Attack: another site makes a browser post with the cookie alone."""
    user, other = make.user(), make.user()
    cookie, csrf = _session(instance, user)
    _, csrf_of_other = _session(instance, other)
    rows = [({}, 401), ({"X-CSRF-Token": "nonsense"}, 401), ({"X-CSRF-Token": csrf_of_other}, 401)]
    rows += [({"Origin": "https://evil.example"}, 401), ({"X-CSRF-Token": csrf}, 200)]

    read = api.request("GET", "/user", headers=cookie)
    assert (read.status_code, read.json()["id"]) == (200, user.id)
    for headers, status in rows:
        written = api.request("PUT", "/user/status", headers={**cookie, **headers}, data={"message": "written"})
        assert written.status_code == status, headers
        message = api.get("/user/status", user).json()["message"]
        assert message == ("written" if status == 200 else "")


def test_an_expired_cookie_counts_as_anonymous(instance: Instance, api: Api, make: Make) -> None:
    user = make.user()
    cookie, _ = _session(instance, user)
    assert api.request("GET", "/user", headers=cookie).status_code == 200
    api.post(f"/users/{user.id}/block", make.root)
    api.post(f"/users/{user.id}/unblock", make.root)

    assert api.request("GET", "/user", headers=cookie).status_code == 401
    assert api.request("GET", "/templates/licenses", headers=cookie).status_code == 200


def test_a_session_with_an_administrator_set_password_is_rejected(instance: Instance, api: Api, make: Make) -> None:
    user = make.user(password="first-password")
    api.put(f"/users/{user.id}", make.root, password="second-password")
    cookie, _ = _session(instance, user)

    assert api.request("GET", "/user", headers=cookie).status_code == 401
    assert api.get("/user", user).status_code == 200, "Tokens have nothing to do with the password."


def test_a_token_takes_precedence_over_a_cookie(instance: Instance, api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    cookie, _ = _session(instance, other)

    for place, put in POSITIONS.items():
        sent = put(user.token)
        sent["headers"] = {**sent.get("headers", {}), **cookie}
        assert api.request("GET", "/user", **sent).json()["id"] == user.id, place
        assert api.request("PUT", "/user/status", **sent).status_code == 200, place
    for place, put in BODIES.items():
        assert api.request("PUT", "/user/status", headers=cookie, **put(user.token)).status_code == 200, place


def test_the_api_sets_no_cookie(api: Api, make: Make) -> None:
    user = make.user(password="correct horse battery")
    signed_in = api.post("/session", login=user.username, password=user.password)

    assert signed_in.status_code == 201
    for answer in (signed_in, api.get("/user", user)):
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Basic cm9vdDpyb290"},
        {"Authorization": "Bearer"},
        {"PRIVATE-TOKEN": ""},
        {"PRIVATE-TOKEN": "t\xf6ken".encode("latin-1")},
        {"PRIVATE-TOKEN": "x" * 10_000},
        {"Cookie": "_service_session"},
        {"Cookie": "_service_session=%00; ;;="},
    ],
)
def test_malformed_credentials_are_rejected(instance: Instance, headers: dict[str, Any]) -> None:
    assert httpx.get(f"{instance.url}/api/v4/user", headers=headers).status_code == 401
