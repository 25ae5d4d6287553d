"""The current user."""

import pytest

from tests.client import Api, Make, User


def _administrator(make: Make) -> User:
    """Return an administrator with a token that is not limited; a limited one does not see the private token."""
    administrator = make.user(admin=True)
    return administrator.with_token(make.token(administrator.id, "api", "sudo"))


@pytest.mark.parametrize(
    ("who", "status", "is_admin", "private_token"),
    [
        ("nobody", 401, False, False),
        ("user", 200, False, False),
        ("external", 200, False, False),
        ("admin", 200, True, True),
    ],
)
def test_current_user(api: Api, make: Make, who: str, status: int, is_admin: bool, private_token: bool) -> None:
    caller = {
        "nobody": None,
        "user": make.user(),
        "external": make.user(external=True),
        "admin": _administrator(make),
    }[who]

    answer = api.get("/user", caller)

    assert answer.status_code == status
    if caller is not None:
        shown = answer.json()
        assert (shown["id"], shown["username"], shown["email"]) == (caller.id, caller.username, caller.email)
        assert (shown.get("is_admin", False), "private_token" in shown) == (is_admin, private_token)
        assert shown["external"] is (who == "external")


def test_the_shown_private_token_is_valid(api: Api, make: Make) -> None:
    administrator = _administrator(make)
    private = administrator.with_token(api.get("/user", administrator).json()["private_token"])

    assert api.get("/user", private).json()["id"] == administrator.id
    assert api.get("/users", private, sudo=make.user().username).status_code == 200


def test_sudo_shows_the_other_user_with_their_private_token(api: Api, make: Make) -> None:
    user = make.user()

    shown = api.get("/user", make.root, sudo=user.username).json()

    assert (shown["id"], shown["is_admin"]) == (user.id, False)
    assert api.get("/user", user.with_token(shown["private_token"])).json()["id"] == user.id


def test_external_users_cannot_create_projects_or_groups(api: Api, make: Make) -> None:
    external = api.get("/user", make.user(external=True, projects_limit=10, can_create_group=True)).json()
    ordinary = api.get("/user", make.user()).json()

    for name, value in (("can_create_project", False), ("can_create_group", False), ("projects_limit", 0)):
        assert external[name] == value
        assert ordinary[name] != value
