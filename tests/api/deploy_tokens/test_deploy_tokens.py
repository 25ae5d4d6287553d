"""Deploy tokens of projects and groups."""

from functools import partial
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from ingot.core.access.levels import Level
from ingot.projects.deploy_tokens.queries import deploy_token_by_credentials
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import day, ids, make_group, make_project, statements_of
from tests.roles import UsersByRole, group_with, project_with

PARAMS: dict[str, Any] = {"name": "deployer", "scopes": ["read_repository"]}
PROJECT_CALLERS = [
    ("administrator", 200),
    ("owner", 200),
    ("master", 200),
    ("developer", 403),
    ("guest", 403),
    ("stranger", 404),
    ("nobody", 401),
]
GROUP_CALLERS = [
    ("administrator", 200, 200),
    ("owner", 200, 200),
    ("master", 200, 403),
    ("developer", 403, 403),
    ("stranger", 404, 404),
    ("nobody", 401, 401),
]


@pytest.mark.parametrize(("role", "status"), PROJECT_CALLERS)
def test_masters_manage_project_deploy_tokens(api: Api, make: Make, roles: UsersByRole, role: str, status: int) -> None:
    project, caller = project_with(make, roles), roles[role]
    made = api.post(f"/projects/{project.id}/deploy_tokens", caller, **PARAMS)
    assert made.status_code == (201 if status == 200 else status)
    token_id = api.post(f"/projects/{project.id}/deploy_tokens", make.root, **PARAMS).json()["id"]

    assert api.get(f"/projects/{project.id}/deploy_tokens", caller).status_code == status
    assert api.get(f"/projects/{project.id}/deploy_tokens/{token_id}", caller).status_code == status
    assert api.delete(f"/projects/{project.id}/deploy_tokens/{token_id}", caller).status_code == status
    still = api.get(f"/projects/{project.id}/deploy_tokens/{token_id}", make.root).status_code
    assert still == (404 if status == 200 else 200)


@pytest.mark.parametrize(("role", "read", "write"), GROUP_CALLERS)
def test_owners_manage_group_deploy_tokens(
    api: Api, make: Make, roles: UsersByRole, role: str, read: int, write: int
) -> None:
    group, caller = group_with(make, roles), roles[role]
    made = api.post(f"/groups/{group.id}/deploy_tokens", caller, **PARAMS)
    assert made.status_code == (201 if write == 200 else write)
    token_id = api.post(f"/groups/{group.id}/deploy_tokens", make.root, **PARAMS).json()["id"]

    assert api.get(f"/groups/{group.id}/deploy_tokens", caller).status_code == read
    assert api.get(f"/groups/{group.id}/deploy_tokens/{token_id}", caller).status_code == read
    assert api.delete(f"/groups/{group.id}/deploy_tokens/{token_id}", caller).status_code == write
    assert (token_id in ids(api.get(f"/groups/{group.id}/deploy_tokens", make.root))) == (write != 200)


@pytest.mark.parametrize(("role", "status"), [("administrator", 200), ("owner", 403), ("nobody", 401)])
def test_only_administrators_list_all_deploy_tokens(
    api: Api, make: Make, roles: UsersByRole, role: str, status: int
) -> None:
    project, group = project_with(make, roles), group_with(make, roles)
    made = [
        api.post(f"/projects/{project.id}/deploy_tokens", make.root, **PARAMS).json()["id"],
        api.post(f"/groups/{group.id}/deploy_tokens", make.root, **PARAMS).json()["id"],
    ]
    answer = api.get("/deploy_tokens", roles[role], per_page=100)
    assert answer.status_code == status
    if status == 200:
        assert set(made) <= set(ids(answer))


def test_the_secret_is_shown_once_and_stored_as_a_digest(
    api: Api, make: Make, roles: UsersByRole, instance: Instance
) -> None:
    """Attack: a caller who may list tokens, or has a copy of the database, fetches with them."""
    project = project_with(make, roles)
    made = api.post(f"/projects/{project.id}/deploy_tokens", roles.owner, **PARAMS).json()
    secret = made["token"]
    assert made == {
        "id": made["id"],
        "name": "deployer",
        "username": f"gitlab+deploy-token-{made['id']}",
        "expires_at": None,
        "scopes": ["read_repository"],
        "expired": False,
        "active": True,
        "revoked": False,
        "token": secret,
    }
    token_id = made["id"]
    for answer in (
        api.get(f"/projects/{project.id}/deploy_tokens", roles.owner),
        api.get(f"/projects/{project.id}/deploy_tokens/{token_id}", roles.owner),
        api.get("/deploy_tokens", make.root, per_page=100),
    ):
        assert answer.status_code == 200
        assert secret not in answer.text and '"token"' not in answer.text
    rows = instance.app.database.read(lambda db: db.rows(text("SELECT * FROM deploy_tokens")))
    assert secret not in repr(rows)
    assert secret not in instance.log.getvalue()


def test_deploy_token_authentication(api: Api, make: Make, roles: UsersByRole, instance: Instance) -> None:
    """User name and secret must match; both become invalid on expiry, revocation, or deletion of the project."""
    project, other = project_with(make, roles), project_with(make, roles)
    where = f"/projects/{project.id}/deploy_tokens"
    own = api.post(where, roles.owner, **PARAMS).json()
    named = api.post(where, roles.owner, **PARAMS, username="robot+1", expires_at="2030-01-02").json()
    doomed = api.post(f"/projects/{other.id}/deploy_tokens", roles.owner, **PARAMS).json()

    def authenticates(made: dict[str, Any], username: str | None = None) -> int | None:
        held = instance.app.database.read(
            lambda db: deploy_token_by_credentials(
                db, made["username"] if username is None else username, made["token"]
            )
        )
        return held.project_id if held else None

    assert (authenticates(own), authenticates(named), authenticates(doomed)) == (project.id, project.id, other.id)
    assert authenticates(own, named["username"]) is None
    assert authenticates({**own, "token": own["token"][:-1]}) is None
    assert named["username"] == "robot+1"
    with day(instance, "2030-01-02"):
        assert (authenticates(own), authenticates(named)) == (project.id, None)
        shown = {each["id"]: each for each in api.get(where, make.root).json()}
        assert (shown[named["id"]]["expired"], shown[named["id"]]["active"]) == (True, False)
        assert ids(api.get(where, make.root, active=True)) == [own["id"]]
        assert ids(api.get(where, make.root, active=False)) == [named["id"]]
    assert api.delete(f"/projects/{other.id}", roles.owner).status_code == 200
    assert authenticates(doomed) is None
    assert doomed["id"] not in ids(api.get("/deploy_tokens", make.root, per_page=100))
    for _ in range(2):
        gone = api.delete(f"{where}/{own['id']}", roles.owner)
        assert (gone.status_code, gone.content) == (200, b"")
    assert authenticates(own) is None


REFUSED = [
    ({"scopes": ["read_repository"]}, '400 (Bad request) "name" not given'),
    ({"name": "x"}, '400 (Bad request) "scopes" not given'),
    ({"name": " ", "scopes": ["read_registry"]}, {"name": ["can't be blank"]}),
    ({"name": "x" * 256, "scopes": ["read_registry"]}, {"name": ["is too long (maximum is 255 characters)"]}),
    ({"name": "x", "scopes": []}, {"scopes": ["can't be blank"]}),
    ({"name": "x", "scopes": ["api"]}, {"scopes": ["is invalid"]}),
    ({"name": "x", "scopes": 7}, {"scopes": ["is invalid"]}),
    ({**PARAMS, "expires_at": "soon"}, {"expires_at": ["is invalid"]}),
    ({**PARAMS, "username": "Zoë"}, {"username": ["can contain only letters, digits, '_', '-', '+' and '.'"]}),
    ({**PARAMS, "username": "x" * 256}, {"username": ["is too long (maximum is 255 characters)"]}),
]


@pytest.mark.parametrize(("sent", "message"), REFUSED, ids=lambda value: str(value)[:40])
def test_invalid_deploy_tokens_are_rejected(
    api: Api, make: Make, roles: UsersByRole, sent: dict[str, Any], message: object
) -> None:
    group = group_with(make, roles)
    answer = api.post(f"/groups/{group.id}/deploy_tokens", roles.owner, **sent)
    assert (answer.status_code, answer.json()["message"]) == (400, message)
    assert api.get(f"/groups/{group.id}/deploy_tokens", roles.owner).json() == []


def test_a_deploy_token_outlives_its_author(api: Api, make: Make, instance: Instance) -> None:
    """It belongs to the project; a maintainer revokes it."""
    author, maintainer = make.user(), make.user()
    project = make_project(
        make,
        members={author: Level.MASTER, maintainer: Level.MASTER},
        visibility="private",
        initialize_with_readme=True,
    )
    made = api.post(f"{project.url}/deploy_tokens", author, **PARAMS).json()
    refs = f"{instance.url}/{project.path}.git/info/refs?service=git-upload-pack"
    credentials = (made["username"], made["token"])
    assert api.post(f"/users/{author.id}/block", make.root).status_code == 201
    assert httpx.get(refs, auth=credentials).status_code == 200
    push = refs.replace("upload", "receive")
    assert httpx.get(push, auth=credentials).status_code == 403
    assert api.delete(f"{project.url}/deploy_tokens/{made['id']}", maintainer).status_code in (200, 204)
    assert httpx.get(refs, auth=credentials).status_code == 401


def test_scopes_may_be_a_string_and_are_deduplicated(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    sent = {"name": "日本", "scopes": "read_registry,write_registry,read_registry", "expires_at": "2001-01-01"}
    made = api.post(f"/projects/{project.id}/deploy_tokens", roles.owner, **sent).json()
    assert made["scopes"] == ["read_registry", "write_registry"]
    assert (made["name"], made["expires_at"], made["expired"]) == ("日本", "2001-01-01T00:00:00.000Z", True)


def test_a_token_is_found_only_under_its_owner(api: Api, make: Make, roles: UsersByRole) -> None:
    project, other = project_with(make, roles), make_project(make, roles.stranger)
    group = make_group(make, roles.stranger)
    token_id = api.post(f"/projects/{project.id}/deploy_tokens", roles.owner, **PARAMS).json()["id"]
    for where in (f"/projects/{other.id}/deploy_tokens", f"/groups/{group.id}/deploy_tokens"):
        assert api.get(f"{where}/{token_id}", roles.stranger).status_code == 404
        assert api.delete(f"{where}/{token_id}", roles.stranger).status_code == 200
        assert api.get(f"{where}/none", roles.stranger).status_code == 400
    assert api.get(f"/projects/{project.id}/deploy_tokens/{token_id}", roles.owner).status_code == 200


def test_an_archived_project_is_read_only(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    token_id = api.post(f"/projects/{project.id}/deploy_tokens", roles.owner, **PARAMS).json()["id"]
    api.post(f"/projects/{project.id}/archive", roles.owner)
    for caller in (roles.owner, make.root):
        assert api.get(f"/projects/{project.id}/deploy_tokens/{token_id}", caller).status_code == 200
        assert api.post(f"/projects/{project.id}/deploy_tokens", caller, **PARAMS).status_code == 403
        assert api.delete(f"/projects/{project.id}/deploy_tokens/{token_id}", caller).status_code == 403


def test_list_is_paginated_with_constant_statements(api: Api, make: Make, roles: UsersByRole) -> None:
    project = project_with(make, roles)
    for _ in range(5):
        api.post(f"/projects/{project.id}/deploy_tokens", roles.owner, **PARAMS)
    where = f"/projects/{project.id}/deploy_tokens"
    assert api.get(where, roles.owner, per_page=2).headers["x-total-pages"] == "3"
    few, many = (statements_of(make, partial(api.get, where, roles.owner, per_page=n)) for n in (1, 100))
    assert many <= few
