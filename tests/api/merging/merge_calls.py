"""Merge calls through the API."""

from typing import Any

import httpx

from tests.api.merge_requests.factories import commit
from tests.client import Api, Make, User
from tests.factories import Project


def url(project: Project, merge_request: dict[str, Any], verb: str = "") -> str:
    """Return the path of a merge request or of a sub-resource."""
    return f"/projects/{project.id}/merge_requests/{merge_request['iid']}{verb}"


def merged(api: Api, project: Project, merge_request: dict[str, Any], who: User, **sent: Any) -> dict[str, Any]:
    """Merge a merge request; it must succeed."""
    answer = api.put(url(project, merge_request, "/merge"), who, **sent)
    assert answer.status_code == 200, answer.text
    shown: dict[str, Any] = answer.json()
    assert shown["state"] == "merged"
    return shown


def refused(answer: httpx.Response, status: int, code: str) -> str:
    """Return the message with which a merge is rejected."""
    assert answer.status_code == status, answer.text
    assert answer.json()["error_code"] == code
    message: str = answer.json()["message"]
    return message


def listed_status(api: Api, project: Project, merge_request: dict[str, Any], who: User) -> str:
    """Return the merge status shown in a list."""
    listed = api.get(f"/projects/{project.id}/merge_requests", who, **{"iids[]": merge_request["iid"]}).json()
    status: str = listed[0]["detailed_merge_status"]
    return status


def tip(api: Api, project: Project, who: User, branch: str = "master") -> dict[str, Any]:
    """Return the commit at the head of a branch."""
    shown: dict[str, Any] = api.get(f"/projects/{project.id}/repository/commits/{branch}", who).json()
    return shown


def conflicting(make: Make, project: Project, who: User | None = None) -> dict[str, Any]:
    """Return a merge request that conflicts with its target."""
    branch = make.name("clash")
    commit(make, project, branch, {"README": f"{branch}\n"}, who, start="master", action="update")
    merge_request = make_branch_merge_request(make, project, branch, who)
    commit(make, project, "master", {"README": f"not {branch}\n"}, who, action="update")
    return merge_request


def make_branch_merge_request(
    make: Make, project: Project, branch: str, who: User | None = None, **sent: Any
) -> dict[str, Any]:
    """Return a merge request from an existing branch."""
    asked = {"source_branch": branch, "target_branch": "master", "title": f"From {branch}", **sent}
    made = make.api.post(f"/projects/{project.id}/merge_requests", who or make.root, **asked)
    assert made.status_code == 201, made.text
    shown: dict[str, Any] = made.json()
    return shown
