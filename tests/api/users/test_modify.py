"""Modifying users: by administrators only, and only the given fields."""

from typing import Any

import pytest

from ingot.accounts.users.queries import placeholder_user
from tests.client import Api, Make
from tests.conftest import Instance


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("stranger", 403), ("self", 403), ("admin", 200)])
def test_only_administrators_modify_users(api: Api, make: Make, who: str, status: int) -> None:
    """Attack: users make themselves administrators."""
    user = make.user()
    caller = {"nobody": None, "stranger": make.user(), "self": user, "admin": make.root}[who]

    answer = api.put(f"/users/{user.id}", caller, admin=True, projects_limit=5000)

    assert answer.status_code == status
    now = api.get(f"/users/{user.id}", make.root).json()
    assert (now["is_admin"], now["projects_limit"] == 5000) == (status == 200, status == 200)


CHANGES: list[tuple[str, Any]] = [
    ("bio", "Baker"),
    ("location", "Bern"),
    ("organization", "Bakery"),
    ("website_url", "https://a.example"),
    ("skype", "s"),
    ("linkedin", "l"),
    ("twitter", "t"),
    ("name", "Another Name"),
    ("projects_limit", 3),
    ("can_create_group", False),
    ("external", True),
    ("public_email", "own"),
]


@pytest.mark.parametrize(("field", "value"), CHANGES)
def test_only_sent_values_change(api: Api, make: Make, field: str, value: Any) -> None:
    user = make.user(bio="Before", location="Before")
    value = user.email if field == "public_email" else value
    before = api.get(f"/users/{user.id}", make.root).json()

    answer = api.put(f"/users/{user.id}", make.root, **{field: value})

    assert (answer.status_code, answer.json()[field]) == (200, value)
    following = {
        "external": {"can_create_group", "can_create_project", "projects_limit"},
        "organization": {"work_information"},
    }
    changed = {name for name, held in answer.json().items() if held != before[name]}
    assert changed - following.get(field, set()) == {field}
    assert api.get(f"/users/{user.id}", make.root).json() == answer.json()


def test_username_and_address_change_or_stay(api: Api, make: Make) -> None:
    user = make.user()
    username, email = make.name("renamed"), f"{make.name()}@example.org"

    for sent in ({"username": user.username, "email": user.email}, {"username": username, "email": email.upper()}):
        assert api.put(f"/users/{user.id}", make.root, **sent).status_code == 200

    now = api.get("/user", user).json()
    assert (now["username"], now["email"]) == (username, email)
    assert now["web_url"].endswith(f"/{username}")


@pytest.mark.parametrize("field", ["email", "username"])
def test_taken_values_get_404(api: Api, make: Make, field: str) -> None:
    """The specification returns 404 on update, where 409 would fit."""
    user, other = make.user(), make.user()

    refused = api.put(f"/users/{user.id}", make.root, **{field: getattr(other, field).upper(), "bio": "Changed"})

    assert refused.status_code == 404
    assert refused.json() == {"message": f"{field.capitalize()} has already been taken"}
    now = api.get(f"/users/{user.id}", make.root).json()
    assert (now[field], now["bio"]) == (getattr(user, field), "")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("email", "no address"),
        ("password", "short"),
        ("password", ""),
        ("bio", "x" * 256),
        ("projects_limit", -1),
        ("username", "-"),
        ("username", "api"),
        ("name", ""),
    ],
)
def test_invalid_values_change_nothing(api: Api, make: Make, field: str, value: Any) -> None:
    user = make.user()
    before = api.get(f"/users/{user.id}", make.root).json()

    refused = api.put(f"/users/{user.id}", make.root, **{field: value, "location": "Elsewhere"})

    assert (refused.status_code, list(refused.json()["message"])) == (400, [field])
    assert api.get(f"/users/{user.id}", make.root).json() == before


@pytest.mark.parametrize("user_id", ["0", "999999999", "no-number"])
def test_missing_users(api: Api, make: Make, user_id: str) -> None:
    answer = api.put(f"/users/{user_id}", make.root, bio="x")

    assert (answer.status_code, answer.json()) == (404, {"message": "404 User Not Found"})


def test_identities_are_added_replaced_and_removed(api: Api, make: Make) -> None:
    user, first, second = make.user(), make.name("uid"), make.name("uid")
    path = f"/users/{user.id}"

    for uid in (first, second):
        shown = api.put(path, make.root, provider="github", extern_uid=uid).json()["identities"]
        assert shown == [{"provider": "github", "extern_uid": uid}]
    api.put(path, make.root, provider="ldapmain", extern_uid=first)
    assert len(api.get(path, make.root).json()["identities"]) == 2

    assert api.delete(f"/users/{user.id}/identities/github", make.user()).status_code == 403
    assert api.delete(f"/users/{user.id}/identities/github", make.root).status_code == 200
    assert [each["provider"] for each in api.get(path, make.root).json()["identities"]] == ["ldapmain"]
    assert api.delete(f"/users/{user.id}/identities/github", make.root).status_code in (200, 404)
    for alone in ({"provider": "github"}, {"extern_uid": "x"}):
        assert api.put(path, make.root, **alone).status_code == 400


def test_a_password_set_by_an_administrator_must_be_changed(api: Api, make: Make) -> None:
    user = make.user(password="first-password")
    assert api.post("/session", login=user.username, password="first-password").status_code == 201

    assert api.put(f"/users/{user.id}", make.root, password="second-password").status_code == 200

    for password in ("first-password", "second-password"):
        assert api.post("/session", login=user.username, password=password).status_code == 401
    assert api.get("/user", user).status_code == 200, "Tokens go on."


def test_an_administrators_own_new_password_works_at_once(api: Api, make: Make) -> None:
    administrator = make.user(admin=True, password="first-password")

    assert api.put(f"/users/{administrator.id}", administrator, password="second-password").status_code == 200

    assert api.post("/session", login=administrator.username, password="second-password").status_code == 201


def test_rights_change_with_the_next_request(api: Api, make: Make) -> None:
    """Attack: a former administrator uses an existing token."""
    user = make.user()
    for admin, status in ((True, 200), (False, 403)):
        api.put(f"/users/{user.id}", make.root, admin=admin)
        assert api.get("/application/settings", user).status_code == status


def test_the_ghost_user_cannot_be_modified(instance: Instance, api: Api, make: Make) -> None:
    placeholder = instance.app.database.read(placeholder_user)

    assert api.put(f"/users/{placeholder.id}", make.root, admin=True).status_code == 403
    assert api.post("/session", login=placeholder.username, password="").status_code in (400, 401)
