"""Merges that skip a merge train: its pipelines go on, and what was not tested together is said so."""

from typing import Any

import httpx
import pytest

from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.conftest import Instance

_UNTESTED = "merged this merge request together with changes that skipped the merge train and were not tested with it"


@pytest.fixture
def trains(make: Make, instance: Instance) -> TrainProject:
    """Return a project whose merge trains may be skipped."""
    return TrainProject(make, instance, merge_trains_skip_train_allowed=True)


def _skip(trains: TrainProject, merge_request: dict[str, Any], **sent: Any) -> httpx.Response:
    url = f"{trains.project.url}/merge_requests/{merge_request['iid']}/merge"
    answer = trains.make.api.put(url, trains.make.root, skip_merge_train=True, **sent)
    trains.work()
    return answer


def _pipelines(trains: TrainProject) -> list[int]:
    return [car["pipeline"]["id"] for car in trains.train()]


def test_pipelines_go_on_and_the_tested_changes_are_merged_into_the_new_tip(trains: TrainProject) -> None:
    first, second = trains.offer_and_add("a", "b")
    urgent, more = trains.offer("urgent"), trains.offer("more")
    before = _pipelines(trains)
    assert _skip(trains, urgent).json()["state"] == "merged"
    assert _skip(trains, more).json()["state"] == "merged"
    assert _pipelines(trains) == before
    assert [car["status"] for car in trains.train(scope="complete")] == ["skip_merged"] * 2
    assert trains.notes(urgent)[-1] == "skipped the merge train"
    skipped = trains.tip()["id"]
    tested = trains.end(first)
    merged = trains.shown(first)
    assert merged["state"] == "merged"
    assert merged["merge_commit_sha"] == trains.tip()["id"] != tested
    assert trains.tip()["parent_ids"] == [skipped, first["sha"]]
    assert _UNTESTED in trains.notes(first)
    assert _pipelines(trains) == before[1:]
    trains.end(second)
    assert _UNTESTED in trains.notes(second)
    names = trains.make.api.get(f"{trains.project.url}/repository/tree", trains.make.root).json()
    assert {"a", "b", "urgent", "more"} <= {entry["name"] for entry in names}
    assert [car["status"] for car in trains.train(scope="complete")] == ["merged"] * 2 + ["skip_merged"] * 2


def test_the_next_train_is_tested_on_the_new_tip(trains: TrainProject) -> None:
    first, second = trains.offer_and_add("a", "b")
    _skip(trains, trains.offer("urgent"))
    skipped = trains.tip()["id"]
    trains.end(first, "failed")
    assert trains.job_of(second).variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] == skipped
    assert trains.end(second) == trains.tip()["id"]
    assert _UNTESTED not in trains.notes(second)
    (third,) = trains.offer_and_add("c")
    assert trains.job_of(third).variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] == trains.tip()["id"]


def test_a_conflict_with_the_skipping_change_leaves(trains: TrainProject) -> None:
    first, second = trains.offer("a", {"same": "1\n"}), trains.offer("b")
    for each in (first, second):
        assert trains.add(each).status_code == 201
    _skip(trains, trains.offer("urgent", {"same": "2\n"}))
    trains.end(first)
    assert trains.shown(first)["state"] == "opened"
    assert "conflict with the target branch" in trains.notes(first)[-1]
    assert trains.end(second) == trains.tip()["id"]


def test_a_member_of_the_train_skips_those_before_it(trains: TrainProject) -> None:
    first, second, third = trains.offer_and_add("a", "b", "c")
    before = _pipelines(trains)
    assert _skip(trains, second).json()["state"] == "merged"
    assert trains.iids() == [first["iid"], third["iid"]]
    assert _pipelines(trains)[0] == before[0]
    assert [car["status"] for car in trains.train(scope="complete")] == ["skip_merged"]
    trains.end(first)
    trains.end(third)
    assert [trains.shown(each)["state"] for each in (first, third)] == ["merged", "merged"]


def test_a_push_and_the_end_of_the_permission_restart(trains: TrainProject, api: Api, make: Make) -> None:
    (first,) = trains.offer_and_add("a")
    before = _pipelines(trains)
    _skip(trains, trains.offer("urgent"))
    api.put(trains.project.url, make.root, merge_trains_skip_train_allowed=False)
    trains.work()
    restarted = _pipelines(trains)
    assert restarted > before
    tip = commit_files(make, trains.project, {"pushed": "1"})
    trains.work()
    assert _pipelines(trains) > restarted
    assert trains.job_of(first).variables["CI_MERGE_REQUEST_TARGET_BRANCH_SHA"] == tip
    assert trains.end(first) == trains.tip()["id"]


@pytest.mark.parametrize("options", [{}, {"merge_trains_skip_train_allowed": True, "merge_method": "ff"}])
def test_without_permission_and_with_linear_histories_trains_restart(
    make: Make, instance: Instance, options: dict[str, Any]
) -> None:
    trains = TrainProject(make, instance, **options)
    shown = make.api.get(trains.project.url, make.root).json()
    assert shown["merge_trains_skip_train_allowed"] is bool(options)
    (first,) = trains.offer_and_add("a")
    before = _pipelines(trains)
    urgent = trains.offer("urgent")
    assert _skip(trains, urgent).json()["state"] == "merged"
    assert _pipelines(trains) > before
    assert trains.end(first) == trains.tip()["id"]
    assert "skipped the merge train" not in trains.notes(urgent)


def test_automatic_merges_do_not_skip(trains: TrainProject) -> None:
    (first,) = trains.offer_and_add("a")
    second = trains.offer("b")
    assert _skip(trains, second, auto_merge=True).json()["state"] == "opened"
    assert trains.iids() == [first["iid"], second["iid"]]
