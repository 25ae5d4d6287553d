"""Merge requests that leave a train at once when they must not be merged any more, and the reasons that are given."""

from typing import Any

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import add_members

_LEFT = "removed this merge request from the merge train because "


@pytest.fixture
def trains(make: Make, instance: Instance) -> TrainProject:
    """Return a project with merge trains."""
    return TrainProject(make, instance)


def _require_left(trains: TrainProject, merge_request: dict[str, Any], reason: str) -> None:
    """Check that a merge request has left the train before its turn, with the reason."""
    trains.work()
    assert merge_request["iid"] not in trains.iids()
    shown = trains.shown(merge_request)
    assert (shown["state"], shown["merge_error"]) == ("opened", f"{reason}.")
    assert _LEFT + reason[:1].lower() + reason[1:] in trains.notes(merge_request)


def _path(trains: TrainProject, merge_request: dict[str, Any], more: str = "") -> str:
    return f"{trains.project.url}/merge_requests/{merge_request['iid']}{more}"


def _thread(trains: TrainProject, merge_request: dict[str, Any]) -> httpx.Response:
    return trains.make.api.post(_path(trains, merge_request, "/discussions"), trains.make.root, body="Why?")


def test_unmergeable_cars_leave_before_their_turn(trains: TrainProject, api: Api, make: Make) -> None:
    """The pipelines of those before them go on; those behind them are tested again."""
    setting = {"only_allow_merge_if_all_discussions_are_resolved": True}
    assert api.put(trains.project.url, make.root, **setting).status_code == 200
    reviewer = make.user()
    add_members(make, trains.project, {reviewer: Level.DEVELOPER})
    first, draft, thread, review, last = trains.offer_and_add("a", "b", "c", "d", "e")
    pipeline = trains.train()[0]["pipeline"]["id"]
    assert api.put(_path(trains, draft), make.root, title="Draft: b").status_code == 200
    _require_left(trains, draft, "The merge request is a draft")
    assert _thread(trains, thread).status_code == 201
    _require_left(trains, thread, "All discussions must be resolved first")
    url = _path(trains, review, "/notes")
    assert api.post(url, reviewer, body="/request_changes").status_code in (201, 202)
    _require_left(trains, review, "A reviewer has requested changes")
    assert trains.iids() == [first["iid"], last["iid"]]
    assert trains.train()[0]["pipeline"]["id"] == pipeline
    for each in (first, last):
        trains.end(each)
    assert [trains.shown(each)["state"] for each in (first, last)] == ["merged"] * 2


def test_a_removed_approval_takes_a_car_off_the_train(trains: TrainProject, api: Api, make: Make) -> None:
    approver = make.user()
    add_members(make, trains.project, {approver: Level.DEVELOPER})
    assert api.post(f"{trains.project.url}/approvals", make.root, approvals_before_merge=1).status_code == 201
    first, second = trains.offer("a"), trains.offer("b")
    for each in (first, second):
        assert api.post(_path(trains, each, "/approve"), approver).status_code == 201
        assert trains.add(each).status_code == 201
    assert api.post(_path(trains, second, "/unapprove"), approver).status_code == 201
    _require_left(trains, second, "The merge request must be approved first")
    assert trains.iids() == [first["iid"]]


@pytest.mark.parametrize("how", ["blocked", "removed"])
def test_cars_of_users_without_the_right_leave(trains: TrainProject, api: Api, make: Make, how: str) -> None:
    adder = make.user()
    add_members(make, trains.project, {adder: Level.MASTER})
    (first,), second = trains.offer_and_add("a"), trains.offer("b")
    assert trains.add(second, adder).status_code == 201
    if how == "blocked":
        assert api.post(f"/users/{adder.id}/block", make.root).status_code == 201
    else:
        assert api.delete(f"{trains.project.url}/members/{adder.id}", make.root).status_code in (200, 204)
    _require_left(trains, second, "The user who added it may no longer merge it")
    assert trains.iids() == [first["iid"]]


def test_reasons_of_pushes_and_deleted_branches(trains: TrainProject, api: Api, make: Make) -> None:
    pushed, deleted, closed, last = trains.offer_and_add("a", "b", "c", "d")
    commit_files(make, trains.project, {"a2": "x"}, branch="a")
    _require_left(trains, pushed, "New commits were pushed")
    assert api.delete(f"{trains.project.url}/repository/branches/b", make.root).status_code == 200
    _require_left(trains, deleted, "The source branch was deleted")
    assert api.put(_path(trains, closed), make.root, state_event="close").status_code == 200
    trains.work()
    assert _LEFT + "it was closed" in trains.notes(closed)
    assert trains.iids() == [last["iid"]]


def test_layers_name_the_one_below_that_has_left(trains: TrainProject, api: Api, make: Make) -> None:
    lower = trains.offer("a")
    commit_files(make, trains.project, {"b": "b"}, branch="b", start_branch="a")
    fields = {"source_branch": "b", "target_branch": "a", "title": "Merge b"}
    upper = api.post(f"{trains.project.url}/merge_requests", make.root, **fields).json()
    assert api.put(_path(trains, upper, "/stack/merge"), make.root).status_code == 200
    trains.work()
    trains.end(lower, "failed")
    _require_left(trains, lower, "The pipeline failed")
    _require_left(trains, upper, f"The merge request !{lower['iid']} below it has left the train")
    assert trains.shown(upper)["target_branch"] == "a"


def _fork(trains: TrainProject, author: User) -> str:
    """Return the path of a new fork with a branch."""
    api = trains.make.api
    assert api.put(trains.project.url, trains.make.root, visibility="public").status_code == 200
    fork = api.post(f"{trains.project.url}/fork", author).json()
    trains.work()
    actions = [{"action": "create", "file_path": "fork", "content": "x"}]
    sent = {"branch": "fix", "start_branch": "main", "commit_message": "Fix", "actions": actions}
    assert api.post(f"/projects/{fork['id']}/repository/commits", author, **sent).status_code == 201
    return f"/projects/{fork['id']}"


def test_a_deleted_fork_leaves_at_once(trains: TrainProject, api: Api, make: Make) -> None:
    author = make.user()
    fork = _fork(trains, author)
    fields = {"source_branch": "fix", "target_branch": "main", "title": "Fix", "target_project_id": trains.project.id}
    (first,), opened = trains.offer_and_add("a"), api.post(f"{fork}/merge_requests", author, **fields)
    assert opened.status_code == 201
    assert trains.add(opened.json()).status_code == 201
    assert trains.iids() == [first["iid"], opened.json()["iid"]]
    assert api.delete(fork, author).status_code in (200, 202)
    _require_left(trains, opened.json(), "The source project was deleted")
