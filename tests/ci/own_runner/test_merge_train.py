"""A merge train with a real server and a real runner: the target is green at every commit."""

from typing import Any

import pytest

from tests.ci.own_runner.flow_server import FlowServer, flow_server
from tests.server.process import until

WAIT_SECONDS = 240.0
# The fourth and the sixth merge request work alone and break each other.
CHECK = """
workflow:
  rules: [{if: $CI_MERGE_REQUEST_EVENT_TYPE == "merge_train"}]
check:
  script:
    - test ! -e four -o ! -e six
"""
NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def offer(flow: FlowServer, url: str, name: str) -> dict[str, Any]:
    """Return a new merge request with a file of its name."""
    flow.commit(url, {name: name}, branch=name, start_branch="main")
    sent = {"source_branch": name, "target_branch": "main", "title": name}
    made: dict[str, Any] = flow.call("POST", f"{url}/merge_requests", 201, **sent)
    return made


def _tips(flow: FlowServer, url: str) -> list[str]:
    """Return the commits to which the target branch has pointed, by its pushes, the newest first."""
    events = flow.call("GET", f"{url}/events", 200, action="pushed", per_page=100)
    return [each["push_data"]["commit_to"] for each in events if each["push_data"]["ref"] == "main"]


def check_train(flow: FlowServer, url: str, start: str, offered: list[dict[str, Any]], size: int) -> None:
    """Check that all but the sixth were merged in order, and that each tip of the target was tested."""
    shown = [flow.call("GET", f"{url}/merge_requests/{each['iid']}", 200) for each in offered]
    assert [each["title"] for each in shown if each["state"] != "merged"] == ["six"]
    notes = flow.call("GET", f"{url}/merge_requests/{offered[5]['iid']}/notes", 200)
    assert any(note["body"].endswith("because the pipeline failed") for note in notes)
    history = flow.call("GET", f"{url}/repository/commits", 200, ref_name="main", first_parent=True, per_page=100)
    merges = [commit["id"] for commit in history if commit["id"] != start]
    order = [each["merge_commit_sha"] for each in shown if each["state"] == "merged"]
    assert merges == order[::-1]
    tips = [sha for sha in _tips(flow, url) if sha != start]
    assert tips == merges if size == 1 else set(tips) < set(merges)
    assert tips[0] == merges[0]
    for sha in tips:
        # One may have been canceled for a run that lost a race.
        pipelines = flow.call("GET", f"{url}/pipelines", 200, sha=sha)
        assert [each["status"] for each in pipelines if each["status"] != "canceled"] == ["success"]


@pytest.mark.parametrize("size", [1, 4])
def test_nine_of_ten_merge_and_each_tip_is_green(tmp_path_factory: Any, size: int) -> None:
    with flow_server(tmp_path_factory.mktemp("train")) as flow:
        url = flow.project("train", {".gitlab-ci.yml": CHECK})
        flow.call("PUT", url, 200, merge_pipelines_enabled=True, merge_trains_enabled=True)
        flow.call("PUT", url, 200, merge_trains_batch_size=size)
        start = flow.call("GET", f"{url}/repository/branches/main", 200)["commit"]["id"]
        offered = [offer(flow, url, name) for name in NAMES]
        for each in offered:
            flow.call("POST", f"{url}/merge_trains/merge_requests/{each['iid']}", 201)
        until(
            "the end of the train",
            lambda: flow.call("GET", f"{url}/merge_trains", 200, scope="active") == [],
            WAIT_SECONDS,
        )
        check_train(flow, url, start, offered, size)
        assert len(flow.call("GET", f"{url}/merge_trains", 200, scope="complete")) == 9
