"""Confidential issues are not revealed by any readable route of the API."""

import re
from typing import Any, NamedTuple

import pytest

from ingot.core.access.levels import Level
from ingot.server.registry import all_endpoints
from tests.api.issues.factories import make_issue, make_milestone
from tests.client import Api, Make, User
from tests.factories import Group, Project, make_group, make_project

SECRET = "Xylophonequartett"
# Routes whose responses mention the issue to authorized users.
ROUTES_WITH_ISSUE = {
    "/projects/:id/issues",
    "/groups/:id/issues",
    "/projects/:id/milestones/:milestone_id/issues",
    "/projects/:id/merge_requests/:merge_request_iid/closes_issues",
    "/projects/:id/issues/:issue_iid/links",
    "/projects/:id/search",
    "/groups/:id/search",
    "/search",
    "/projects/:id/events",
    "/users/:id/events",
    "/todos",
}


class ConfidentialReferences(NamedTuple):
    """Public project with a confidential issue that other objects reference."""

    people: dict[str, User | None]
    group: Group
    project: Project
    values: dict[str, Any]


@pytest.fixture(scope="module")
def setup(make: Make) -> ConfidentialReferences:
    """Return an issue that is planned, linked, discussed, closed by a merge request, and mentions every role."""
    api = make.api
    people = {name: make.user(external=name == "external") for name in ("guest", "external", "reporter")}
    levels = {people["guest"]: Level.GUEST, people["reporter"]: Level.REPORTER}
    group = make_group(make, visibility="public")
    project = make_project(make, group=group, visibility="public", members=levels, initialize_with_readme=True)
    base = f"/projects/{project.id}"
    milestone = make_milestone(make, project)
    plain = make_issue(make, project, make.root, title="plain")
    named = " ".join(f"@{person.username}" for person in people.values())
    wanted = {"labels": "hush", "milestone_id": milestone["id"], "description": f"{SECRET} {named} #1"}
    issue = make_issue(make, project, make.root, title=SECRET, confidential=True, **wanted)
    api.post(f"{base}/repository/branches", make.root, branch="work", ref="master")
    offer = {
        "source_branch": "work",
        "target_branch": "master",
        "title": "mr",
        "description": f"Closes #{issue['iid']}",
    }
    assert api.post(f"{base}/merge_requests", make.root, **offer).status_code == 201
    below = f"{base}/issues/{issue['iid']}"
    linked = {"target_project_id": project.id, "target_issue_iid": plain["iid"]}
    assert api.post(f"{below}/links", make.root, **linked).status_code == 201
    note = api.post(f"{below}/notes", make.root, body=f"{SECRET} {named}").json()
    api.post(f"{below}/notes/{note['id']}/award_emoji", make.root, name="tada")
    labels = api.get(f"{base}/labels", make.root).json()
    board = api.get(f"{base}/boards", make.root).json()[0]
    values = {
        "issue_iid": plain["iid"],
        "merge_request_iid": 1,
        "milestone_id": milestone["id"],
        "label_id": labels[0]["id"],
        "board_id": board["id"],
        "note_id": note["id"],
        "sha": "master",
        "branch": "master",
    }
    return ConfidentialReferences({**people, "nobody": None}, group, project, values)


def _path(setup: ConfidentialReferences, make: Make, path: str) -> str:
    """Return a route with all parameters filled in; an unknown one is 1."""
    whose: dict[str, Any] = {"projects": setup.project.id, "groups": setup.group.id, "users": make.root.id}
    path = re.sub(r"^/(\w+)/:id\b", lambda found: f"/{found[1]}/{whose.get(found[1], 1)}", path)
    filled = re.sub(r":(\w+)", lambda found: str(setup.values.get(found[1], 1)), path)
    return f"{filled}?search={SECRET}&scope=issues" if filled.endswith("search") else filled


def _reads() -> list[str]:
    return sorted(endpoint.path for endpoint in all_endpoints() if endpoint.method == "GET")


@pytest.mark.parametrize("name", ["guest", "external", "nobody"])
def test_no_route_reveals_the_issue(api: Api, make: Make, setup: ConfidentialReferences, name: str) -> None:
    answered = 0
    for route in _reads():
        answer = api.request("GET", _path(setup, make, route), setup.people[name])
        assert answer.status_code < 500 or answer.status_code == 501, (route, answer.text)
        assert SECRET not in answer.text, route
        answered += answer.status_code == 200
    assert answered > (20 if name == "nobody" else 100)


def test_authorized_users_find_the_issue(api: Api, make: Make, setup: ConfidentialReferences) -> None:
    """Ensures that the test above requests routes that would reveal it."""
    for route in ROUTES_WITH_ISSUE:
        answer = api.request("GET", _path(setup, make, route), setup.people["reporter"])
        assert SECRET in answer.text, (route, answer.text)
