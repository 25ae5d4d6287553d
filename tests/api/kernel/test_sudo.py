"""Sudo: restricted to administrators with a sufficient token."""

from typing import Any

import pytest

from ingot.accounts.tokens.service import create_token
from tests.client import Api, Make, User
from tests.conftest import Instance

MUST_BE_ADMIN = "403 Forbidden - Must be admin to use sudo"
MUST_BE_PRIVATE = "403 Forbidden - Private token must be specified in order to use sudo"


def _missing_user(name: object) -> str:
    return f"404 Not Found: No user id or username for: {name}"


@pytest.mark.parametrize("how", ["header", "query"])
@pytest.mark.parametrize("name", ["id", "username"])
def test_an_administrator_acts_as_another(api: Api, make: Make, how: str, name: str) -> None:
    user = make.user()
    value = str(getattr(user, name))
    sent: dict[str, Any] = {"headers": {"SUDO": value}} if how == "header" else {"params": {"sudo": value}}

    read = api.request("GET", "/user", make.root, **sent)
    written = api.request("PUT", "/user/status", make.root, data={"message": "by sudo"}, **sent)

    assert (read.status_code, read.json()["id"]) == (200, user.id)
    assert written.status_code == 200
    assert api.get("/user/status", user).json()["message"] == "by sudo"
    assert api.get("/user/status", make.root).json()["message"] != "by sudo"


def _token(instance: Instance, make: Make, user: User, kind: Any, *scopes: str) -> User:
    _, secret = instance.app.database.write(lambda db: create_token(db, user.id, kind, "x", list(scopes)))
    return user.with_token(secret)


CALLERS = [
    ("user", "private", (), 403, MUST_BE_ADMIN),
    ("user", "personal", ("api", "sudo"), 403, MUST_BE_ADMIN),
    ("user", "oauth", ("api", "sudo"), 403, MUST_BE_ADMIN),
    ("user", "impersonation", ("api",), 403, MUST_BE_ADMIN),
    ("admin", "impersonation", ("api",), 403, MUST_BE_PRIVATE),
    ("admin", "personal", ("api",), 403, MUST_BE_PRIVATE),
    ("admin", "personal", ("read_user",), 403, MUST_BE_PRIVATE),
    ("admin", "oauth", ("api",), 403, MUST_BE_PRIVATE),
    ("admin", "personal", ("sudo",), 403, "403 Forbidden - insufficient_scope"),
    ("admin", "private", (), 200, None),
    ("admin", "personal", ("api", "sudo"), 200, None),
    ("admin", "oauth", ("api", "sudo"), 200, None),
]


@pytest.mark.parametrize(("who", "kind", "scopes", "status", "message"), CALLERS)
def test_sudo_requires_an_administrators_token_with_the_scope(
    instance: Instance,
    api: Api,
    make: Make,
    who: str,
    kind: str,
    scopes: tuple[str, ...],
    status: int,
    message: str | None,
) -> None:
    caller, target = make.user(admin=who == "admin"), make.user()
    if kind == "private":
        token = api.get("/user", make.root, sudo=caller.username).json()["private_token"]
        caller = caller.with_token(token)
    else:
        caller = _token(instance, make, caller, kind, *scopes)

    for sent in ({"headers": {"SUDO": target.username}}, {"params": {"sudo": str(target.id)}}):
        answer = api.request("GET", "/user", caller, **sent)
        assert answer.status_code == status
        assert answer.json().get("message") == message
        assert (answer.json().get("id") == target.id) is (status == 200)


@pytest.mark.parametrize("name", ["999999999", "9" * 30, "no-such-user", "0", "-1", "a b", "roоt", "²", "a\0b"])
def test_sudo_as_a_missing_user(api: Api, make: Make, name: str) -> None:
    answer = api.get("/user", make.root, sudo=name)

    assert (answer.status_code, answer.json()) == (404, {"message": _missing_user(name)})


def test_sudo_uses_the_rights_of_the_other_user(api: Api, make: Make) -> None:
    user = make.user()

    assert api.get("/application/settings", make.root).status_code == 200
    assert api.get("/application/settings", make.root, sudo=user.username).status_code == 403
    seen = api.get(f"/users/{make.root.id}", make.root, sudo=user.username).json()
    assert "email" not in seen


@pytest.mark.parametrize("event", ["block", "ban", "deactivate"])
def test_sudo_as_a_blocked_user_is_rejected(api: Api, make: Make, event: str) -> None:
    user = make.user()
    assert api.get("/user", make.root, sudo=user.username).status_code == 200
    api.post(f"/users/{user.id}/{event}", make.root)

    refused = api.get("/user", make.root, sudo=user.username)

    assert refused.status_code == 403
    assert "private_token" not in refused.text


def test_sudo_requires_a_valid_credential(api: Api, make: Make) -> None:
    assert api.request("GET", "/user", headers={"SUDO": "root"}).status_code == 401
    stranger = make.user().with_token("nonsense")
    assert api.request("GET", "/user", stranger, headers={"SUDO": "root"}).status_code == 401


def test_the_sudo_parameter_takes_precedence_over_the_header(api: Api, make: Make) -> None:
    """Attack: parameter and header name different users."""
    first, second = make.user(), make.user()

    answer = api.request("GET", f"/user?sudo={first.username}", make.root, headers={"SUDO": second.username})

    assert answer.json()["id"] == first.id


def test_a_token_in_a_form_with_sudo_in_the_header(api: Api, make: Make) -> None:
    user = make.user()
    form = {"private_token": make.root.token, "message": "by form"}

    written = api.request("PUT", "/user/status", headers={"SUDO": user.username}, data=form)

    assert written.status_code == 200
    assert api.get("/user/status", user).json()["message"] == "by form"
