"""Custom attributes of projects and groups."""

from functools import partial
from typing import Any

import pytest

from tests.client import Api, Make
from tests.factories import make_group, make_project, statements_of
from tests.roles import UsersByRole

CALLERS = [("administrator", 200), ("owner", 403), ("stranger", 403), ("nobody", 401)]


@pytest.mark.parametrize(("role", "status"), CALLERS)
def test_only_administrators_set_attributes_of_projects(
    api: Api, make: Make, roles: UsersByRole, role: str, status: int
) -> None:
    project, caller = make_project(make, roles.owner, visibility="public"), roles[role]
    key = "cost centre"
    assert api.put(f"/projects/{project.id}/custom_attributes/{key}", caller, value="1").status_code == status
    api.put(f"/projects/{project.id}/custom_attributes/{key}", make.root, value="4711")

    assert api.get(f"/projects/{project.id}/custom_attributes", caller).status_code == status
    assert api.get(f"/projects/{project.id}/custom_attributes/{key}", caller).status_code == status
    assert api.delete(f"/projects/{project.id}/custom_attributes/{key}", caller).status_code == status
    left = api.get(f"/projects/{project.id}/custom_attributes", make.root).json()
    assert left == ([] if status == 200 else [{"key": key, "value": "4711"}])


@pytest.mark.parametrize(("role", "status"), CALLERS)
def test_only_administrators_set_attributes_of_groups(
    api: Api, make: Make, roles: UsersByRole, role: str, status: int
) -> None:
    group, caller = make_group(make, roles.owner, visibility="public"), roles[role]
    assert api.put(f"/groups/{group.id}/custom_attributes/key", caller, value="1").status_code == status
    api.put(f"/groups/{group.id}/custom_attributes/key", make.root, value="2")

    assert api.get(f"/groups/{group.id}/custom_attributes", caller).status_code == status
    assert api.get(f"/groups/{group.id}/custom_attributes/key", caller).status_code == status
    assert api.delete(f"/groups/{group.id}/custom_attributes/key", caller).status_code == status
    left = api.get(f"/groups/{group.id}/custom_attributes", make.root).json()
    assert left == ([] if status == 200 else [{"key": "key", "value": "2"}])


def test_a_key_has_one_value_per_object(api: Api, make: Make) -> None:
    project, other, group = make_project(make), make_project(make), make_group(make)
    for value in ("erster", "zweiter ✓", "x" * 65_535):
        for where in (f"/projects/{project.id}", f"/groups/{group.id}"):
            answer = api.put(f"{where}/custom_attributes/k%2Fü", make.root, value=value)
            assert (answer.status_code, answer.json()) == (200, {"key": "k/ü", "value": value})
    assert api.get(f"/projects/{project.id}/custom_attributes", make.root).headers["x-total"] == "1"
    assert api.get(f"/projects/{other.id}/custom_attributes/k%2Fü", make.root).status_code == 404
    for _ in range(2):
        gone = api.delete(f"/projects/{project.id}/custom_attributes/k%2Fü", make.root)
        assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"/groups/{group.id}/custom_attributes/k%2Fü", make.root).status_code == 200


REFUSED: list[tuple[str, dict[str, Any], object]] = [
    ("key", {}, '400 (Bad request) "value" not given'),
    ("key", {"value": ""}, {"value": ["can't be blank"]}),
    ("key", {"value": [1]}, {"value": ["is invalid"]}),
    ("key", {"value": "x" * 65_536}, {"value": ["is too long (maximum is 65535 characters)"]}),
    ("%20", {"value": "x"}, {"key": ["can't be blank"]}),
    ("k" * 256, {"value": "x"}, {"key": ["is too long (maximum is 255 characters)"]}),
]


@pytest.mark.parametrize(("key", "sent", "message"), REFUSED, ids=lambda value: str(value)[:30])
def test_invalid_attributes_are_rejected(api: Api, make: Make, key: str, sent: dict[str, Any], message: object) -> None:
    group = make_group(make)
    answer = api.put(f"/groups/{group.id}/custom_attributes/{key}", make.root, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)


def test_attributes_of_missing_and_archived_objects(api: Api, make: Make, roles: UsersByRole) -> None:
    assert api.get("/projects/0/custom_attributes", make.root).status_code == 404
    assert api.put("/groups/0/custom_attributes/key", make.root, value="x").status_code == 404
    project = make_project(make, roles.owner)
    api.put(f"/projects/{project.id}/custom_attributes/key", make.root, value="x")
    api.post(f"/projects/{project.id}/archive", roles.owner)
    assert api.get(f"/projects/{project.id}/custom_attributes/key", make.root).status_code == 200
    assert api.put(f"/projects/{project.id}/custom_attributes/key", make.root, value="y").status_code == 403
    assert api.delete(f"/projects/{project.id}/custom_attributes/key", make.root).status_code == 403


def test_list_is_paginated_with_constant_statements(api: Api, make: Make) -> None:
    project = make_project(make)
    for key in ("c", "a", "b"):
        api.put(f"/projects/{project.id}/custom_attributes/{key}", make.root, value="x")
    where = f"/projects/{project.id}/custom_attributes"
    page = api.get(where, make.root, per_page=2)
    assert ([each["key"] for each in page.json()], page.headers["x-total"]) == (["a", "b"], "3")
    few, many = (statements_of(make, partial(api.get, where, make.root, per_page=n)) for n in (1, 100))
    assert many <= few
