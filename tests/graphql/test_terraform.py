"""Terraform states in GraphQL."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Make, User
from tests.factories import Project, add_members, make_project
from tests.graphql.conftest import Graphql

_STATES = """query($path: ID!, $name: String!) { project(fullPath: $path) {
  terraformState(name: $name) { id name }
  terraformStates(first: 5) { count nodes {
    id name lockedAt lockedByUser { username } createdAt updatedAt deletedAt
    latestVersion { id serial downloadPath createdAt updatedAt createdByUser { username } job { id } }
  } }
} }"""


def _mutation(name: str) -> str:
    return f"mutation($id: TerraformStateID!) {{ {name}(input: {{id: $id}}) {{ errors }} }}"


def _states(graphql: Graphql, user: User, project: Project, name: str = "production") -> dict[str, Any]:
    found: dict[str, Any] = graphql.data(_STATES, user, path=project.path, name=name)["project"]
    return found


@pytest.fixture
def owner(make: Make) -> User:
    """Return the owner of the project."""
    return make.user()


@pytest.fixture
def project(make: Make, owner: User) -> Project:
    """Return a project with a state of two versions and a locked one without a version."""
    made = make_project(make, owner)
    url = f"{made.url}/terraform/state"
    for serial in (1, 2):
        sent = {"version": 4, "serial": serial, "lineage": "a"}
        assert make.api.request("POST", f"{url}/production", owner, json=sent).status_code == 200
    assert make.api.request("POST", f"{url}/empty/lock", owner, json={"ID": "x"}).status_code == 200
    return made


def test_states_of_a_project(graphql: Graphql, make: Make, owner: User, project: Project) -> None:
    data = _states(graphql, owner, project)
    assert data["terraformStates"]["count"] == 2
    empty, production = data["terraformStates"]["nodes"]
    assert (empty["lockedByUser"], empty["latestVersion"]) == ({"username": owner.username}, None)
    assert data["terraformState"] == {"id": production["id"], "name": "production"}
    version = production["latestVersion"]
    assert (version["serial"], version["createdByUser"]["username"], version["job"]) == (2, owner.username, None)
    content = make.api.get(version["downloadPath"].removeprefix("/api/v4"), owner)
    assert content.json()["serial"] == 2
    assert _states(graphql, owner, project, "absent")["terraformState"] is None
    reporter = make.user()
    add_members(make, project, {reporter: Level.REPORTER})
    assert _states(graphql, reporter, project) == {"terraformState": None, "terraformStates": None}


def test_states_are_locked_unlocked_and_deleted(graphql: Graphql, make: Make, owner: User, project: Project) -> None:
    state = _states(graphql, owner, project)["terraformState"]["id"]
    developer = make.user()
    add_members(make, project, {developer: Level.DEVELOPER})
    for name in ("terraformStateLock", "terraformStateUnlock", "terraformStateDelete"):
        assert graphql.answer(_mutation(name), developer, id=state)["errors"]
    lock, unlock, delete = (_mutation(f"terraformState{action}") for action in ("Lock", "Unlock", "Delete"))
    assert graphql.data(lock, owner, id=state)["terraformStateLock"]["errors"] == []
    assert graphql.data(lock, owner, id=state)["terraformStateLock"]["errors"] == ["state is already locked"]
    assert graphql.data(delete, owner, id=state)["terraformStateDelete"]["errors"] != []
    assert graphql.data(unlock, owner, id=state)["terraformStateUnlock"]["errors"] == []
    assert graphql.data(delete, owner, id=state)["terraformStateDelete"]["errors"] == []
    assert _states(graphql, owner, project)["terraformState"] is None
    assert graphql.answer(unlock, owner, id=state)["errors"]
