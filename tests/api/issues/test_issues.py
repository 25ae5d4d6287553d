"""Issues: creation, reading, lists, editing and permissions."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.client import Api, Make
from tests.factories import make_project


def test_create_and_read(api: Api, make: Make) -> None:
    """An issue has an iid in its project and all values that were sent."""
    owner = make.user()
    project = make_project(make, owner)
    made = api.post(
        f"/projects/{project.id}/issues",
        owner,
        title="Crash",
        description="It *fell*",
        labels="bug,ui",
        due_date="2030-01-02",
    )
    assert made.status_code == 201, made.text
    issue = made.json()
    assert (issue["iid"], issue["state"], issue["labels"], issue["due_date"]) == (
        1,
        "opened",
        ["bug", "ui"],
        "2030-01-02",
    )
    assert issue["author"]["id"] == owner.id
    assert issue["subscribed"]
    assert api.get(f"/projects/{project.id}/issues/1", owner).json() == issue
    assert api.get(f"/projects/{project.id}", owner).json()["open_issues_count"] == 1


def test_list_filters(api: Api, make: Make) -> None:
    """The filters of the specification."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, members={other: Level.REPORTER})
    base = f"/projects/{project.id}/issues"
    created: list[tuple[str, dict[str, Any]]] = [
        ("one", {"labels": "a,b"}),
        ("two", {"labels": "a"}),
        ("three searched", {"assignee_ids": [other.id]}),
        ("four", {"confidential": True}),
    ]
    for title, more in created:
        assert api.post(base, owner, title=title, **more).status_code == 201
    api.put(f"{base}/2", owner, state_event="close")

    def titles(**params: object) -> list[str]:
        answer = api.get(base, owner, **params)
        assert answer.status_code == 200, answer.text
        assert int(answer.headers["x-total"]) == len(answer.json())
        return [issue["title"] for issue in answer.json()]

    assert titles() == ["four", "three searched", "two", "one"]
    assert titles(state="opened", sort="asc") == ["one", "three searched", "four"]
    assert titles(labels="a,b") == ["one"]
    assert titles(labels="No Label") == ["four", "three searched"]
    assert titles(search="SEARCH") == ["three searched"]
    assert titles(assignee_id=other.id) == ["three searched"]
    assert titles(**{"iids[]": [1, 4]}) == ["four", "one"]
    assert titles(confidential="true") == ["four"]
    assert titles(**{"not[labels]": "a"}) == ["four", "three searched"]
    assert [issue["title"] for issue in api.get("/issues", owner).json()] == ["four", "three searched", "two", "one"]
    assert [issue["title"] for issue in api.get("/issues", other, scope="assigned_to_me").json()] == ["three searched"]


CALLERS = [(Level.NONE, False), (Level.GUEST, False), (Level.REPORTER, True), (Level.DEVELOPER, True)]


@pytest.mark.parametrize(("level", "sees"), CALLERS)
def test_confidential_issues_are_hidden(api: Api, make: Make, level: Level, sees: bool) -> None:
    """Users who may not see a confidential issue get 404."""
    owner, other = make.user(), make.user()
    project = make_project(make, owner, visibility="public", members={other: level})
    base = f"/projects/{project.id}/issues"
    api.post(base, owner, title="secret", confidential=True)
    assert api.get(f"{base}/1", other).status_code == (200 if sees else 404)
    assert len(api.get(base, other).json()) == (1 if sees else 0)
    assert len(api.get("/issues", other, scope="all", search="secret", author_id=owner.id).json()) == (1 if sees else 0)


def test_time_tracking(api: Api, make: Make) -> None:
    """Estimates and time spent as durations."""
    owner = make.user()
    project = make_project(make, owner)
    base = f"/projects/{project.id}/issues/1"
    api.post(f"/projects/{project.id}/issues", owner, title="one")
    stats = api.post(f"{base}/time_estimate", owner, duration="1w 2d 3h").json()
    assert (stats["time_estimate"], stats["human_time_estimate"]) == (212400, "1w 2d 3h")
    assert api.post(f"{base}/add_spent_time", owner, duration="1h").json()["total_time_spent"] == 3600
    assert api.post(f"{base}/add_spent_time", owner, duration="-2h").status_code == 400
    assert api.post(f"{base}/add_spent_time", owner, duration="1h1h").status_code == 400
    assert api.post(f"{base}/reset_spent_time", owner).json()["total_time_spent"] == 0
