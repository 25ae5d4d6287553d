"""A merge train with a real server and a real runner: the target is green at every commit."""

from typing import Any

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


def _offer(flow: FlowServer, url: str, name: str) -> dict[str, Any]:
    flow.commit(url, {name: name}, branch=name, start_branch="main")
    sent = {"source_branch": name, "target_branch": "main", "title": name}
    made: dict[str, Any] = flow.call("POST", f"{url}/merge_requests", 201, **sent)
    return made


def test_nine_of_ten_merge_and_each_commit_is_green(tmp_path_factory: Any) -> None:
    with flow_server(tmp_path_factory.mktemp("train")) as flow:
        url = flow.project("train", {".gitlab-ci.yml": CHECK})
        flow.call("PUT", url, 200, merge_pipelines_enabled=True, merge_trains_enabled=True)
        start = flow.call("GET", f"{url}/repository/branches/main", 200)["commit"]["id"]
        offered = [_offer(flow, url, name) for name in NAMES]
        for each in offered:
            flow.call("POST", f"{url}/merge_trains/merge_requests/{each['iid']}", 201)
        until(
            "the end of the train",
            lambda: flow.call("GET", f"{url}/merge_trains", 200, scope="active") == [],
            WAIT_SECONDS,
        )
        shown = [flow.call("GET", f"{url}/merge_requests/{each['iid']}", 200) for each in offered]
        assert [each["title"] for each in shown if each["state"] != "merged"] == ["six"]
        notes = flow.call("GET", f"{url}/merge_requests/{offered[5]['iid']}/notes", 200)
        assert any(note["body"].endswith("because the pipeline failed") for note in notes)
        history = flow.call("GET", f"{url}/repository/commits", 200, ref_name="main", first_parent=True, per_page=100)
        merges = [commit["id"] for commit in history if commit["id"] != start]
        order = [each["merge_commit_sha"] for each in shown if each["state"] == "merged"]
        assert merges == order[::-1]
        for sha in merges:
            (pipeline,) = flow.call("GET", f"{url}/pipelines", 200, sha=sha)
            assert pipeline["status"] == "success"
