"""Pushes whose commits mention issues."""

import pytest
from sqlalchemy import func, select

from ingot.collaboration.issues.discussions import jobs as work
from ingot.collaboration.issues.discussions.jobs import READ_COMMITS
from ingot.core.db.connection import Connection
from ingot.core.jobs.tables import jobs
from ingot.git.writing import change_summary
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.transport.conftest import Tree, over_http


def test_a_push_closes_mentioned_issues(instance: Instance, api: Api, make: Make, tree: Tree) -> None:
    """The first push, a branch, and its merge: commits on the default branch close, once."""
    owner = make.user()
    project = make_project(make, owner)
    for title in ("one", "two", "three"):
        assert api.post(f"{project.url}/issues", owner, title=title).status_code == 201

    def states() -> list[str]:
        return [issue["state"] for issue in api.get(f"{project.url}/issues", owner, sort="asc").json()]

    address = f"{instance.settings.base_url}/{project.path}/issues/2"
    tree.commit(message="Begin\n\nFixes #1")
    tree.git("push", "-q", over_http(instance, project, owner), "master")
    assert states() == ["closed", "opened", "opened"]
    tree.git("checkout", "-q", "-b", "topic")
    tree.commit(content="more\n", message=f"Closes {address} and #3")
    tree.git("push", "-q", over_http(instance, project, owner), "topic")
    assert states() == ["closed", "opened", "opened"]
    tree.git("push", "-q", over_http(instance, project, owner), "topic:master")
    assert states() == ["closed", "closed", "closed"]

    notes = api.get(f"{project.url}/issues/3/notes", owner, sort="asc").json()
    assert [note["body"].rpartition(" ")[0] for note in notes] == ["mentioned in commit", "closed via commit"]
    # A reopened issue is not closed again by the same commit elsewhere, nor by its removal.
    assert api.put(f"{project.url}/issues/3", owner, state_event="reopen").status_code == 200
    tree.git("push", "-q", over_http(instance, project, owner), "topic:again", ":topic")
    instance.work()
    assert states() == ["closed", "closed", "opened"]


def test_a_commit_through_the_api_closes_once(instance: Instance, api: Api, make: Make) -> None:
    owner = make.user()
    project = make_project(make, owner, initialize_with_readme=True)
    api.post(f"{project.url}/issues", owner, title="one")
    sent = {"branch": "master", "content": "x", "commit_message": "Fixes #1"}
    waiting = _pending(instance)
    assert api.post(f"{project.url}/repository/files/a", owner, **sent).status_code == 201
    assert api.get(f"{project.url}/issues/1", owner).json()["state"] == "closed"
    assert _pending(instance) == waiting
    assert api.put(f"{project.url}/issues/1", owner, state_event="reopen").status_code == 200
    instance.work()
    assert api.get(f"{project.url}/issues/1", owner).json()["state"] == "opened"
    bodies = [note["body"].split()[0] for note in api.get(f"{project.url}/issues/1/notes", owner, sort="asc").json()]
    assert bodies == ["closed", "reopened"]


def test_a_job_continues_after_a_crash(
    instance: Instance, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner = make.user()
    project = make_project(make, owner, initialize_with_readme=True)
    api.post(f"{project.url}/issues", owner, title="one")
    monkeypatch.setattr(work, "JOB_DELAY_SECONDS", 0)
    sent = {"branch": "master", "content": "x", "commit_message": "Fixes #1"}
    with monkeypatch.context() as patch:
        patch.setattr(Connection, "after_transaction", lambda *_: None)
        assert api.post(f"{project.url}/repository/files/a", owner, **sent).status_code == 201
    assert api.get(f"{project.url}/issues/1", owner).json()["state"] == "opened"
    instance.work()
    assert api.get(f"{project.url}/issues/1", owner).json()["state"] == "closed"


def test_a_job_reads_many_commits(
    instance: Instance, api: Api, make: Make, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest ones at once; and none of them twice."""
    owner = make.user()
    project = make_project(make, owner)
    for number in (1, 2, 3):
        api.post(f"{project.url}/issues", owner, title="one")
        tree.commit(content=str(number), message=f"Fixes #{number}")
    monkeypatch.setattr(change_summary, "MAX_MESSAGES", 2)
    tree.git("push", "-q", over_http(instance, project, owner), "master")

    def states() -> list[str]:
        return [issue["state"] for issue in api.get(f"{project.url}/issues", owner, sort="asc").json()]

    assert states() == ["opened", "closed", "closed"]
    assert api.put(f"{project.url}/issues/3", owner, state_event="reopen").status_code == 200
    instance.work()
    assert states() == ["closed", "closed", "opened"]


def _pending(instance: Instance) -> int:
    count: int = instance.app.database.read(
        lambda db: db.value(select(func.count()).where(jobs.c.kind == READ_COMMITS))
    )
    return count
