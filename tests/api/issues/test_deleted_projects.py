"""Issues of a deleted project are hidden at once, before their rows are deleted."""

from typing import Any

import pytest

from tests.client import Api, Make
from tests.factories import Project, make_project
from tests.roles import UsersByRole, project_with

WORD = "Vanishing"
LISTS = (
    f"/issues?scope=all&search={WORD}",
    "/issues?scope=all&labels=vanishing-label",
    "/issues?scope=all&milestone=Vanishing+milestone",
    "/issues?scope=assigned_to_me",
    "/issues?scope=created_by_me",
    f"/search?scope=issues&search={WORD}",
    f"/search?scope=milestones&search={WORD}",
    "/todos",
    "/events",
)


@pytest.fixture(scope="module")
def roles(make: Make) -> UsersByRole:
    """Return members of the deleted project, and another user."""
    return UsersByRole(make)


@pytest.fixture(scope="module")
def other(api: Api, make: Make, roles: UsersByRole) -> Project:
    """Return a remaining project with an issue that the deleted project linked to and mentioned."""
    stays = make_project(make, roles.owner, visibility="public")
    api.post(f"{stays.url}/issues", roles.owner, title="Stays")
    gone = project_with(make, roles, visibility="public")
    milestone = api.post(f"{gone.url}/milestones", roles.owner, title="Vanishing milestone").json()
    wanted: dict[str, Any] = {
        "title": f"{WORD} issue",
        "description": f"{stays.path}#1 for @{roles.stranger.username}",
        "labels": "vanishing-label",
        "milestone_id": milestone["id"],
        "assignee_ids": [roles.developer.id],
    }
    api.post(f"{gone.url}/issues", roles.owner, **wanted)
    link = {"target_project_id": gone.id, "target_issue_iid": 1}
    assert api.post(f"{stays.url}/issues/1/links", roles.owner, **link).status_code == 201
    assert api.delete(gone.url, roles.owner).status_code == 200
    return stays


@pytest.mark.parametrize("role", ["administrator", "owner", "developer", "guest", "stranger"])
def test_deleted_projects_are_not_listed(api: Api, roles: UsersByRole, other: Project, role: str) -> None:
    for path in (*LISTS, f"{other.url}/issues/1/links"):
        answer = api.get(path, roles[role])
        assert answer.status_code == 200
        assert WORD not in answer.text, path
    counts = api.get(f"/issues_statistics?scope=all&search={WORD}", roles[role]).json()["statistics"]["counts"]
    assert counts == {"all": 0, "closed": 0, "opened": 0}


@pytest.mark.parametrize("role", ["administrator", "owner", "developer", "stranger"])
def test_references_from_a_deleted_project_are_hidden(api: Api, roles: UsersByRole, other: Project, role: str) -> None:
    assert api.get(f"{other.url}/issues/1/notes", roles[role]).json() == []
