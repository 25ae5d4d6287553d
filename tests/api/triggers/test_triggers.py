"""Pipeline triggers."""

from functools import partial
from typing import Any

import pytest
from sqlalchemy import text

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project, statements_of
from tests.roles import UsersByRole, project_with

CALLERS = [
    ("administrator", 200),
    ("owner", 200),
    ("master", 200),
    ("developer", 403),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]


@pytest.mark.parametrize(("role", "status"), CALLERS)
def test_masters_manage_triggers(api: Api, make: Make, roles: UsersByRole, role: str, status: int) -> None:
    project, caller = project_with(make, roles), roles[role]
    made = api.post(f"/projects/{project.id}/triggers", caller, description="nightly")
    assert made.status_code == (201 if status == 200 else status)
    trigger_id = api.post(f"/projects/{project.id}/triggers", make.root, description="nightly").json()["id"]

    assert api.get(f"/projects/{project.id}/triggers", caller).status_code == status
    assert api.get(f"/projects/{project.id}/triggers/{trigger_id}", caller).status_code == status
    assert api.put(f"/projects/{project.id}/triggers/{trigger_id}", caller, description="x").status_code == status
    taken = api.post(f"/projects/{project.id}/triggers/{trigger_id}/take_ownership", caller)
    assert taken.status_code == status
    now = api.get(f"/projects/{project.id}/triggers/{trigger_id}", make.root).json()
    assert now["description"] == ("x" if status == 200 else "nightly")
    assert now["owner"]["id"] == (caller.id if caller and status == 200 else make.root.id)
    deleted = api.delete(f"/projects/{project.id}/triggers/{trigger_id}", caller)
    assert (deleted.status_code, deleted.json().get("id")) == (status, trigger_id if status == 200 else None)
    left = api.get(f"/projects/{project.id}/triggers/{trigger_id}", make.root).status_code
    assert left == (404 if status == 200 else 200)


def test_only_the_owner_reads_the_token(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    """Attack: another master, or a reader of the database, starts pipelines in the owner's name."""
    project = project_with(make, roles)
    made = api.post(f"/projects/{project.id}/triggers", roles.owner, description="für Nächte").json()
    trigger_id, token = made["id"], made["token"]
    assert made == {
        "id": trigger_id,
        "token": token,
        "description": "für Nächte",
        "created_at": made["created_at"],
        "updated_at": made["created_at"],
        "deleted_at": None,
        "last_used": None,
        "owner": made["owner"],
    }
    assert (len(token), made["owner"]["username"]) == (30, roles.owner.username)
    assert api.get(f"/projects/{project.id}/triggers/{trigger_id}", roles.owner).json() == made
    for person in (roles.master, make.root):
        for answer in (
            api.get(f"/projects/{project.id}/triggers", person).json()[0],
            api.get(f"/projects/{project.id}/triggers/{trigger_id}", person).json(),
            api.put(f"/projects/{project.id}/triggers/{trigger_id}", person, description="x").json(),
        ):
            assert answer["token"] == token[:4]
    rows = instance.app.database.read(lambda db: db.rows(text("SELECT * FROM triggers")))
    assert token not in repr(rows)

    taken = api.post(f"/projects/{project.id}/triggers/{trigger_id}/take_ownership", roles.master).json()
    assert (taken["token"], taken["owner"]["id"]) == (token, roles.master.id)
    assert api.get(f"/projects/{project.id}/triggers/{trigger_id}", roles.owner).json()["token"] == token[:4]
    assert token not in instance.log.getvalue()


def test_a_trigger_outlives_its_owner(api: Api, make: Make, roles: UsersByRole) -> None:
    person = make.user()
    project = make_project(make, roles.owner, members={person: 40})
    trigger_id = api.post(f"/projects/{project.id}/triggers", person, description="x").json()["id"]
    assert api.delete(f"/users/{person.id}", make.root).status_code in (200, 204)
    left = api.get(f"/projects/{project.id}/triggers/{trigger_id}", roles.owner).json()
    assert (left["owner"], len(left["token"])) == (None, 4)


REFUSED: list[tuple[dict[str, Any], object]] = [
    ({}, '400 (Bad request) "description" not given'),
    ({"description": " "}, {"description": ["can't be blank"]}),
    ({"description": "x" * 256}, {"description": ["is too long (maximum is 255 characters)"]}),
    ({"description": {"a": "b"}}, {"description": ["is invalid"]}),
]


@pytest.mark.parametrize(("sent", "message"), REFUSED, ids=lambda value: str(value)[:30])
def test_invalid_triggers_are_rejected(
    api: Api, make: Make, roles: UsersByRole, sent: dict[str, Any], message: object
) -> None:
    project = project_with(make, roles)
    answer = api.post(f"/projects/{project.id}/triggers", roles.owner, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    trigger_id = api.post(f"/projects/{project.id}/triggers", roles.owner, description="x").json()["id"]
    edited = api.put(f"/projects/{project.id}/triggers/{trigger_id}", roles.owner, **sent)
    assert edited.status_code == (400 if sent else 200)


def test_a_trigger_is_found_only_in_its_project(api: Api, make: Make, roles: UsersByRole) -> None:
    project, other = project_with(make, roles), make_project(make, roles.stranger)
    trigger_id = api.post(f"/projects/{project.id}/triggers", roles.owner, description="x").json()["id"]
    where = f"/projects/{other.id}/triggers/{trigger_id}"
    assert api.get(where, roles.stranger).status_code == 404
    assert api.put(where, roles.stranger, description="y").status_code == 404
    assert api.post(f"{where}/take_ownership", roles.stranger).status_code == 404
    for _ in range(2):
        assert api.delete(where, roles.stranger).status_code == 200
    assert api.get(f"/projects/{other.id}/triggers/x", roles.stranger).status_code == 400
    assert api.get(f"/projects/{project.id}/triggers/{trigger_id}", roles.owner).status_code == 200


@pytest.mark.parametrize(("edit", "read", "write"), [("archive", 200, 403), ("jobs", 403, 403)])
def test_archived_projects_are_read_only_and_disabled_jobs_hide_triggers(
    api: Api, make: Make, roles: UsersByRole, edit: str, read: int, write: int
) -> None:
    project = project_with(make, roles)
    trigger_id = api.post(f"/projects/{project.id}/triggers", roles.owner, description="x").json()["id"]
    where = f"/projects/{project.id}/triggers"
    if edit == "archive":
        api.post(f"/projects/{project.id}/archive", roles.owner)
    else:
        api.put(f"/projects/{project.id}", roles.owner, jobs_enabled=False)
    for caller in (roles.owner, make.root):
        assert api.get(f"{where}/{trigger_id}", caller).status_code == read
        assert api.post(where, caller, description="x").status_code == write
        assert api.put(f"{where}/{trigger_id}", caller, description="y").status_code == write
        assert api.post(f"{where}/{trigger_id}/take_ownership", caller).status_code == write
        assert api.delete(f"{where}/{trigger_id}", caller).status_code == write


def test_list_is_paginated_with_constant_statements(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/triggers"
    for person in (roles.owner, roles.master, make.root):
        api.post(where, person, description="x")
    assert api.get(where, roles.owner, per_page=2).headers["x-total"] == "3"
    few, many = (statements_of(make, partial(api.get, where, roles.owner, per_page=n)) for n in (1, 100))
    assert many <= few
