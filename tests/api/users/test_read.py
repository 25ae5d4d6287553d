"""Getting a user: visible fields by caller."""

import pytest

from tests.client import Api, Make

PROFILE = {
    "bio": "Baker",
    "location": "Bern",
    "skype": "baker",
    "linkedin": "in/baker",
    "twitter": "@baker",
    "website_url": "https://baker.example",
    "organization": "Bakery",
}


@pytest.mark.parametrize(
    ("who", "status", "email"), [("nobody", 401, False), ("user", 200, False), ("admin", 200, True)]
)
def test_users_read_profiles_and_administrators_all_fields(
    api: Api, make: Make, who: str, status: int, email: bool
) -> None:
    user = make.user(**PROFILE)
    caller = {"nobody": None, "user": make.user(), "admin": make.root}[who]

    answer = api.get(f"/users/{user.id}", caller)

    assert answer.status_code == status
    if status == 200:
        shown = answer.json()
        assert {**shown, **PROFILE} == shown
        assert (shown["id"], shown["username"], shown["state"]) == (user.id, user.username, "active")
        assert shown["web_url"] == f"{api.url}/{user.username}"
        assert shown["avatar_url"] is None
        assert ("email" in shown, "is_admin" in shown, "identities" in shown) == (email, email, email)


@pytest.mark.parametrize("user_id", ["0", "999999999", "999999999999999999999", "no-number", "1.0", "-1", "1e3", "+1"])
def test_missing_users(api: Api, make: Make, user_id: str) -> None:
    answer = api.get(f"/users/{user_id}", make.root)

    assert (answer.status_code, answer.json()) == (404, {"message": "404 User Not Found"})


def test_a_username_is_not_an_id(api: Api, make: Make) -> None:
    user = make.user()

    assert api.get(f"/users/{user.username}", make.root).status_code == 404


def test_fields_for_administrators(api: Api, make: Make) -> None:
    """Every documented field, with its value for a new account."""
    user = make.user()

    shown = api.get(f"/users/{user.id}", make.root).json()

    assert shown["email"] == user.email
    expected = {"is_admin": False, "external": False, "two_factor_enabled": False, "identities": []}
    expected |= {"can_create_group": True, "can_create_project": True, "color_scheme_id": 1}
    expected |= {"last_sign_in_at": None, "current_sign_in_at": None, "last_activity_on": None}
    assert {**shown, **expected} == shown
    assert shown["confirmed_at"] is not None
    assert shown["projects_limit"] > 0
