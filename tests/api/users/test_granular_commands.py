"""Quick actions of callers whose token is limited: each needs the permission, or the tool, of its endpoint."""

from typing import Any

import pytest

from ingot.collaboration.issues.quick_actions.definitions import ISSUE_COMMANDS
from ingot.collaboration.merge_requests.quick_actions.definitions import MERGE_REQUEST_COMMANDS
from ingot.core.module_index import index_lines
from tests.api.users.test_granular_tokens import fine_token, selected
from tests.ci.pipelines.files import commit_files
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.mcp.client import Agent

_COMMANDS = {
    "issues": "/close\n/title New\n/confidential\n/due tomorrow\n/label ~bug\n/estimate 1h\n/award :tada:\n/subscribe",
    "merge_requests": "/approve\n/merge\n/title New\n/target_branch other\n/draft\n/spend 1h\n/request_changes\n/todo",
}
_NOTES = ("create_issue_note", "create_merge_request_note")


@pytest.fixture
def user(make: Make) -> User:
    """Return a user."""
    return make.user()


@pytest.fixture
def project(make: Make, user: User) -> Project:
    """Return a project with an issue and an open merge request, both number 1."""
    return _project(make, user)


def _project(make: Make, user: User) -> Project:
    project = make_project(make, user, initialize_with_readme=True, default_branch="main")
    commit_files(make, project, {"a.txt": "a"}, branch="topic", start_branch="main")
    make.api.post(f"{project.url}/repository/branches", user, branch="other", ref="main")
    make.api.post(f"{project.url}/labels", user, name="bug", color="#ff0000")
    make.api.post(f"{project.url}/issues", user, title="Old")
    sent = {"source_branch": "topic", "target_branch": "main", "title": "Old"}
    assert make.api.post(f"{project.url}/merge_requests", user, **sent).status_code == 201
    return project


def _state(make: Make, user: User, path: str) -> dict[str, Any]:
    answer = make.api.get(path, user)
    assert answer.status_code == 200, answer.text
    names = ("title", "state", "confidential", "due_date", "labels", "time_stats", "target_branch", "subscribed")
    return {name: answer.json()[name] for name in names if name in answer.json()}


def test_every_quick_action_stands_for_endpoints() -> None:
    endpoints = {f"{line[0]} {line[1]}" for line in index_lines("route")}
    for registry in (ISSUE_COMMANDS, MERGE_REQUEST_COMMANDS):
        assert registry.routes.keys() == registry.names
        for name, routes in registry.routes.items():
            assert routes and endpoints.issuperset(routes), name


def test_a_token_for_notes_executes_no_quick_action(make: Make, user: User, project: Project) -> None:
    token = fine_token(make, user, selected(project, *_NOTES))
    names = {"issues": ISSUE_COMMANDS.names, "merge_requests": MERGE_REQUEST_COMMANDS.names}
    for kind, commands in _COMMANDS.items():
        url = f"{project.url}/{kind}/1"
        before = _state(make, user, url)
        text = "\n".join((commands, *(f"/{name}" for name in sorted(names[kind]))))
        answer = make.api.post(f"{url}/notes", token, body=text)
        assert answer.status_code == 202 and answer.json() == {"commands_changes": {}, "summary": []}, answer.text
        discussion = make.api.post(f"{url}/discussions", token, body=text)
        assert discussion.status_code in (202, 403), discussion.text
        assert _state(make, user, url) == before
        assert make.api.get(f"{url}/award_emoji", user).json() == []
    assert make.api.get(f"{project.url}/merge_requests/1/approvals", user).json()["approved_by"] == []
    assert make.api.get("/todos", user).json() == []


def test_quick_actions_with_their_permission(make: Make, user: User, project: Project) -> None:
    other = _project(make, user)
    updates = ("update_issue", "update_merge_request")
    scopes = (
        {"access": "all_memberships", "permissions": _NOTES},
        selected(project, *updates, "create_issue_award_emoji"),
    )
    token = fine_token(make, user, *scopes)
    for kind, commands in _COMMANDS.items():
        inside, outside = f"{project.url}/{kind}/1", f"{other.url}/{kind}/1"
        before = _state(make, user, outside)
        assert make.api.post(f"{inside}/notes", token, body=commands).status_code == 202
        assert make.api.post(f"{outside}/notes", token, body=commands).status_code == 202
        assert _state(make, user, inside)["title"].endswith("New")
        assert _state(make, user, outside) == before
    assert make.api.get(f"{project.url}/issues/1/award_emoji", user).json() == []
    assert make.api.post(f"{project.url}/issues/1/notes", token, body=f"/move {other.path}").status_code == 202
    assert make.api.get(f"{other.url}/issues/2", user).status_code == 404


def test_descriptions_of_new_objects(make: Make, user: User, project: Project) -> None:
    creator = fine_token(make, user, selected(project, "create_issue", "create_merge_request"))
    description = "Text\n/confidential\n/estimate 1h\n/label ~bug"
    created = make.api.post(f"{project.url}/issues", creator, title="One", description=description).json()
    assert (created["confidential"], created["labels"], created["time_stats"]["time_estimate"]) == (False, [], 0)
    assert created["description"] == "Text"
    sent = {"source_branch": "other", "target_branch": "topic", "title": "Two", "description": "/target_branch main"}
    merge_request = make.api.post(f"{project.url}/merge_requests", creator, **sent).json()
    assert merge_request["target_branch"] == "topic"
    editor = fine_token(make, user, selected(project, "create_issue", "update_issue"))
    created = make.api.post(f"{project.url}/issues", editor, title="Two", description=description).json()
    assert (created["confidential"], created["labels"], created["time_stats"]["time_estimate"]) == (True, ["bug"], 3600)


def test_agents_need_the_tool_of_a_quick_action(instance: Instance, make: Make, user: User, project: Project) -> None:
    def agent(**fields: Any) -> Agent:
        sent = {"name": "agent", "scopes": ["mcp"], **fields}
        made = make.api.post(f"/users/{user.id}/personal_access_tokens", make.root, **sent)
        assert made.status_code == 201, made.text
        return Agent(instance, user.with_token(made.json()["token"]))

    notes = [*_NOTES, "get_issue"]
    issue, merge_request = f"{project.url}/issues/1", f"{project.url}/merge_requests/1"
    before = _state(make, user, issue), _state(make, user, merge_request)
    for scopes in (["mcp"], ["api"]):
        limited = agent(mcp_tools=notes, scopes=scopes)
        limited.call("create_issue_note", id=project.path, issue_iid=1, body=_COMMANDS["issues"])
        limited.call(
            "create_merge_request_note", id=project.path, merge_request_iid=1, body=_COMMANDS["merge_requests"]
        )
        assert (_state(make, user, issue), _state(make, user, merge_request)) == before
    unlisted = agent()
    unlisted.call("create_merge_request_note", id=project.path, merge_request_iid=1, body="/approve\n/title New")
    assert make.api.get(f"{merge_request}/approvals", user).json()["approved_by"] == []
    assert _state(make, user, merge_request) == before[1]
    agent(mcp_tools=[*notes, "update_issue"]).call(
        "create_issue_note", id=project.path, issue_iid=1, body="/title New\n/estimate 1h"
    )
    after = _state(make, user, issue)
    assert (after["title"], after["time_stats"]["time_estimate"]) == ("New", 0)
