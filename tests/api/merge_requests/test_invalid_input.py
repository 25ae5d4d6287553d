"""Invalid input to merge request endpoints: always answered, and never with a 5xx."""

from typing import Any

import pytest

from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.client import Api, Make
from tests.factories import Project

INVALID_VALUES: list[Any] = [
    "",
    "x",
    "\u0000",
    "ünïcode 🦊",
    -1,
    0,
    2**63,
    2**70,
    1.5,
    True,
    [],
    [[]],
    {},
    {"a": 1},
    None,
    "x" * 5000,
]
FIELDS = [
    ("POST", "", ["source_branch", "target_branch", "title", "target_project_id", "labels", "assignee_ids", "squash"]),
    ("PUT", "/1", ["title", "target_branch", "description", "labels", "milestone_id", "reviewer_ids", "state_event"]),
    ("PUT", "/1", ["assignee_id", "assignee_ids", "add_labels", "remove_source_branch", "discussion_locked"]),
    ("GET", "", ["state", "labels", "milestone", "iids", "search", "in", "author_id", "reviewer_id", "not", "view"]),
    ("GET", "", ["approved_by_ids", "wip", "draft", "created_after", "source_branch", "assignee_username"]),
    ("POST", "/1/discussions", ["position", "body", "created_at", "commit_id"]),
    ("POST", "/1/notes", ["body", "internal", "created_at"]),
    ("POST", "/1/approve", ["sha"]),
    ("POST", "/1/time_estimate", ["duration"]),
    ("GET", "/1/versions", ["page", "per_page"]),
]


@pytest.fixture(scope="module")
def project(make: Make) -> Project:
    """Return a project with one merge request."""
    project = filled_project(make)
    make_merge_request(make, project, branch="topic")
    return project


@pytest.mark.parametrize(("method", "path", "fields"), FIELDS)
def test_invalid_parameters_cause_no_server_error(
    api: Api, make: Make, project: Project, method: str, path: str, fields: list[str]
) -> None:
    rest = {"source_branch": "topic", "target_branch": "master", "title": "x", "body": "x"} if method == "POST" else {}
    for field in fields:
        for value in INVALID_VALUES:
            if method == "GET":
                options: dict[str, Any] = {"params": {field: str(value)}}
            else:
                options = {"json": {**rest, field: value}}
            answer = api.request(method, f"/projects/{project.id}/merge_requests{path}", make.root, **options)
            assert answer.status_code < 500, (field, value, answer.text)


POSITIONS: list[Any] = [{"new_line": value} for value in INVALID_VALUES] + [
    {"new_path": value} for value in INVALID_VALUES
]


@pytest.mark.parametrize("position", POSITIONS)
def test_invalid_positions_cause_no_server_error(
    api: Api, make: Make, project: Project, position: dict[str, Any]
) -> None:
    refs = api.get(f"/projects/{project.id}/merge_requests/1", make.root).json()["diff_refs"]
    sent = {"body": "x", "position": {"position_type": "text", "new_path": "topic.txt", **refs, **position}}
    answer = api.request("POST", f"/projects/{project.id}/merge_requests/1/discussions", make.root, json=sent)
    assert answer.status_code in (201, 400), answer.text


def test_branch_names_of_every_kind(api: Api, make: Make) -> None:
    project = filled_project(make)
    for number, branch in enumerate(["ümläut/🦊", "a.b", "x" * 200, "a'b\"c", "%2F", "100%"], 1):
        commit(make, project, branch, {f"{number}": "x\n"}, start="master")
        sent = {"source_branch": branch, "target_branch": "master", "title": branch}
        made = api.post(f"/projects/{project.id}/merge_requests", make.root, **sent)
        assert made.status_code == 201, made.text
        found = api.get(f"/projects/{project.id}/merge_requests", make.root, source_branch=branch).json()
        assert [one["iid"] for one in found] == [number]
