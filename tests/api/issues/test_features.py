"""All issue endpoints: without credentials, with issues disabled, and in an archived project."""

from typing import Any

import pytest

from tests.api.issues.factories import make_issue
from tests.client import Api, Make
from tests.factories import make_group, make_project

# Endpoints of a project's issues with their parameters; ``{i}`` is the iid.
READS = [
    "/issues",
    "/issues_statistics",
    "/issues/{i}",
    "/issues/{i}/time_stats",
    "/issues/{i}/closed_by",
    "/issues/{i}/related_merge_requests",
    "/issues/{i}/participants",
    "/issues/{i}/links",
]
WRITES: list[tuple[str, str, dict[str, Any], int]] = [
    ("POST", "/issues", {"title": "x"}, 403),
    ("PUT", "/issues/{i}", {"title": "x"}, 403),
    ("POST", "/issues/{i}/move", {"to_project_id": 0}, 400),
    ("POST", "/issues/{i}/subscribe", {}, 403),
    ("POST", "/issues/{i}/unsubscribe", {}, 403),
    ("POST", "/issues/{i}/time_estimate", {"duration": "1h"}, 403),
    ("POST", "/issues/{i}/reset_time_estimate", {}, 403),
    ("POST", "/issues/{i}/add_spent_time", {"duration": "1h"}, 403),
    ("POST", "/issues/{i}/reset_spent_time", {}, 403),
    ("POST", "/issues/{i}/links", {"target_project_id": 0, "target_issue_iid": 2}, 403),
    ("DELETE", "/issues/{i}/links/1", {}, 403),
    ("DELETE", "/issues/{i}", {}, 403),
]


def test_authentication_is_required(api: Api, make: Make) -> None:
    """Public projects included."""
    owner = make.user()
    group = make_group(make, owner, visibility="public")
    project = make_project(make, owner, group=group, visibility="public")
    iid = make_issue(make, project, owner)["iid"]
    paths = ["/issues", "/issues_statistics", "/issues/1", f"/groups/{group.id}/issues"]
    paths += [f"/groups/{group.id}/issues_statistics", f"/projects/{project.id}/issues/{iid}/user_agent_detail"]
    paths += [f"/projects/{project.id}{path.format(i=iid)}" for path in READS]
    for path in paths:
        assert api.get(path).json() == {"message": "401 Unauthorized"}, path
        assert api.get(path).status_code == 401
    for method, path, sent, _ in WRITES:
        answer = api.request(method, f"/projects/{project.id}{path.format(i=iid)}", json=sent)
        assert answer.status_code == 401, path


def test_projects_with_issues_disabled(api: Api, make: Make) -> None:
    """The issues are hidden from all users, and visible again when the feature is enabled."""
    owner = make.user()
    project, other = make_project(make, owner, visibility="public"), make_project(make, owner)
    issue = make_issue(make, project, owner, title="hidden for now")
    assert api.put(f"/projects/{project.id}", owner, issues_enabled=False).status_code == 200

    for caller in (owner, make.root, make.user()):
        for path in READS:
            answer = api.get(f"/projects/{project.id}{path.format(i=issue['iid'])}", caller)
            assert answer.status_code == 403, path
        for method, path, sent, status in WRITES:
            there = {"to_project_id": other.id} if "to_project_id" in sent else sent
            if caller is owner or "move" not in path:
                answer = api.request(method, f"/projects/{project.id}{path.format(i=issue['iid'])}", caller, json=there)
                assert answer.status_code == status, path
        assert api.get("/issues", caller, scope="all", search="hidden for now").json() == []
    api.put(f"/projects/{project.id}", owner, issues_enabled=True)
    assert api.get(f"/projects/{project.id}/issues/{issue['iid']}", owner).json()["title"] == "hidden for now"


@pytest.mark.parametrize("as_root", [False, True])
def test_archived_project(api: Api, make: Make, as_root: bool) -> None:
    """Its issues are read-only."""
    owner = make.user()
    project, other = make_project(make, owner), make_project(make, owner)
    issue, second = make_issue(make, project, owner), make_issue(make, other, owner)
    assert api.post(f"/projects/{project.id}/archive", owner).status_code == 201
    caller = make.root if as_root else owner

    for path in READS:
        answer = api.get(f"/projects/{project.id}{path.format(i=issue['iid'])}", caller)
        assert answer.status_code == 200, path
    for method, path, sent, status in WRITES:
        named = {"to_project_id": other.id, "target_project_id": other.id, "target_issue_iid": second["iid"]}
        there = {name: named.get(name, value) for name, value in sent.items()}
        answer = api.request(method, f"/projects/{project.id}{path.format(i=issue['iid'])}", caller, json=there)
        assert answer.status_code == status, (path, answer.text)
    now = api.get(f"/projects/{project.id}/issues/{issue['iid']}", owner).json()
    assert {**now, "subscribed": True} == issue


def test_issues_of_deleted_users(api: Api, make: Make) -> None:
    """They stay, unless the user is deleted with all contributions."""
    owner, leaver, goner = make.user(), make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    kept = make_issue(make, project, leaver)
    lost = make_issue(make, project, goner)
    api.put(f"/projects/{project.id}/issues/{kept['iid']}", owner, assignee_ids=[goner.id])
    assert api.delete(f"/users/{leaver.id}", make.root).status_code == 200
    assert api.delete(f"/users/{goner.id}?hard_delete=true", make.root).status_code == 200

    shown = api.get(f"/projects/{project.id}/issues", owner)
    assert [issue["id"] for issue in shown.json()] == [kept["id"]]
    assert shown.headers["x-total"] == "1"
    assert shown.json()[0]["author"]["id"] not in (leaver.id, owner.id)
    assert shown.json()[0]["assignees"] == []
    assert api.get(f"/projects/{project.id}/issues/{lost['iid']}", owner).status_code == 404
    assert api.get(f"/projects/{project.id}", owner).json()["open_issues_count"] == 1
