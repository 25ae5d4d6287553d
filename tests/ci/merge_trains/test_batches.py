"""Batches of merge trains: several merge requests in one pipeline, divided when it fails."""

from typing import Any

import pytest

from tests.ci.merge_trains.train_project import TrainProject
from tests.client import Api, Make
from tests.conftest import Instance


def _batched(make: Make, instance: Instance, size: int = 4, **options: Any) -> TrainProject:
    options = {"merge_trains_batch_size": size, "merge_trains_parallel_pipelines": 3, **options}
    return TrainProject(make, instance, **options)


def _pipelines(trains: TrainProject) -> list[int | None]:
    """Return the pipelines of the cars, numbered in the order of the train; None for cars that wait."""
    ids = [car["pipeline"]["id"] if car["pipeline"] else None for car in trains.train()]
    return [None if each is None else list(dict.fromkeys(ids)).index(each) for each in ids]


def _full_batch(trains: TrainProject, *names: str) -> list[dict[str, Any]]:
    """Return merge requests that one pipeline tests: they join while the one of another merge request runs."""
    (first,) = trains.offer_and_add("starts")
    offered = trains.offer_and_add(*names)
    trains.end(first)
    return offered


def _end_last(trains: TrainProject, batch: list[dict[str, Any]], state: str = "success") -> str:
    """End the pipeline of a batch, which tests its last commit."""
    assert len({car["pipeline"]["id"] for car in trains.train()[: len(batch)]}) == 1
    return trains.end(batch[-1], state)


def test_a_batch_waits_until_it_is_full_or_first_and_is_merged_at_once(
    make: Make, instance: Instance, api: Api
) -> None:
    trains = _batched(make, instance, 3)
    offered = trains.offer_and_add(*"abcdef")
    assert _pipelines(trains) == [0, 1, 1, 1, None, None]
    before = len(api.get(f"{trains.project.url}/pipelines", make.root).json())
    first, batch, rest = offered[:1], offered[1:4], offered[4:]
    trains.end(first[0])
    assert _pipelines(trains) == [0, 0, 0, None, None]
    start = trains.tip()["id"]
    tested = _end_last(trains, batch)
    assert trains.tip()["id"] == tested
    shown = [trains.shown(each) for each in batch]
    assert [each["state"] for each in shown] == ["merged"] * 3
    assert shown[-1]["merge_commit_sha"] == tested
    walk = api.get(f"{trains.project.url}/repository/commits", make.root, first_parent=True, per_page=4).json()
    assert [commit["id"] for commit in walk] == [*(each["merge_commit_sha"] for each in reversed(shown)), start]
    pushes = api.get(f"{trains.project.url}/events", make.root, action="pushed").json()
    moves = [event["push_data"] for event in pushes if event["push_data"]["ref"] == "main"]
    assert (moves[0]["commit_from"], moves[0]["commit_to"]) == (start, tested), "no tip in between"
    assert _pipelines(trains) == [0, 0]
    trains.end(rest[-1])
    assert trains.iids() == []
    assert len(api.get(f"{trains.project.url}/pipelines", make.root).json()) == before + 1


@pytest.mark.parametrize("method", ["merge", "ff", "rebase_merge"])
def test_a_failed_batch_is_divided_until_one_leaves(make: Make, instance: Instance, method: str) -> None:
    trains = _batched(make, instance, merge_method=method)
    first, second, third, fourth = _full_batch(trains, *"abcd")
    _end_last(trains, [first, second, third, fourth], "failed")
    assert _pipelines(trains) == [0, 0, 1, 1], "the failed pipeline has tested the second half"
    trains.end(second)
    # The first half is merged; half of the rest is tested.
    assert trains.iids() == [third["iid"], fourth["iid"]]
    assert _pipelines(trains) == [0, 1]
    trains.end(third, "failed")
    assert trains.iids() == [fourth["iid"]]
    assert trains.notes(third)[-1].endswith("because the pipeline failed")
    trains.end(fourth)
    states = [trains.shown(each)["state"] for each in (first, second, third, fourth)]
    assert states == ["merged", "merged", "opened", "merged"]


def test_the_last_of_a_failed_batch_leaves_without_another_pipeline(make: Make, instance: Instance) -> None:
    trains = _batched(make, instance, 2)
    first, second = _full_batch(trains, *"ab")
    _end_last(trains, [first, second], "failed")
    trains.end(first)
    assert trains.iids() == []
    assert [trains.shown(each)["state"] for each in (first, second)] == ["merged", "opened"]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_the_rest_of_a_batch_is_tested_again(make: Make, instance: Instance, api: Api, position: int) -> None:
    trains = _batched(make, instance)
    batch = _full_batch(trains, *"abc")
    before = trains.train()[0]["pipeline"]["id"]
    path = f"{trains.project.url}/merge_requests/{batch[position]['iid']}/cancel_merge_when_pipeline_succeeds"
    assert api.put(path, make.root).status_code == 200
    trains.work()
    rest = batch[:position] + batch[position + 1 :]
    assert trains.iids() == [each["iid"] for each in rest]
    assert api.get(f"{trains.project.url}/pipelines/{before}", make.root).json()["status"] == "canceling"
    assert trains.train()[0]["pipeline"]["id"] > before
    _end_last(trains, rest)
    assert [trains.shown(each)["state"] for each in rest] == ["merged"] * 2


@pytest.mark.parametrize("end", ["cancel", "delete"])
def test_a_batch_without_its_pipeline_leaves(make: Make, instance: Instance, api: Api, end: str) -> None:
    trains = _batched(make, instance)
    batch = _full_batch(trains, *"ab")
    url = f"{trains.project.url}/pipelines/{trains.train()[0]['pipeline']['id']}"
    if end == "delete":
        assert api.delete(url, make.root).status_code == 204
    else:
        api.post(f"{url}/cancel", make.root)
        trains.job_of(batch[-1]).finish("failed")
    trains.work()
    assert trains.iids() == []
    reason = "because the pipeline was deleted" if end == "delete" else "because the pipeline was canceled"
    assert [trains.notes(each)[-1].endswith(reason) for each in batch] == [True, True]


def test_an_invalid_configuration_leaves_and_the_others_are_tested(make: Make, instance: Instance) -> None:
    trains = _batched(make, instance)
    good, broken, last = (trains.offer(name) for name in ("good", "broken", "last"))
    commit = {
        "branch": "broken",
        "commit_message": "Break",
        "actions": [{"action": "update", "file_path": ".gitlab-ci.yml", "content": "test: [invalid"}],
    }
    assert make.api.post(f"{trains.project.url}/repository/commits", make.root, **commit).status_code == 201
    (first,) = trains.offer_and_add("starts")
    for each in (good, broken, last):
        assert trains.add(each).status_code == 201
    trains.end(first)
    assert trains.iids() == [each["iid"] for each in (good, broken, last)]
    trains.end(good)
    assert trains.iids() == [last["iid"]]
    assert "could not be created" in trains.notes(broken)[-1]
    assert "created: base" not in trains.notes(broken)[-1]
    trains.end(last)
    assert [trains.shown(each)["state"] for each in (good, broken, last)] == ["merged", "opened", "merged"]


def test_a_batch_follows_merges_that_skip_the_train(make: Make, instance: Instance, api: Api) -> None:
    trains = _batched(make, instance, merge_trains_skip_train_allowed=True)
    batch = _full_batch(trains, *"abc")
    pipeline = trains.train()[0]["pipeline"]["id"]
    urgent = trains.offer("urgent")
    path = f"{trains.project.url}/merge_requests/{urgent['iid']}/merge"
    assert api.put(path, make.root, skip_merge_train=True).status_code == 200
    trains.work()
    assert {car["pipeline"]["id"] for car in trains.train()} == {pipeline}
    (behind,) = trains.offer_and_add("d")
    _end_last(trains, batch)
    assert [trains.shown(each)["state"] for each in batch] == ["merged"] * 3
    files = api.get(f"{trains.project.url}/repository/tree", make.root, per_page=50).json()
    assert {"a", "b", "c", "urgent"} <= {file["name"] for file in files}
    assert "changes that skipped the merge train" in trains.notes(batch[0])[-2] + trains.notes(batch[0])[-1]
    trains.end(behind)
    assert trains.shown(behind)["state"] == "merged"


def test_the_size_applies_at_once_and_has_limits(make: Make, instance: Instance, api: Api) -> None:
    trains = _batched(make, instance, 1, merge_trains_parallel_pipelines=1)
    trains.offer_and_add(*"abc")
    assert _pipelines(trains) == [0, None, None]
    for refused in (0, 21):
        assert api.put(trains.project.url, make.root, merge_trains_batch_size=refused).status_code == 400
    sent = {"merge_trains_batch_size": 2, "merge_trains_parallel_pipelines": 2}
    assert api.put(trains.project.url, make.root, **sent).json()["merge_trains_batch_size"] == 2
    trains.work()
    assert _pipelines(trains) == [0, 1, 1]
