"""Following users."""

import pytest

from tests.client import Api, Make, User


def _names(api: Api, path: str, caller: User) -> list[str]:
    return [each["username"] for each in api.get(path, caller).json()]


def test_follow_and_unfollow(api: Api, make: Make) -> None:
    fan, star, other = make.user(), make.user(), make.user()

    for status in (201, 304):
        assert api.post(f"/users/{star.id}/follow", fan).status_code == status
        assert _names(api, f"/users/{star.id}/followers", other) == [fan.username]
    assert _names(api, f"/users/{fan.id}/following", other) == [star.username]
    assert _names(api, f"/users/{fan.id}/followers", other) == []
    assert _names(api, f"/users/{star.id}/following", other) == []

    for status in (201, 304):
        assert api.post(f"/users/{star.id}/unfollow", fan).status_code == status
        assert _names(api, f"/users/{star.id}/followers", other) == []


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("self", 403), ("other", 201)])
@pytest.mark.parametrize("verb", ["follow", "unfollow"])
def test_users_follow_others_but_not_themselves(api: Api, make: Make, verb: str, who: str, status: int) -> None:
    star = make.user()
    caller = {"nobody": None, "self": star, "other": make.user()}[who]
    if who == "other" and verb == "unfollow":
        api.post(f"/users/{star.id}/follow", caller)

    answer = api.post(f"/users/{star.id}/{verb}", caller)

    assert answer.status_code == status
    if status == 201:
        assert answer.json()["id"] == star.id


@pytest.mark.parametrize("list_name", ["followers", "following"])
def test_lists_require_authentication_and_an_existing_user(api: Api, make: Make, list_name: str) -> None:
    user = make.user()

    assert api.get(f"/users/{user.id}/{list_name}").status_code == 401
    assert api.get(f"/users/{user.id}/{list_name}", user).headers["x-total"] == "0"
    assert api.get(f"/users/0/{list_name}", user).status_code == 404
    assert api.post("/users/0/follow", user).status_code == 404
