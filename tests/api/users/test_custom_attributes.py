"""Custom attributes of users."""

import pytest

from tests.client import Api, Make


def test_an_attribute_is_set_read_changed_and_deleted(api: Api, make: Make) -> None:
    path = f"/users/{make.user().id}/custom_attributes"

    for value in ("red", "blue", "x" * 65_535):
        answer = api.put(f"{path}/team", make.root, value=value)
        assert (answer.status_code, answer.json()) == (200, {"key": "team", "value": value})
        assert api.get(f"{path}/team", make.root).json() == {"key": "team", "value": value}
    api.put(f"{path}/a%2Fb%20c", make.root, value="x")
    assert {each["key"] for each in api.get(path, make.root).json()} == {"team", "a/b c"}

    for _ in range(2):
        assert api.delete(f"{path}/team", make.root).status_code == 200
    assert api.get(f"{path}/team", make.root).status_code == 404
    assert [each["key"] for each in api.get(path, make.root).json()] == ["a/b c"]


@pytest.mark.parametrize(("who", "status"), [("nobody", 401), ("self", 403), ("admin", 200)])
def test_attributes_are_for_administrators(api: Api, make: Make, who: str, status: int) -> None:
    user = make.user()
    caller = {"nobody": None, "self": user, "admin": make.root}[who]
    path = f"/users/{user.id}/custom_attributes"
    api.put(f"{path}/team", make.root, value="red")

    assert api.get(path, caller).status_code == status
    assert api.get(f"{path}/team", caller).status_code == status
    assert api.put(f"{path}/team", caller, value="blue").status_code == status
    assert api.delete(f"{path}/team", caller).status_code == status
    left = [] if status == 200 else [{"key": "team", "value": "red"}]
    assert api.get(path, make.root).json() == left


def test_user_and_value_are_required(api: Api, make: Make) -> None:
    missing = api.put(f"/users/{make.user().id}/custom_attributes/team", make.root)

    assert missing.json() == {"message": '400 (Bad request) "value" not given'}
    for method in ("GET", "PUT", "DELETE"):
        answer = api.request(method, "/users/0/custom_attributes/team?value=x", make.root)
        assert answer.json() == {"message": "404 User Not Found"}


INVALID = [
    ("team", "", {"value": ["can't be blank"]}),
    ("team", "x" * 65_536, {"value": ["is too long (maximum is 65535 characters)"]}),
    ("k" * 256, "x", {"key": ["is too long (maximum is 255 characters)"]}),
    ("%20", "x", {"key": ["can't be blank"]}),
]


@pytest.mark.parametrize(("key", "value", "message"), INVALID, ids=["empty", "long", "long key", "blank key"])
def test_invalid_attributes_are_rejected(
    api: Api, make: Make, key: str, value: str, message: dict[str, list[str]]
) -> None:
    """With the same rules as for projects and groups."""
    project = api.post("/projects", make.root, name=make.name("noted")).json()["id"]
    for where in (f"/users/{make.user().id}", f"/projects/{project}"):
        answer = api.put(f"{where}/custom_attributes/{key}", make.root, value=value)
        assert (answer.status_code, answer.json()) == (400, {"message": message})
        assert api.get(f"{where}/custom_attributes", make.root).json() == []
