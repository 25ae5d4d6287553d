"""Feature flags."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.client import Api, Make
from tests.conftest import Instance
from tests.statements import executed

OFF = {"key": "boolean", "value": False}
ON = {"key": "boolean", "value": True}


@pytest.fixture(autouse=True)
def _no_other_flags(api: Api, make: Make) -> Iterator[None]:
    _delete_flags(api, make)
    yield
    _delete_flags(api, make)


def _delete_flags(api: Api, make: Make) -> None:
    for feature in api.get("/features", as_user=make.root).json():
        api.delete(f"/features/{feature['name']}", as_user=make.root)


def _set(api: Api, make: Make, value: Any, **targets: Any) -> dict[str, Any]:
    answer = api.post("/features/library", as_user=make.root, value=value, **targets)
    assert answer.status_code == 201, answer.text
    feature: dict[str, Any] = answer.json()
    assert api.get("/features", as_user=make.root).json() == [feature]
    return feature


def test_only_administrators(api: Api, make: Make) -> None:
    for caller, refusal in ((None, 401), (make.user(), 403), (make.root, None)):
        assert api.get("/features", as_user=caller).status_code == (refusal or 200)
        assert api.post("/features/library", as_user=caller, value=True).status_code == (refusal or 201)
        assert api.post("/features/library", as_user=caller).status_code == (refusal or 400)
        assert api.delete("/features/library", as_user=caller).status_code == (refusal or 200)


VALUES = [
    (True, "on", [ON]),
    ("true", "on", [ON]),
    (False, "off", [OFF]),
    ("false", "off", [OFF]),
    (0, "off", [OFF]),
    ("0", "off", [OFF]),
    (1, "conditional", [OFF, {"key": "percentage_of_time", "value": 1}]),
    ("50", "conditional", [OFF, {"key": "percentage_of_time", "value": 50}]),
    (100, "on", [OFF, {"key": "percentage_of_time", "value": 100}]),
]


@pytest.mark.parametrize(("value", "state", "gates"), VALUES)
def test_sets_a_flag_for_all_users(api: Api, make: Make, value: Any, state: str, gates: list[Any]) -> None:
    for _ in range(2):
        assert _set(api, make, value) == {"name": "library", "state": state, "gates": gates}


def test_a_list_of_users_takes_one_statement(instance: Instance, api: Api, make: Make) -> None:
    """Attack: a list of many names."""
    users = [make.user() for _ in range(20)]

    def statements(names: list[str]) -> int:
        before = executed(instance.app.database)
        _set(api, make, True, user=",".join(names))
        return executed(instance.app.database) - before

    statements([users[0].username])
    assert statements([user.username for user in users]) < statements([users[0].username]) + len(users) // 2
    refused = api.post("/features/library", as_user=make.root, value=True, user="a," * 5_001)
    assert refused.status_code == 400
    assert refused.json() == {"message": {"user": ["is too long (maximum is 10000 characters)"]}}


def test_sets_a_flag_for_some_users(api: Api, make: Make) -> None:
    user, other = make.user(), make.user()
    group = {"key": "groups", "value": ["perf_team"]}

    feature = _set(api, make, True, user=user.username)
    assert feature["state"] == "conditional"
    assert feature["gates"] == [OFF, {"key": "actors", "value": [f"User:{user.id}"]}]

    feature = _set(api, make, True, user=f"{other.username.upper()}, {user.username}", feature_group="perf_team")
    assert feature["gates"] == [OFF, group, {"key": "actors", "value": [f"User:{user.id}", f"User:{other.id}"]}]

    feature = _set(api, make, False, user=user.username)
    assert feature["gates"] == [OFF, group, {"key": "actors", "value": [f"User:{other.id}"]}]

    feature = _set(api, make, False, user=other.username, feature_group="perf_team")
    assert feature == {"name": "library", "state": "off", "gates": [OFF]}


def test_enabling_for_all_keeps_other_gates_and_disabling_clears_them(api: Api, make: Make) -> None:
    user = make.user()
    _set(api, make, 30)
    _set(api, make, True, user=user.username)

    opened = _set(api, make, True)
    assert opened["state"] == "on"
    assert opened["gates"] == [
        ON,
        {"key": "actors", "value": [f"User:{user.id}"]},
        {"key": "percentage_of_time", "value": 30},
    ]
    assert _set(api, make, False) == {"name": "library", "state": "off", "gates": [OFF]}


UNKNOWN_TARGETS = [
    ({"user": "no-such-person"}, "user"),
    ({"user": ""}, "user"),
    ({"user": "root, no-such-person"}, "user"),
    ({"user": "root,"}, "user"),
    ({"user": ["root"]}, "user"),
    ({"user": "a\0b"}, "user"),
    ({"feature_group": ""}, "feature_group"),
    ({"feature_group": "a\nb"}, "feature_group"),
    ({"feature_group": "x" * 256}, "feature_group"),
    ({"group": "some-group"}, "group"),
    ({"project": "some-group/some-project"}, "project"),
    ({"namespace": "some-group"}, "namespace"),
    ({"repository": "some-group/some-project.git"}, "repository"),
    ({"key": "percentage_of_actors"}, "key"),
]


@pytest.mark.parametrize(("target", "named"), UNKNOWN_TARGETS)
def test_an_unknown_target_never_means_all_users(api: Api, make: Make, target: dict[str, Any], named: str) -> None:
    refused = api.post("/features/library", as_user=make.root, value=True, **target)

    assert refused.status_code == 400
    assert list(refused.json()["message"]) == [named]
    assert api.get("/features", as_user=make.root).json() == []


@pytest.mark.parametrize("value", ["perhaps", "", -1, 101, 1000, 12.5, [True], {"a": 1}, 10**30, "٣"])
def test_invalid_values_are_rejected(api: Api, make: Make, value: Any) -> None:
    _set(api, make, 30)

    refused = api.post("/features/library", as_user=make.root, value=value)

    assert refused.status_code == 400
    assert list(refused.json()["message"]) == ["value"]
    assert api.get("/features", as_user=make.root).json()[0]["state"] == "conditional"


def test_a_percentage_applies_to_all_users(api: Api, make: Make) -> None:
    refused = api.post("/features/library", as_user=make.root, value=50, user="root")

    assert refused.status_code == 400
    assert list(refused.json()["message"]) == ["value"]


def test_a_value_is_required(api: Api, make: Make) -> None:
    for sent in ({}, {"value": None}):
        refused = api.post("/features/library", as_user=make.root, **sent)
        assert refused.json() == {"message": '400 (Bad request) "value" not given'}


def test_list_is_sorted_by_name(api: Api, make: Make) -> None:
    assert api.get("/features", as_user=make.root).json() == []
    for name in ("zebra", "ape", "größe%20%2F%20寿司"):
        assert api.post(f"/features/{name}", as_user=make.root, value=True).status_code == 201

    names = [feature["name"] for feature in api.get("/features", as_user=make.root).json()]

    assert names == ["ape", "größe / 寿司", "zebra"]
    for name in ("ape", "größe%20%2F%20寿司"):
        assert api.delete(f"/features/{name}", as_user=make.root).json()["state"] == "on"


@pytest.mark.parametrize("name", ["%0A", "a%1Fb", "%20", "x" * 256])
def test_invalid_names_are_rejected(api: Api, make: Make, name: str) -> None:
    assert api.post(f"/features/{name}", as_user=make.root, value=True).json() == {"message": {"name": ["is invalid"]}}
    assert api.delete(f"/features/{name}", as_user=make.root).status_code == 400


def test_delete_is_idempotent(api: Api, make: Make) -> None:
    feature = _set(api, make, True)

    first = api.delete("/features/library", as_user=make.root)
    second = api.delete("/features/library", as_user=make.root)

    assert (first.status_code, first.json()) == (200, feature)
    assert (second.status_code, second.content) == (200, b"")
    assert api.get("/features", as_user=make.root).json() == []


def test_a_double_slash_counts_as_one(api: Api, make: Make) -> None:
    """This is how python-gitlab writes the path."""
    assert api.post("/features//library", as_user=make.root, value=30).json()["state"] == "conditional"
    assert [feature["name"] for feature in api.get("/features/", as_user=make.root).json()] == ["library"]
    assert api.delete("/features//library", as_user=make.root).json()["name"] == "library"
    for caller, refusal in ((None, 401), (make.user(), 403), (make.root, None)):
        assert api.post("/features//library", as_user=caller, value=True).status_code == (refusal or 201)
        assert api.delete("/features//library", as_user=caller).status_code == (refusal or 200)


def test_no_features_are_defined(api: Api, make: Make) -> None:
    assert api.get("/features/definitions", as_user=make.root).json() == []
    assert api.get("/features/definitions", as_user=make.user()).status_code == 403
