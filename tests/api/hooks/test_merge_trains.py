"""Merge request events of merge requests that join and leave merge trains."""

from collections.abc import Callable
from typing import Any

import pytest

from ingot.webhooks.delivery.dispatcher import HookDispatcher
from tests.api.hooks.receiver import Receiver
from tests.ci.merge_trains.train_project import TrainProject
from tests.ci.pipelines.files import commit_files
from tests.client import Api, Make
from tests.conftest import Instance

Leave = Callable[[TrainProject, dict[str, Any]], object]
JOINED = {"merge_train": {"previous": False, "current": True}}
LEFT = {"merge_train": {"previous": True, "current": False}}


@pytest.fixture
def trains(api: Api, make: Make, instance: Instance, receiver: Receiver, dispatcher: HookDispatcher) -> TrainProject:
    """Return a project with merge trains and a hook for merge requests."""
    trains = TrainProject(make, instance)
    flags = {"push_events": False, "merge_requests_events": True}
    made = api.post(f"{trains.project.url}/hooks", make.root, url=receiver.url("/train"), **flags)
    assert made.status_code == 201, made.text
    return trains


def _next(receiver: Receiver) -> tuple[str, int, Any]:
    """Return the action, the number of the merge request and the changes of the next event."""
    body = receiver.next().body
    return body["object_attributes"]["action"], body["object_attributes"]["iid"], body["changes"]


def _cancel(trains: TrainProject, merge_request: dict[str, Any]) -> None:
    url = f"{trains.project.url}/merge_requests/{merge_request['iid']}/cancel_merge_when_pipeline_succeeds"
    assert trains.make.api.put(url, trains.make.root).status_code == 200


def _fail(trains: TrainProject, merge_request: dict[str, Any]) -> None:
    trains.end(merge_request, "failed")


@pytest.mark.parametrize("leave", [_cancel, _fail])
def test_joining_leaving_and_merging(trains: TrainProject, receiver: Receiver, leave: Leave) -> None:
    (first,) = trains.offer_and_add("a")
    assert _next(receiver)[:2] == ("open", first["iid"])
    assert _next(receiver) == ("update", first["iid"], JOINED)
    leave(trains, first)
    left = receiver.next().body
    assert (left["object_attributes"]["action"], left["changes"]) == ("update", LEFT)
    assert left["object_attributes"]["merge_error"] == ("The pipeline failed." if leave is _fail else None)
    assert trains.add(first).status_code == 201
    assert _next(receiver) == ("update", first["iid"], JOINED)
    trains.end(first)
    assert _next(receiver)[:2] == ("merge", first["iid"])


def test_waiting_for_a_pipeline_is_no_event_and_new_commits_are_two(
    trains: TrainProject, receiver: Receiver, api: Api, make: Make
) -> None:
    only = trains.offer("a")
    assert _next(receiver)[0] == "open"
    status = f"{trains.project.url}/statuses/{only['sha']}"
    api.post(status, make.root, state="running", ref="a")
    assert trains.add(only, auto_merge=True).status_code == 201
    assert trains.iids() == []
    api.post(status, make.root, state="success", ref="a")
    trains.work()
    assert _next(receiver) == ("update", only["iid"], JOINED)
    commit_files(make, trains.project, {"more": "1"}, branch="a")
    trains.work()
    bodies = [receiver.next().body for _ in range(2)]
    assert sorted("oldrev" in body["object_attributes"] for body in bodies) == [False, True]
    left = [body for body in bodies if "oldrev" not in body["object_attributes"]]
    assert [body["changes"] for body in left] == [LEFT]
    assert left[0]["object_attributes"]["merge_error"] == "New commits were pushed."


def test_closing_leaves_the_train(trains: TrainProject, receiver: Receiver, api: Api, make: Make) -> None:
    (only,) = trains.offer_and_add("a")
    assert [_next(receiver)[0] for _ in range(2)] == ["open", "update"]
    path = f"{trains.project.url}/merge_requests/{only['iid']}"
    assert api.put(path, make.root, state_event="close").status_code == 200
    action, _, changes = _next(receiver)
    assert (action, changes["merge_train"]) == ("close", LEFT["merge_train"])


def test_detailed_merge_status(trains: TrainProject, receiver: Receiver, api: Api, make: Make) -> None:
    """Test that it is that of the API."""
    only = trains.offer("a", title="Draft: a")
    expected = []
    for change in ({"title": "a"}, {"state_event": "close"}):
        expected.append(trains.shown(only)["detailed_merge_status"])
        trains.make.api.put(f"{trains.project.url}/merge_requests/{only['iid']}", make.root, **change)
    expected.append("not_open")
    shown = [receiver.next().body["object_attributes"]["detailed_merge_status"] for _ in range(3)]
    assert shown == expected == ["draft_status", "mergeable", "not_open"]
