"""Todos for failed merges and failed pipelines."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.api.merge_requests.factories import commit, filled_project, make_merge_request
from tests.api.merging.merge_calls import url
from tests.api.merging.test_auto_merge import report, waiting
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project


@pytest.fixture
def users(make: Make) -> tuple[User, User]:
    """Return a user who merges and an author; new ones for each test, because their todos are listed."""
    return make.user(), make.user()


@pytest.fixture
def project(make: Make, users: tuple[User, User]) -> Project:
    """Return a project of the first user."""
    return filled_project(make, users[0], members={users[1]: Level.DEVELOPER})


def todos(api: Api, person: User, **sent: Any) -> list[tuple[str, str, int]]:
    """Return a user's todos: action, author and merge request."""
    found = api.get("/todos", person, type="MergeRequest", **sent).json()
    return [(each["action_name"], each["author"]["username"], each["target"]["iid"]) for each in found]


def test_todo_for_a_failed_pipeline(api: Api, make: Make, project: Project, users: tuple[User, User]) -> None:
    """For the author, once, until the pipeline runs again; none for other commits."""
    owner, author = users
    merge_request = make_merge_request(make, project, author)
    mine = ("build_failed", author.username, merge_request["iid"])
    for name in ("lint", "test"):
        report(api, project, merge_request, owner, "failed", name=name)
    assert (todos(api, author), todos(api, owner)) == ([mine], [])
    report(api, project, merge_request, owner, "success", name="lint")
    assert todos(api, author) == [mine], "one of two is still failing"
    report(api, project, merge_request, owner, "success", name="test")
    assert (todos(api, author), todos(api, author, state="done")) == ([], [mine])

    commit(make, project, merge_request["source_branch"], {"more": "x"}, author)
    report(api, project, merge_request, owner, "failed", name="late")
    assert todos(api, author) == []
    closed = make_merge_request(make, project, author)
    assert api.put(url(project, closed), author, state_event="close").status_code == 200
    report(api, project, closed, owner, "failed", name="late")
    assert todos(api, author) == []


def test_todo_for_a_failed_scheduled_merge(api: Api, make: Make, project: Project, users: tuple[User, User]) -> None:
    """For the author and for the user who scheduled the merge."""
    owner, author = users
    merge_request = waiting(api, make, project, owner, author)
    report(api, project, merge_request, owner, "failed")
    for person in users:
        assert todos(api, person) == [("build_failed", person.username, merge_request["iid"])]
    assert todos(api, author, action="build_failed")
    assert todos(api, author, action="unmergeable") == []
    report(api, project, merge_request, owner, "running")
    assert todos(api, owner) == todos(api, author) == []


def test_todo_for_a_conflict(
    api: Api, make: Make, instance: Instance, project: Project, users: tuple[User, User]
) -> None:
    """Found when the pipeline succeeds; users without access get none."""
    owner, author = users
    first, second = (waiting(api, make, project, owner, author) for _ in range(2))
    for each in (first, second):
        commit(make, project, "master", {f"{each['source_branch']}.txt": "another\n"}, owner)
    report(api, project, first, owner, "success")
    instance.work()
    for person in users:
        assert todos(api, person) == [("unmergeable", person.username, first["iid"])]
    assert api.get(url(project, first), owner).json()["merge_error"]
    # Commenting marks the todo as done.
    assert api.post(url(project, first, "/notes"), author, body="I see").status_code == 201
    assert todos(api, author) == []

    assert api.put(project.url, owner, visibility="private").status_code == 200
    assert api.delete(f"{project.url}/members/{author.id}", owner).status_code == 200
    report(api, project, second, owner, "success")
    instance.work()
    assert todos(api, author) == []
    assert ("unmergeable", owner.username, second["iid"]) in todos(api, owner)


def test_approvals_create_no_todos(api: Api, make: Make, project: Project, users: tuple[User, User]) -> None:
    """Cancelling a scheduled merge creates none either."""
    owner, author = users
    merge_request = waiting(api, make, project, owner, author)
    assert api.post(url(project, merge_request, "/approve"), owner).status_code == 201
    assert api.put(url(project, merge_request, "/cancel_merge_when_pipeline_succeeds"), owner).status_code == 200
    again = waiting(api, make, project, owner, author)
    commit(make, project, again["source_branch"], {"more": "x"}, author)
    assert todos(api, owner) == todos(api, author) == []
