"""Issues of a project that was deleted are gone at once, though their rows go later."""

from typing import Any

import pytest

from tests.casting import Cast, project_with
from tests.client import Api, Make
from tests.making import Project, make_project

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
def cast(make: Make) -> Cast:
    """People who belonged to what is gone, and a stranger."""
    return Cast(make)


@pytest.fixture(scope="module")
def other(api: Api, make: Make, cast: Cast) -> Project:
    """A project that stays, with an issue that what is gone was linked to and spoke of."""
    stays = make_project(make, cast.owner, visibility="public")
    api.post(f"{stays.url}/issues", cast.owner, title="Stays")
    gone = project_with(make, cast, visibility="public")
    milestone = api.post(f"{gone.url}/milestones", cast.owner, title="Vanishing milestone").json()
    wanted: dict[str, Any] = {
        "title": f"{WORD} issue",
        "description": f"{stays.path}#1 for @{cast.stranger.username}",
        "labels": "vanishing-label",
        "milestone_id": milestone["id"],
        "assignee_ids": [cast.developer.id],
    }
    api.post(f"{gone.url}/issues", cast.owner, **wanted)
    link = {"target_project_id": gone.id, "target_issue_iid": 1}
    assert api.post(f"{stays.url}/issues/1/links", cast.owner, **link).status_code == 201
    assert api.delete(gone.url, cast.owner).status_code == 200
    return stays


@pytest.mark.parametrize("role", ["administrator", "owner", "developer", "guest", "stranger"])
def test_nothing_of_it_is_listed(api: Api, cast: Cast, other: Project, role: str) -> None:
    for path in (*LISTS, f"{other.url}/issues/1/links"):
        answer = api.get(path, cast[role])
        assert answer.status_code == 200
        assert WORD not in answer.text, path
    counts = api.get(f"/issues_statistics?scope=all&search={WORD}", cast[role]).json()["statistics"]["counts"]
    assert counts == {"all": 0, "closed": 0, "opened": 0}


@pytest.mark.parametrize("role", ["administrator", "owner", "developer", "stranger"])
def test_nobody_reads_where_it_spoke_of_others(api: Api, cast: Cast, other: Project, role: str) -> None:
    assert api.get(f"{other.url}/issues/1/notes", cast[role]).json() == []
