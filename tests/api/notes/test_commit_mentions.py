"""Commits that mention issues: notes, and closing by commits of the default branch."""

from typing import Any

import pytest

from ingot.collaboration.issues.discussions import jobs
from ingot.core.access.levels import Level
from ingot.core.db.connection import Connection
from tests.api.notes.test_system_notes import system_notes
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.statements import executed


def commit(instance: Instance, api: Api, project: Project, person: User, message: str, **sent: Any) -> str:
    """Commit a new file, run the jobs, and return the commit's id."""
    name = f"file-{abs(hash(message))}"
    actions = [{"action": "create", "file_path": name, "content": "a"}]
    sent = {"branch": "master", "commit_message": message, "actions": actions, **sent}
    made = api.post(f"{project.url}/repository/commits", person, **sent)
    assert made.status_code == 201, made.text
    instance.work()
    oid: str = made.json()["id"]
    return oid


def states(api: Api, project: Project, person: User) -> dict[int, str]:
    """Return the states of a project's issues."""
    return {one["iid"]: one["state"] for one in api.get(f"{project.url}/issues", person).json()}


@pytest.fixture
def project_with_issues(api: Api, make: Make) -> tuple[User, Project]:
    """Return a project with three issues and a first commit, and its owner."""
    owner = make.user()
    project = make_project(make, owner, visibility="public", initialize_with_readme=True)
    for title in ("one", "two", "three"):
        assert api.post(f"{project.url}/issues", owner, title=title).status_code == 201
    return owner, project


def test_a_commit_is_mentioned_once(instance: Instance, api: Api, project_with_issues: tuple[User, Project]) -> None:
    owner, project = project_with_issues
    oid = commit(instance, api, project, owner, "See #1, #1 and #99", branch="topic", start_branch="master")
    assert api.post(f"{project.url}/repository/branches", owner, branch="same", ref="topic").status_code == 201
    instance.work()

    assert system_notes(api, project, owner) == [f"mentioned in commit {oid}"]
    assert system_notes(api, project, owner, 2) == []


@pytest.mark.parametrize(
    "message", ["Closes #1, #2 and #3", "Fixed #1\n\nImplements: #2. Resolving #3", "closing issues #1 and #2, fix #3"]
)
def test_commits_of_the_default_branch_close(
    instance: Instance, api: Api, project_with_issues: tuple[User, Project], message: str
) -> None:
    owner, project = project_with_issues
    oid = commit(instance, api, project, owner, message)

    assert states(api, project, owner) == {1: "closed", 2: "closed", 3: "closed"}
    assert system_notes(api, project, owner) == [f"closed via commit {oid}"]
    assert api.get(f"{project.url}/issues/1", owner).json()["closed_by"]["id"] == owner.id
    events = api.get(f"{project.url}/issues/1/resource_state_events", owner).json()
    assert [event["state"] for event in events] == ["closed"]


def test_other_branches_close_nothing(instance: Instance, api: Api, project_with_issues: tuple[User, Project]) -> None:
    owner, project = project_with_issues
    oid = commit(instance, api, project, owner, "Closes #1, and `closes #2`", branch="topic", start_branch="master")

    assert states(api, project, owner) == {1: "opened", 2: "opened", 3: "opened"}
    assert system_notes(api, project, owner) == [f"mentioned in commit {oid}"]
    assert system_notes(api, project, owner, 2) == []


def test_references_to_other_projects(
    instance: Instance, api: Api, make: Make, project_with_issues: tuple[User, Project]
) -> None:
    """Users without access to the code get no note, and issues are closed only by users who may close them."""
    owner, project = project_with_issues
    guest = make.user()
    secret = make_project(make, owner, visibility="private", members={guest: Level.GUEST}, initialize_with_readme=True)
    assert api.post(f"{secret.url}/issues", owner, title="own").status_code == 201
    oid = commit(instance, api, secret, owner, f"Closes {project.path}#1, see #1 and {project.path}#2")

    assert states(api, project, owner)[1] == "closed"
    assert system_notes(api, project, owner) == [f"closed via commit {secret.path}@{oid}"]
    assert system_notes(api, project, owner, 2) == [f"mentioned in commit {secret.path}@{oid}"]
    assert system_notes(api, secret, owner) == [f"mentioned in commit {oid}"]
    for issue in ((project, 1), (project, 2), (secret, 1)):
        assert system_notes(api, issue[0], guest, issue[1]) == []

    stranger = make.user()
    theirs = make_project(make, stranger, visibility="public", initialize_with_readme=True)
    oid = commit(instance, api, theirs, stranger, f"Closes {project.path}#3 and {secret.path}#1")
    assert states(api, project, owner)[3] == "opened"
    assert system_notes(api, project, owner, 3) == [f"mentioned in commit {theirs.path}@{oid}"]
    assert len(system_notes(api, secret, owner)) == 1


def test_very_many_references_take_bounded_work(
    instance: Instance, api: Api, project_with_issues: tuple[User, Project]
) -> None:
    """Attack: a commit that closes a hundred thousand issues, or a note that mentions as many."""
    owner, project = project_with_issues
    message = f"Closes {', '.join(f'#{number}' for number in range(1, 12_000))}"
    instance.work()  # Remaining jobs of other tests would be counted.
    before = executed(instance.app.database)
    commit(instance, api, project, owner, message)

    assert executed(instance.app.database) - before < 400
    assert set(states(api, project, owner).values()) == {"closed"}

    before = executed(instance.app.database)
    body = " ".join(f"#{1 + number % 3}" for number in range(100_000))
    assert api.post(f"{project.url}/issues/1/notes", owner, body=body).status_code == 201
    assert executed(instance.app.database) - before < 60


def test_a_user_blocked_meanwhile_closes_nothing(
    instance: Instance, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a crash left the closing to the job."""
    monkeypatch.setattr(jobs, "JOB_DELAY_SECONDS", 0)
    monkeypatch.setattr(Connection, "after_transaction", lambda *_: None)
    owner, other = make.user(), make.user()
    project = make_project(make, owner, members={other: Level.MASTER}, initialize_with_readme=True)
    assert api.post(f"{project.url}/issues", owner, title="one").status_code == 201
    actions = [{"action": "create", "file_path": "a", "content": "a"}]
    sent = {"branch": "master", "commit_message": "Closes #1", "actions": actions}
    assert api.post(f"{project.url}/repository/commits", other, **sent).status_code == 201
    assert api.post(f"/users/{other.id}/block", make.root).status_code == 201
    instance.work()

    assert states(api, project, owner) == {1: "opened"}
