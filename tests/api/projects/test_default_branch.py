"""Default branches: HEAD and the row agree after errors and crashes, and no repository is left over."""

import threading
from pathlib import Path
from typing import Any

import pytest

from ingot.core.db.connection import Connection
from ingot.core.jobs.queue import enqueue
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.default_branch import RECONCILE_HEAD, head_job_key
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.service import set_default_branch
from ingot.projects.projects.tables import projects
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.git.conftest import Clone


@pytest.fixture
def store(instance: Instance) -> RepositoryStore:
    return repository_store(instance.settings)


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(api: Api, make: Make, owner: User) -> dict[str, Any]:
    made = api.post("/projects", owner, name=make.name("project"))
    assert made.status_code == 201, made.text
    document: dict[str, Any] = made.json()
    return document


def _key(instance: Instance, project: dict[str, Any]) -> str:
    key: str = instance.app.database.read(lambda db: existing_project(db, project["id"])).repository_key
    return key


def _fill(instance: Instance, project: dict[str, Any], folder: Path, *branches: str) -> None:
    clone = Clone(folder / "clone")
    clone.commit()
    clone.push(
        repository_store(instance.settings).path_of(_key(instance, project)),
        *(f"HEAD:refs/heads/{name}" for name in branches),
    )


def test_head_is_updated_before_the_response(
    instance: Instance, api: Api, owner: User, project: dict[str, Any], store: RepositoryStore, tmp_path: Path
) -> None:
    _fill(instance, project, tmp_path, "master", "other")
    edited = api.put(f"/projects/{project['id']}", owner, default_branch="other")
    assert (edited.status_code, edited.json()["default_branch"]) == (200, "other")
    repository = store.open(_key(instance, project))
    assert repository.head_branch() == "other"
    instance.work()
    assert repository.head_branch() == "other"
    refused = api.put(f"/projects/{project['id']}", owner, default_branch="missing")
    assert refused.status_code == 400
    assert repository.head_branch() == "other"


def test_a_rejected_edit_leaves_head(
    instance: Instance, api: Api, make: Make, owner: User, project: dict[str, Any], store: RepositoryStore
) -> None:
    """A rolled-back edit moves nothing."""
    database = instance.app.database

    def edit_and_fail(db: Connection) -> None:
        set_default_branch(db, existing_project(db, project["id"]), store, "trunk")
        raise RuntimeError("something later in the same call")

    with pytest.raises(RuntimeError):
        database.write(edit_and_fail)
    assert store.open(_key(instance, project)).head_branch() == "master"
    assert api.get(f"/projects/{project['id']}", owner).json()["default_branch"] == "master"


def test_a_job_repairs_a_crash_between_commit_and_head(
    instance: Instance, api: Api, owner: User, project: dict[str, Any], store: RepositoryStore
) -> None:
    def commit_only(db: Connection) -> None:
        db.update(projects, project["id"], default_branch="trunk")
        enqueue(db, RECONCILE_HEAD, {"project_id": project["id"]}, unique_key=head_job_key(project["id"]))

    instance.app.database.write(commit_only)
    assert store.open(_key(instance, project)).head_branch() == "master"
    instance.work()
    assert store.open(_key(instance, project)).head_branch() == "trunk"
    assert api.get(f"/projects/{project['id']}", owner).json()["default_branch"] == "trunk"


def test_an_impossible_default_branch_is_reset(
    instance: Instance, api: Api, owner: User, project: dict[str, Any], store: RepositoryStore, tmp_path: Path
) -> None:
    """The branch was deleted between the commit and the job: the row is set to the target of HEAD."""
    _fill(instance, project, tmp_path, "master")

    def commit_only(db: Connection) -> None:
        db.update(projects, project["id"], default_branch="deleted")
        enqueue(db, RECONCILE_HEAD, {"project_id": project["id"]}, unique_key=head_job_key(project["id"]))

    instance.app.database.write(commit_only)
    instance.work()
    assert store.open(_key(instance, project)).head_branch() == "master"
    assert api.get(f"/projects/{project['id']}", owner).json()["default_branch"] == "master"


def test_concurrent_edits_agree(
    instance: Instance, api: Api, owner: User, project: dict[str, Any], store: RepositoryStore
) -> None:
    def edit(branch: str) -> None:
        for _ in range(5):
            assert api.put(f"/projects/{project['id']}", owner, default_branch=branch).status_code == 200

    threads = [threading.Thread(target=edit, args=(branch,)) for branch in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    row = api.get(f"/projects/{project['id']}", owner).json()["default_branch"]
    assert store.open(_key(instance, project)).head_branch() == row


def test_a_rejected_creation_leaves_no_repository(
    api: Api, make: Make, owner: User, project: dict[str, Any], store: RepositoryStore
) -> None:
    other = make.user()
    before = set(store.keys())
    taken = api.post("/projects", owner, name=project["name"])
    assert taken.status_code == 400
    unfit = api.post("/projects", owner, name="x", namespace_id=10**9)
    assert unfit.status_code == 400
    assert api.post(f"/projects/user/{10**9}", make.root, name="x").status_code == 404
    again = api.post(f"/projects/{project['id']}/fork", owner)
    assert again.status_code == 409, again.text
    assert api.post(f"/projects/{project['id']}/fork", other).status_code == 404
    assert set(store.keys()) == before
    made = api.post("/projects", owner, name="y")
    assert made.status_code == 201
    assert len(set(store.keys()) - before) == 1
