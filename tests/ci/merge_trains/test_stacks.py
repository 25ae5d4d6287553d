"""Stacks of merge requests in merge trains."""

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


def _stack(trains: TrainProject, *names: str) -> list[dict[str, Any]]:
    """Return a stack of merge requests, of which each changes the line of the one below."""
    made, base = [], "main"
    for number, name in enumerate(names):
        commit_files(
            trains.make,
            trains.project,
            {"line": f"{name}\n"},
            branch=name,
            start_branch=base,
            action="update" if number else "create",
        )
        fields = {"source_branch": name, "target_branch": base, "title": f"Merge {name}"}
        answer = trains.make.api.post(f"{trains.project.url}/merge_requests", trains.make.root, **fields)
        assert answer.status_code == 201, answer.text
        made.append(answer.json())
        base = name
    return made


def _enter(trains: TrainProject, top: dict[str, Any]) -> None:
    answer = trains.make.api.put(f"{trains.project.url}/merge_requests/{top['iid']}/stack/merge", trains.make.root)
    assert answer.status_code == 200, answer.text
    trains.work()


@pytest.mark.parametrize("method", ["merge", "ff"])
def test_stack_enters_the_train_in_order(api: Api, make: Make, instance: Instance, method: str) -> None:
    """Also where each is rebased onto the rewritten commits of those before it."""
    trains = TrainProject(make, instance, merge_method=method, squash_option="always")
    stack = _stack(trains, "a", "b", "c")
    _enter(trains, stack[2])
    assert trains.iids() == [each["iid"] for each in stack]
    for each in reversed(stack):
        trains.end(each)
    assert [trains.shown(each)["state"] for each in stack] == ["merged"] * 3
    raw = api.get(f"{trains.project.url}/repository/files/line/raw", make.root, ref="main")
    assert raw.text == "c\n"


def test_an_upper_layer_is_not_merged_without_those_below(trains: TrainProject) -> None:
    """In the train all have the same target, but a merge at once would contain the commits of the layers below."""
    stack = _stack(trains, "a", "b", "c")
    _enter(trains, stack[2])
    url = f"{trains.project.url}/merge_requests/{{}}/merge"
    api, root = trains.make.api, trains.make.root
    refused = [api.put(url.format(each["iid"]), root) for each in stack[1:]]
    assert [(each.status_code, each.json()["error_code"]) for each in refused] == [(405, "merge_request_blocked")] * 2
    assert api.put(url.format(stack[0]["iid"]), root).status_code == 200
    trains.work()
    assert api.put(url.format(stack[1]["iid"]), root).status_code == 200
    trains.work()
    assert [trains.shown(each)["state"] for each in stack] == ["merged", "merged", "opened"]
    trains.end(stack[2])
    assert trains.shown(stack[2])["state"] == "merged"


def test_a_stack_stays_a_stack_in_the_train(trains: TrainProject) -> None:
    """Although all its merge requests have the same target then; those above that are not in the train belong to it."""
    stack = _stack(trains, "a", "b", "c", "d")
    _enter(trains, stack[2])
    expected = [{"id": stack[0]["id"], "position": place, "size": 4, "base": "main"} for place in (1, 2, 3, 4)]
    assert [trains.shown(each)["stack"] for each in stack] == expected
    api, root = trains.make.api, trains.make.root
    listed = api.get(f"{trains.project.url}/merge_requests", root, sort="asc").json()
    assert [each["stack"] for each in listed] == expected
    path = f"{trains.project.url}/merge_requests/{stack[1]['iid']}/stack"
    assert [each["iid"] for each in api.get(path, root).json()] == [each["iid"] for each in stack]
    trains.end(stack[0])
    assert trains.shown(stack[2])["stack"] == {"id": stack[1]["id"], "position": 2, "size": 3, "base": "main"}
    _enter(trains, stack[3])
    assert trains.iids() == [each["iid"] for each in stack[1:]]
    for each in stack[1:]:
        trains.end(each)
    assert [trains.shown(each)["state"] for each in stack] == ["merged"] * 4


def test_layers_leave_with_the_one_below(trains: TrainProject) -> None:
    """A layer contains the commits of those below, so it must not be merged without them."""
    stack = _stack(trains, "a", "b", "c")
    _enter(trains, stack[2])
    trains.end(stack[0], "failed")
    assert trains.iids() == []
    shown = [trains.shown(each) for each in stack]
    assert [each["state"] for each in shown] == ["opened"] * 3
    assert [each["target_branch"] for each in shown] == ["main", "a", "b"]
    assert [each["stack"]["position"] for each in shown] == [1, 2, 3]
    _enter(trains, stack[1])
    for each in stack[:2]:
        trains.end(each)
    assert [trains.shown(each)["state"] for each in stack] == ["merged", "merged", "opened"]
    assert trains.shown(stack[2])["target_branch"] == "main"
