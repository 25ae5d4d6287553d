"""Malformed and refused requests to merge trains, and events around trains."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import add_members


@pytest.fixture
def trains(make: Make, instance: Instance) -> TrainProject:
    """Return a project with merge trains."""
    return TrainProject(make, instance)


def test_malformed_requests(trains: TrainProject, api: Api, make: Make) -> None:
    (only,) = trains.offer_and_add("a")
    url = f"{trains.project.url}/merge_trains"
    car = f"{url}/merge_requests/{only['iid']}"
    for path in (url, f"{url}/main"):
        for sent in ({"scope": "other"}, {"sort": "up"}):
            assert api.get(path, make.root, **sent).status_code == 400, sent
        for sent in ({"page": "x"}, {"per_page": "0"}, {"page": "99999999999999999999"}):
            assert api.get(path, make.root, **sent).status_code in (200, 400), sent
    for branch in ("none", "%00", "a%2Fb", "%FF", "x" * 300):
        assert api.get(f"{url}/{branch}", make.root).status_code in (200, 400, 404), branch
    assert api.get(f"{url}/none", make.root).json() == []
    for number in ("0", "-1", "x", "99999999999999999999", "%00", "1.5"):
        for call in (api.get, api.post):
            assert call(f"{url}/merge_requests/{number}", make.root).status_code in (400, 404), number
    fresh = trains.offer("b")
    target = f"{url}/merge_requests/{fresh['iid']}"
    malformed: list[dict[str, Any]] = [{"auto_merge": "perhaps"}, {"squash": [1]}, {"sha": {"a": 1}}]
    for body in (*malformed, {"when_pipeline_succeeds": "x"}):
        assert api.post(target, make.root, **body).status_code == 400, body
    for sha in ("x", "0" * 40, "é\u0000"):
        assert api.post(target, make.root, sha=sha).status_code in (400, 409), sha
    assert api.post(car, make.root).status_code == 201  # It is in the train already.
    assert trains.iids() == [only["iid"]]
    merge = f"{trains.project.url}/merge_requests/{fresh['iid']}/merge"
    assert api.put(merge, make.root, skip_merge_train="x").status_code == 400


def test_hidden_projects_and_deleted_merge_requests_do_not_exist(trains: TrainProject, api: Api, make: Make) -> None:
    stranger = make.user()
    (only,) = trains.offer_and_add("a")
    url = f"{trains.project.url}/merge_trains"
    car = f"{url}/merge_requests/{only['iid']}"
    for call, path in ((api.get, url), (api.get, f"{url}/main"), (api.get, car), (api.post, car)):
        assert [call(path, user).status_code for user in (stranger, None)] == [404, 401]
    assert api.delete(f"{trains.project.url}/merge_requests/{only['iid']}", make.root).status_code == 200
    trains.work()
    assert (trains.iids(), api.get(car, make.root).status_code) == ([], 404)
    assert trains.train(scope="complete") == []


def test_archived_projects(trains: TrainProject, api: Api, make: Make) -> None:
    first, second = trains.offer_and_add("a", "b")
    late = trains.offer("c")
    tip = trains.tip()["id"]
    assert api.post(f"{trains.project.url}/archive", make.root).status_code == 201
    assert trains.add(late).status_code == 403
    for job in list(trains.jobs.values()):
        job.finish("success")
    trains.work()
    assert trains.tip()["id"] == tip
    assert trains.iids() == []
    assert api.post(f"{trains.project.url}/unarchive", make.root).status_code == 201
    assert [trains.shown(each)["state"] for each in (first, second)] == ["opened"] * 2
    assert trains.add(late).status_code == 201


def test_a_deleted_source_branch_leaves(trains: TrainProject, api: Api, make: Make) -> None:
    first, second = trains.offer_and_add("a", "b")
    assert api.delete(f"{trains.project.url}/repository/branches/a", make.root).status_code == 200
    trains.work()
    assert trains.iids() == [second["iid"]]
    assert trains.shown(first)["merge_when_pipeline_succeeds"] is False
    assert trains.end(second) == trains.tip()["id"]
    assert trains.add(first).status_code == 400


def test_a_deleted_target_branch_ends_its_train_only(trains: TrainProject, api: Api, make: Make) -> None:
    api.post(f"{trains.project.url}/repository/branches", make.root, branch="other", ref="main")
    (first,) = trains.offer_and_add("a")
    second = trains.offer("b", target_branch="other")
    assert trains.add(second).status_code == 201
    url = f"{trains.project.url}/merge_trains"
    cars = api.get(url, make.root, scope="active", sort="asc").json()
    assert [(car["target_branch"], car["status"]) for car in cars] == [("main", "fresh"), ("other", "fresh")]
    assert api.delete(f"{trains.project.url}/repository/branches/other", make.root).status_code == 200
    trains.work()
    assert [car["target_branch"] for car in api.get(url, make.root, scope="active").json()] == ["main"]
    assert trains.notes(second)[-1].endswith("because the target branch was deleted")
    assert trains.end(first) == trains.tip()["id"]


@pytest.mark.parametrize(
    "change",
    [
        {"merge_trains_enabled": False},
        {"merge_pipelines_enabled": False},
        {"merge_requests_access_level": "disabled"},
    ],
)
def test_changed_settings_end_a_running_train(
    trains: TrainProject, api: Api, make: Make, change: dict[str, Any]
) -> None:
    first, second = trains.offer_and_add("a", "b")
    tip = trains.tip()["id"]
    assert api.put(trains.project.url, make.root, **change).status_code == 200
    trains.work()
    for job in list(trains.jobs.values()):
        job.finish("success")
    trains.work()
    assert trains.tip()["id"] == tip
    undone = {key: "enabled" if value == "disabled" else True for key, value in change.items()}
    assert api.put(trains.project.url, make.root, **undone).status_code == 200
    trains.work()
    assert trains.iids() == []
    assert [trains.shown(each)["state"] for each in (first, second)] == ["opened"] * 2
    assert [trains.shown(each)["merge_when_pipeline_succeeds"] for each in (first, second)] == [False] * 2


def test_users_who_lose_their_right_leave(trains: TrainProject, api: Api, make: Make) -> None:
    maintainer = make.user()
    add_members(make, trains.project, {maintainer: Level.MASTER})
    first, second = trains.offer("a"), trains.offer("b")
    assert trains.add(first, maintainer).status_code == 201
    assert trains.add(second).status_code == 201
    assert api.delete(f"{trains.project.url}/members/{maintainer.id}", make.root).status_code == 200
    trains.work()
    assert trains.iids() == [second["iid"]]
    assert "the user who added it may no longer merge it" in trains.notes(first)[-1]
    assert trains.shown(first)["state"] == "opened"
    assert trains.end(second) == trains.tip()["id"]
