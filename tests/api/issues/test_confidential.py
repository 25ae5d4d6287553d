"""Confidential issues are not found by users who may not see them, on every path of the issue API."""

import re
from typing import Any, NamedTuple

import httpx
import pytest

from ingot.core.access.levels import Level
from ingot.server.registry import all_endpoints
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make, User
from tests.factories import Group, Project, make_group, make_project

OUTSIDERS = ["stranger", "external", "guest"]
INSIDERS = ["author", "assignee", "reporter", "developer", "administrator"]
SECRET = "unspeakable"
LABEL = "test-confidential"
"""Label that no other test uses, because administrators list the issues of all projects."""
# All parameters that any endpoint requires, so that each call reaches the lookup of the issue.
BODY: dict[str, Any] = {
    "title": "x",
    "body": "x",
    "name": "thumbsup",
    "duration": "1h",
    "target_issue_iid": 1,
    "move_after_id": 1,
    "note": "x",
}
# For administrators or owners only: denied before the lookup of the issue.
DENIED_BEFORE_LOOKUP = {
    "GET /projects/:id/issues/:issue_iid/user_agent_detail",
    "DELETE /projects/:id/issues/:issue_iid",
}


def test_project_counts_exclude_confidential_issues(api: Api, make: Make) -> None:
    """The count is shown to all who can see a project, so it includes only issues that all of them can see."""
    owner, stranger = make.user(), make.user()
    project = make_project(make, owner, visibility="public")
    make_issue(make, project, owner)
    iid = make_issue(make, project, owner, confidential=True)["iid"]

    def counted() -> int:
        answers = [api.get(f"/projects/{project.id}", person).json() for person in (owner, stranger)]
        assert answers[0]["open_issues_count"] == answers[1]["open_issues_count"]
        count: int = answers[0]["open_issues_count"]
        return count

    assert counted() == 1
    for sent, expected in (
        ({"state_event": "close"}, 1),
        ({"confidential": False}, 1),
        ({"state_event": "reopen"}, 2),
        ({"confidential": True, "state_event": "close"}, 1),
        ({"state_event": "reopen"}, 1),
        ({"confidential": False}, 2),
    ):
        assert api.put(f"/projects/{project.id}/issues/{iid}", owner, **sent).status_code == 200
        assert counted() == expected, sent


class ConfidentialIssueSetup(NamedTuple):
    """Public project with a confidential issue, and a user of each role."""

    people: dict[str, User]
    group: Group
    project: Project
    issue: dict[str, Any]
    plain: dict[str, Any]
    milestone: dict[str, Any]


@pytest.fixture(scope="module")
def setup(make: Make) -> ConfidentialIssueSetup:
    """Return a confidential issue with a label, a milestone, a link to an open issue, and notes."""
    people = {name: make.user(external=name == "external") for name in (*OUTSIDERS, *INSIDERS[:-1])}
    people["administrator"] = make.root
    group = make_group(make, visibility="public")
    levels = {people["guest"]: Level.GUEST, people["reporter"]: Level.REPORTER, people["developer"]: Level.DEVELOPER}
    project = make_project(make, group=group, visibility="public", members=levels)
    milestone = make_milestone(make, project)
    plain = make_issue(make, project, make.root, title="plain")
    issue = make_issue(make, project, people["author"], title=SECRET, description=SECRET, confidential=True)
    base = f"/projects/{project.id}/issues/{issue['iid']}"
    sent = {"assignee_ids": [people["assignee"].id], "labels": LABEL, "milestone_id": milestone["id"]}
    assert make.api.put(base, make.root, **sent).status_code == 200
    linked = {"target_project_id": project.id, "target_issue_iid": plain["iid"]}
    assert make.api.post(f"{base}/links", make.root, **linked).status_code == 201
    assert make.api.post(f"{base}/notes", make.root, body=SECRET).status_code == 201
    return ConfidentialIssueSetup(people, group, project, issue, plain, milestone)


def _routes() -> list[str]:
    """Return every route below an issue."""
    return sorted(
        f"{endpoint.method} {endpoint.path}" for endpoint in all_endpoints() if "/issues/:issue_iid" in endpoint.path
    )


def _request(api: Api, setup: ConfidentialIssueSetup, route: str, caller: User | None, iid: int) -> httpx.Response:
    method, path = route.split(" ")
    path = path.replace(":issue_iid", str(iid)).replace(":id", str(setup.project.id), 1)
    body = {**BODY, "to_project_id": setup.project.id, "target_project_id": setup.project.id}
    options = {} if method in ("GET", "DELETE") else {"json": body}
    return api.request(method, re.sub(r":\w+", "1", path), caller, **options)


@pytest.mark.parametrize("route", _routes())
def test_responses_equal_those_for_a_missing_issue(api: Api, setup: ConfidentialIssueSetup, route: str) -> None:
    for name in OUTSIDERS:
        caller = setup.people[name]
        hidden = _request(api, setup, route, caller, setup.issue["iid"])
        missing = _request(api, setup, route, caller, 999_999)
        assert (hidden.status_code, hidden.content) == (missing.status_code, missing.content), name
        assert hidden.status_code == (403 if route in DENIED_BEFORE_LOOKUP else 404), (name, hidden.text)
    assert _request(api, setup, route, None, setup.issue["iid"]).status_code == 401


@pytest.mark.parametrize("route", [route for route in _routes() if route.startswith("GET") and route.count(":") == 2])
def test_authorized_users_see_the_issue(api: Api, setup: ConfidentialIssueSetup, route: str) -> None:
    if route in DENIED_BEFORE_LOOKUP:
        return
    for name in INSIDERS:
        assert _request(api, setup, route, setup.people[name], setup.issue["iid"]).status_code == 200, name


def _lists(setup: ConfidentialIssueSetup) -> list[str]:
    project, group = f"/projects/{setup.project.id}", f"/groups/{setup.group.id}"
    everywhere = [f"{project}/issues", f"{group}/issues", "/issues?scope=all"]
    narrowed = [
        f"search={SECRET}",
        f"search={SECRET[:2]}",
        f"iids[]={setup.issue['iid']}",
        f"labels={LABEL}",
        f"milestone={setup.milestone['title']}",
        "confidential=true",
        f"author_username={setup.people['author'].username}",
        f"assignee_username={setup.people['assignee'].username}",
        "pagination=keyset&per_page=100",
    ]
    lists = [f"{path}{'&' if '?' in path else '?'}{more}" for path in everywhere for more in narrowed]
    lists += [f"{project}/issues/{setup.plain['iid']}/links"]
    lists += [f"{project}/milestones/{setup.milestone['id']}/issues"]
    return lists


def test_lists(api: Api, setup: ConfidentialIssueSetup) -> None:
    for path in _lists(setup):
        for name, caller in setup.people.items():
            answer = api.request("GET", path, caller)
            assert answer.status_code == 200, (path, answer.text)
            found = [issue["id"] for issue in answer.json()]
            assert (setup.issue["id"] in found) is (name in INSIDERS), (path, name)
            assert (SECRET in answer.text) is (name in INSIDERS), (path, name)
            if "x-total" in answer.headers and len(found) < 20:
                assert int(answer.headers["x-total"]) == len(found), (path, name)


def test_counts(api: Api, setup: ConfidentialIssueSetup) -> None:
    paths = [f"/projects/{setup.project.id}/issues_statistics", f"/groups/{setup.group.id}/issues_statistics"]
    for path in [*paths, f"/issues_statistics?scope=all&labels={LABEL}"]:
        for name, caller in setup.people.items():
            everything = api.request("GET", path, caller).json()["statistics"]["counts"]["all"]
            assert everything == (name in INSIDERS) + ("labels" not in path), (path, name)


def test_the_total_counts_each_issue_once(api: Api, make: Make) -> None:
    """A guest sees confidential issues as their author, as their assignee, or as both."""
    guest = make.user()
    project = make_project(make, visibility="private", members={guest: Level.GUEST})
    own, both, assigned = (
        make_issue(make, project, author, title=title, confidential=True)
        for title, author in (("own", guest), ("both", guest), ("assigned", make.root))
    )
    make_issue(make, project, make.root, confidential=True)
    for issue in (both, assigned):
        api.put(f"/projects/{project.id}/issues/{issue['iid']}", make.root, assignee_ids=[guest.id])
    api.put(f"/projects/{project.id}/issues/{own['iid']}", make.root, state_event="close")
    for state, expected in (("all", 3), ("opened", 2), ("closed", 1)):
        listed = api.get(f"/projects/{project.id}/issues", guest, state=state)
        assert (len(listed.json()), listed.headers["x-total"]) == (expected, str(expected))


def test_changes_of_visibility_apply_at_once(api: Api, make: Make) -> None:
    """Attack: use access after it was withdrawn; the next request is denied."""
    stranger, reporter = make.user(), make.user()
    project = make_project(make, visibility="public", members={reporter: Level.REPORTER})
    base = f"/projects/{project.id}/issues/{make_issue(make, project, make.root)['iid']}"

    def seen(caller: User) -> bool:
        status = api.get(base, caller).status_code
        listed = api.get(f"/projects/{project.id}/issues", caller)
        assert (len(listed.json()) == 1) is (listed.headers["x-total"] == "1") is (status == 200)
        return status == 200

    assert seen(stranger)
    api.put(base, make.root, confidential=True)
    assert not seen(stranger)
    assert seen(reporter)
    api.delete(f"/projects/{project.id}/members/{reporter.id}", make.root)
    assert not seen(reporter)
    api.put(base, make.root, assignee_ids=[stranger.id])
    assert seen(stranger)
    api.put(base, make.root, assignee_ids=[])
    assert not seen(stranger)
    api.put(base, make.root, confidential=False)
    assert seen(stranger)
