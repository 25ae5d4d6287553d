"""Changes of the merge method and of squashing while merge requests are in a train."""

from typing import Any

import pytest

from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.conftest import Instance


@pytest.fixture
def trains(make: Make, instance: Instance) -> TrainProject:
    """Return a project with merge trains."""
    return TrainProject(make, instance)


def _titles(trains: TrainProject) -> list[str]:
    """Return the titles of the commits of the target branch."""
    commits = trains.make.api.get(f"{trains.project.url}/repository/commits", trains.make.root, ref_name="main").json()
    return [commit["title"] for commit in commits]


@pytest.mark.parametrize("batch", [1, 2])
def test_a_changed_merge_method_builds_the_train_again(api: Api, make: Make, instance: Instance, batch: int) -> None:
    """A fast-forward project does not get merge commits; what is merged is what was tested."""
    trains = TrainProject(make, instance, merge_trains_batch_size=batch)
    offered = trains.offer_and_add("a", "b", "c")
    before = {car["pipeline"]["id"] for car in trains.train() if car["pipeline"]}
    assert api.put(trains.project.url, make.root, merge_method="ff").status_code == 200
    trains.work()
    assert trains.iids() == [each["iid"] for each in offered]
    assert before.isdisjoint(car["pipeline"]["id"] for car in trains.train() if car["pipeline"])
    tested = set(trains.jobs)
    for each in offered:
        if trains.shown(each)["state"] == "opened":
            trains.end(each)
        assert trains.tip()["id"] in tested | set(trains.jobs)
    commits = api.get(f"{trains.project.url}/repository/commits", make.root, ref_name="main").json()
    assert all(len(commit["parent_ids"]) < 2 for commit in commits)
    assert [trains.shown(each)["state"] for each in offered] == ["merged"] * 3


@pytest.mark.parametrize(
    ("joins", "where", "change"),
    [
        ({}, "", {"squash_option": "always"}),
        ({}, "/merge_requests/{}", {"squash": True}),
        ({"squash": False}, "/merge_requests/{}", {"squash": True}),
    ],
)
def test_changed_squashing_builds_the_car_again(
    trains: TrainProject, joins: dict[str, Any], where: str, change: dict[str, Any]
) -> None:
    """Only the cars from the changed one on are tested again."""
    first, second = trains.offer("a"), trains.offer("b")
    commit_files(trains.make, trains.project, {"b2": "x"}, branch="b")
    trains.work()
    second = trains.shown(second)
    for each in (first, second):
        assert trains.add(each, **joins).status_code == 201
    pipelines = [car["pipeline"]["id"] for car in trains.train()]
    answer = trains.make.api.put(trains.project.url + where.format(second["iid"]), trains.make.root, **change)
    assert answer.status_code == 200
    trains.work()
    again = [car["pipeline"]["id"] for car in trains.train()]
    assert again[1] != pipelines[1]
    if where:
        assert again[0] == pipelines[0]
    for each in (first, second):
        trains.end(each)
    assert trains.shown(second)["squash_commit_sha"] is not None
    assert _titles(trains).count("Merge b") == 1


def test_trains_are_shown_as_disabled_without_merged_results(trains: TrainProject, api: Api, make: Make) -> None:
    """As their endpoints refuse requests then; enabling the other setting enables both again."""
    for enabled, status in ((False, 403), (True, 200)):
        shown = api.put(trains.project.url, make.root, merge_pipelines_enabled=enabled).json()
        assert shown["merge_trains_enabled"] is enabled
        assert api.get(trains.project.url, make.root).json()["merge_trains_enabled"] is enabled
        assert api.get(f"{trains.project.url}/merge_trains", make.root).status_code == status
