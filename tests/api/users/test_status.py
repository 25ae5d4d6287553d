"""Statuses of users."""

from typing import Any

import pytest

from tests.client import Api, Make

EMPTY = {
    "emoji": "speech_balloon",
    "message": "",
    "availability": "not_set",
    "message_html": "",
    "clear_status_at": None,
}


def test_a_status_is_set_shown_and_cleared(api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    assert api.get("/user/status", user).json() == EMPTY

    said = api.put("/user/status", user, emoji="coffee", message="<b>Out</b>", availability="busy")

    assert (said.status_code, said.json()["message"], said.json()["availability"]) == (200, "<b>Out</b>", "busy")
    assert "<b>" not in said.json()["message_html"]
    for name in (user.id, user.username):
        assert api.get(f"/users/{name}/status", other).json() == said.json()
    assert api.get("/user/status", user).json() == said.json()
    assert api.put("/user/status", user).json() == EMPTY
    assert api.get(f"/users/{user.id}/status", other).json() == EMPTY


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"message": "x" * 100}, 200),
        ({"message": "x" * 101}, 400),
        ({"availability": "busy"}, 200),
        ({"availability": "sleeping"}, 400),
        ({"message": "x", "clear_status_after": "30_minutes"}, 200),
        ({"message": "x", "clear_status_after": "2_weeks"}, 400),
        ({"message": "x", "clear_status_after": None}, 200),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_valid_and_invalid_statuses(api: Api, make: Make, method: str, sent: dict[str, Any], status: int) -> None:
    user = make.user()

    answer = api.request(method, "/user/status", user, json=sent)

    assert answer.status_code == status
    assert (api.get("/user/status", user).json() == EMPTY) is (status == 400)


def test_a_status_expires(api: Api, make: Make) -> None:
    said = api.put("/user/status", make.user(), message="Lunch", clear_status_after="30_minutes").json()

    assert said["clear_status_at"] is not None


def test_patch_keeps_unsent_values(api: Api, make: Make) -> None:
    user = make.user()
    api.put("/user/status", user, emoji="coffee", message="Out")

    changed = api.request("PATCH", "/user/status", user, json={"availability": "busy"}).json()

    assert (changed["emoji"], changed["message"], changed["availability"]) == ("coffee", "Out", "busy")


def test_only_the_own_status_can_be_set(api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    api.put("/user/status", user, message="Mine")

    assert api.get("/user/status", other).json() == EMPTY
    for method in ("GET", "PUT", "PATCH"):
        assert api.request(method, "/user/status").status_code == 401
    assert api.get(f"/users/{user.id}/status").status_code == 401
    assert api.get("/users/no-such-user/status", other).status_code == 404
