"""Variables of projects, groups and the instance."""

from functools import partial

import pytest
from sqlalchemy import text

from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project, statements_of
from tests.roles import UsersByRole, group_with, project_with

PROJECT_CALLERS = [
    ("administrator", 200),
    ("owner", 200),
    ("master", 200),
    ("developer", 403),
    ("reporter", 403),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]
GROUP_CALLERS = [
    ("administrator", 200),
    ("owner", 200),
    ("master", 403),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]


@pytest.mark.parametrize(("role", "status"), PROJECT_CALLERS)
def test_masters_manage_the_variables_of_a_project(
    api: Api, make: Make, roles: UsersByRole, role: str, status: int
) -> None:
    project = project_with(make, roles)
    caller = roles[role]
    made = api.post(f"/projects/{project.id}/variables", caller, key="KEY", value="value")
    assert made.status_code == (201 if status == 200 else status)
    api.post(f"/projects/{project.id}/variables", make.root, key="KEY", value="value")

    assert api.get(f"/projects/{project.id}/variables", caller).status_code == status
    assert api.get(f"/projects/{project.id}/variables/KEY", caller).status_code == status
    assert api.put(f"/projects/{project.id}/variables/KEY", caller, value="other").status_code == status
    now = api.get(f"/projects/{project.id}/variables/KEY", make.root).json()
    assert now["value"] == ("other" if status == 200 else "value")
    assert api.delete(f"/projects/{project.id}/variables/KEY", caller).status_code == status
    left = api.get(f"/projects/{project.id}/variables", make.root).json()
    assert len(left) == (0 if status == 200 else 1)


@pytest.mark.parametrize(("role", "status"), GROUP_CALLERS)
def test_owners_manage_the_variables_of_a_group(
    api: Api, make: Make, roles: UsersByRole, role: str, status: int
) -> None:
    group = group_with(make, roles)
    caller = roles[role]
    made = api.post(f"/groups/{group.id}/variables", caller, key="KEY", value="value")
    assert made.status_code == (201 if status == 200 else status)
    api.post(f"/groups/{group.id}/variables", make.root, key="KEY", value="value")

    assert api.get(f"/groups/{group.id}/variables", caller).status_code == status
    assert api.get(f"/groups/{group.id}/variables/KEY", caller).status_code == status
    assert api.put(f"/groups/{group.id}/variables/KEY", caller, value="other").status_code == status
    assert api.delete(f"/groups/{group.id}/variables/KEY", caller).status_code == status
    left = api.get(f"/groups/{group.id}/variables", make.root).json()
    assert len(left) == (0 if status == 200 else 1)


@pytest.mark.parametrize(("role", "status"), [("administrator", 200), ("owner", 403), ("nobody", 401)])
def test_administrators_manage_instance_variables(
    api: Api, make: Make, roles: UsersByRole, role: str, status: int
) -> None:
    caller = roles[role]
    made = api.post("/admin/ci/variables", caller, key="INSTANCE_KEY", value="value", environment_scope="production")
    assert made.status_code == (201 if status == 200 else status)
    api.post("/admin/ci/variables", make.root, key="INSTANCE_KEY", value="value")
    key = "INSTANCE_KEY"

    assert api.get("/admin/ci/variables", caller).status_code == status
    assert api.get(f"/admin/ci/variables/{key}", caller).status_code == status
    assert api.put(f"/admin/ci/variables/{key}", caller, value="other").status_code == status
    assert "environment_scope" not in api.get(f"/admin/ci/variables/{key}", make.root).json()
    assert api.post("/admin/ci/variables", make.root, key=key, value="again").status_code == 400
    assert api.delete(f"/admin/ci/variables/{key}", caller).status_code == status
    assert api.delete(f"/admin/ci/variables/{key}", make.root).status_code == 200


def test_a_variable_has_all_fields(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    plain = api.post(f"/projects/{project.id}/variables", roles.owner, key="PLAIN", value="")
    assert plain.status_code == 201
    assert plain.json() == {
        "variable_type": "env_var",
        "key": "PLAIN",
        "value": "",
        "hidden": False,
        "protected": False,
        "masked": False,
        "raw": False,
        "description": None,
        "environment_scope": "*",
    }
    sent = {
        "variable_type": "file",
        "key": "FULL",
        "value": "grüße, 世界\n",
        "protected": True,
        "raw": True,
        "description": "für alle",
        "environment_scope": "review/*",
    }
    full = api.post(f"/projects/{project.id}/variables", roles.owner, **sent)
    assert full.json() == {**sent, "masked": False, "hidden": False}
    assert api.get(f"/projects/{project.id}/variables/FULL", roles.owner).json() == full.json()
    kept = api.put(f"/projects/{project.id}/variables/FULL", roles.owner, description=None)
    assert kept.json() == {**full.json(), "description": None}
    assert [each["key"] for each in api.get(f"/projects/{project.id}/variables", roles.owner).json()] == [
        "PLAIN",
        "FULL",
    ]


REFUSED = [
    ({"value": "x"}, '400 (Bad request) "key" not given'),
    ({"key": "KEY"}, '400 (Bad request) "value" not given'),
    ({"key": "", "value": "x"}, {"key": ["can't be blank"]}),
    ({"key": "A-B", "value": "x"}, {"key": ["can contain only letters, digits and '_'."]}),
    ({"key": "ключ", "value": "x"}, {"key": ["can contain only letters, digits and '_'."]}),
    ({"key": "K" * 256, "value": "x"}, {"key": ["is too long (maximum is 255 characters)"]}),
    ({"key": "KEY", "value": "x" * 65_536}, {"value": ["is too long (maximum is 65535 characters)"]}),
    ({"key": "KEY", "value": {"a": 1}}, {"value": ["is invalid"]}),
    ({"key": "KEY", "value": "x\0y"}, {"value": ["is invalid"]}),
    ({"key": "KEY", "value": "x", "protected": "perhaps"}, {"protected": ["is invalid"]}),
    ({"key": "KEY", "value": "x", "variable_type": "secret"}, {"variable_type": ["is invalid"]}),
    ({"key": "KEY", "value": "short", "masked": True}, {"value": ["is invalid"]}),
    ({"key": "KEY", "value": "has a space", "masked": True}, {"value": ["is invalid"]}),
    ({"key": "KEY", "value": "money$$$$", "masked": True}, {"value": ["is invalid"]}),
    ({"key": "KEY", "value": "a space and raw", "masked": True, "raw": True}, {"value": ["is invalid"]}),
    ({"key": "KEY", "value": "x", "environment_scope": ""}, {"environment_scope": ["can't be blank"]}),
    (
        {"key": "KEY", "value": "x", "environment_scope": "a;b"},
        {"environment_scope": ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"]},
    ),
    (
        {"key": "KEY", "value": "x", "description": "d" * 256},
        {"description": ["is too long (maximum is 255 characters)"]},
    ),
]


@pytest.mark.parametrize(("sent", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_invalid_variables_are_rejected(
    api: Api, make: Make, roles: UsersByRole, sent: dict[str, object], message: object
) -> None:
    project = project_with(make, roles)
    answer = api.post(f"/projects/{project.id}/variables", roles.owner, **sent)
    assert answer.status_code == 400
    assert answer.json()["message"] == message
    good = api.post(
        f"/projects/{project.id}/variables", roles.owner, key="KEY", value="money$$$$", masked=True, raw=True
    )
    assert good.status_code == 201
    assert api.put(f"/projects/{project.id}/variables/KEY", roles.owner, raw=False).status_code == 400


def test_a_key_may_have_one_value_per_scope(api: Api, make: Make, roles: UsersByRole) -> None:
    """The key alone is then ambiguous."""
    project = project_with(make, roles)
    where = f"/projects/{project.id}/variables"
    for scope, value in (("*", "all"), ("production", "live")):
        assert api.post(where, roles.owner, key="KEY", value=value, environment_scope=scope).status_code == 201
    again = api.post(where, roles.owner, key="KEY", value="x", environment_scope="production")
    assert (again.status_code, again.json()["message"]) == (400, {"key": ["(KEY) has already been taken"]})

    for answer in (
        api.get(f"/projects/{project.id}/variables/KEY", roles.owner),
        api.put(f"/projects/{project.id}/variables/KEY", roles.owner, value="x"),
        api.delete(f"/projects/{project.id}/variables/KEY", roles.owner),
    ):
        assert answer.status_code == 409
    live = {"filter[environment_scope]": "production"}
    assert api.get(f"{where}/KEY", roles.owner, **live).json()["value"] == "live"
    assert api.get(f"{where}/KEY", roles.owner, **{"filter[environment_scope]": "test"}).status_code == 404
    assert api.get(f"{where}/KEY", roles.owner, filter="production").status_code == 400
    clash = api.put(f"{where}/KEY", roles.owner, filter={"environment_scope": "production"}, environment_scope="*")
    assert clash.status_code == 400
    moved = api.put(f"{where}/KEY", roles.owner, filter={"environment_scope": "production"}, environment_scope="stage")
    assert (moved.json()["environment_scope"], moved.json()["value"]) == ("stage", "live")
    assert api.delete(f"{where}/KEY", roles.owner, **{"filter[environment_scope]": "stage"}).status_code == 200
    assert api.get(f"{where}/KEY", roles.owner).json()["value"] == "all"


def test_delete_is_idempotent(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    api.post(f"/projects/{project.id}/variables", roles.owner, key="KEY", value="x")
    for _ in range(2):
        gone = api.delete(f"/projects/{project.id}/variables/KEY", roles.owner)
        assert (gone.status_code, gone.content) == (200, b"")
    assert api.get(f"/projects/{project.id}/variables/KEY", roles.owner).status_code == 404
    assert api.put(f"/projects/{project.id}/variables/KEY", roles.owner, value="x").status_code == 404


def test_a_hidden_value_is_never_shown(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    where = f"/projects/{project.id}/variables"
    made = api.post(where, roles.owner, key="KEY", value="hidden-value", masked_and_hidden=True)
    assert (made.json()["value"], made.json()["hidden"], made.json()["masked"]) == (None, True, True)
    assert "hidden-value" not in api.get(where, roles.owner).text
    assert api.put(f"{where}/KEY", roles.owner, masked=False).status_code == 400
    assert "another-value" not in api.put(f"{where}/KEY", roles.owner, value="another-value").text


def test_values_are_sealed_at_rest(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    """Attack: a copy of the database reveals the secrets of every project."""
    project = project_with(make, roles)
    api.post(f"/projects/{project.id}/variables", roles.owner, key="KEY", value="plain-secret-value")
    rows = instance.app.database.read(lambda db: db.rows(text("SELECT * FROM variables")))
    assert rows
    assert b"plain-secret-value" not in b"".join(bytes(cell) for row in rows for cell in row if isinstance(cell, bytes))
    assert "plain-secret-value" not in repr([[cell for cell in row if isinstance(cell, str)] for row in rows])
    assert "plain-secret-value" not in instance.log.getvalue()


def test_variables_of_other_projects_are_not_found(api: Api, make: Make, roles: UsersByRole) -> None:
    project, other = project_with(make, roles), make_project(make, roles.stranger, visibility="private")
    api.post(f"/projects/{project.id}/variables", roles.owner, key="KEY", value="x")
    assert api.get(f"/projects/{other.id}/variables/KEY", roles.stranger).status_code == 404
    assert api.delete(f"/projects/{other.id}/variables/KEY", roles.stranger).status_code == 200
    assert api.get(f"/projects/{project.id}/variables/KEY", roles.owner).status_code == 200


@pytest.mark.parametrize(("edit", "read", "write"), [("archive", 200, 403), ("jobs", 403, 403)])
def test_archived_projects_are_read_only_and_disabled_jobs_hide_variables(
    api: Api, make: Make, roles: UsersByRole, edit: str, read: int, write: int
) -> None:
    project = project_with(make, roles)
    api.post(f"/projects/{project.id}/variables", roles.owner, key="KEY", value="x")
    if edit == "archive":
        api.post(f"/projects/{project.id}/archive", roles.owner)
    else:
        api.put(f"/projects/{project.id}", roles.owner, jobs_enabled=False)
    for caller in (roles.owner, make.root):
        assert api.get(f"/projects/{project.id}/variables", caller).status_code == read
        assert api.post(f"/projects/{project.id}/variables", caller, key="NEW", value="x").status_code == write
        assert api.put(f"/projects/{project.id}/variables/KEY", caller, value="y").status_code == write
        assert api.delete(f"/projects/{project.id}/variables/KEY", caller).status_code == write


def test_list_is_paginated_with_constant_statements(api: Api, make: Make, roles: UsersByRole) -> None:
    group = make_group(make, roles.owner)
    for number in range(7):
        api.post(f"/groups/{group.id}/variables", roles.owner, key=f"KEY_{number}", value="x")
    page = api.get(f"/groups/{group.id}/variables", roles.owner, per_page=3, page=2)
    assert [each["key"] for each in page.json()] == ["KEY_3", "KEY_4", "KEY_5"]
    assert (page.headers["x-total"], page.headers["x-next-page"]) == ("7", "3")
    few, many = (
        statements_of(make, partial(api.get, f"/groups/{group.id}/variables", roles.owner, per_page=size))
        for size in (1, 100)
    )
    assert many <= few
