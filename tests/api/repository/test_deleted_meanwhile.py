"""Projects deleted while their repository is in use: 404 and a log line, in the API and on pages."""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from sqlalchemy import bindparam

from ingot.core.db.connection import Connection
from ingot.core.names import NAMESPACES
from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.filters import PROJECTS
from ingot.projects.projects.queries import existing_project
from ingot.projects.projects.service import delete_project
from ingot.projects.projects.tables import Project as ProjectRow
from ingot.projects.projects.tables import projects
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import History

READS = [
    "/repository/branches",
    "/repository/branches/master",
    "/repository/tags",
    "/repository/commits",
    "/repository/commits/master",
    "/repository/commits/master/diff",
    "/repository/commits/master/refs",
    "/repository/tree",
    "/repository/tree?recursive=true",
    "/repository/files/README?ref=master",
    "/repository/files/README/blame?ref=master",
    "/repository/files/README/raw?ref=master",
    "/repository/compare?from=master&to=topic",
    "/repository/contributors",
    "/repository/merge_base?refs[]=master&refs[]=topic",
    "/repository/archive.zip",
    "/languages",
    "/search?scope=blobs&search=x",
]
WRITES: list[tuple[str, dict[str, Any]]] = [
    ("/repository/branches", {"branch": "new", "ref": "master"}),
    ("/repository/tags", {"tag_name": "new", "ref": "master"}),
    ("/repository/files/new", {"branch": "master", "content": "x", "commit_message": "x"}),
    ("/merge_requests", {"source_branch": "topic", "target_branch": "master", "title": "x"}),
]
PAGES = ["", "/-/tree/master", "/-/blob/master/README", "/-/commits/master", "/-/branches", "/-/compare/master...topic"]

_BY_KEY = PROJECTS.where(projects.c.repository_key == bindparam("key"))
DeleteWhenOpened = Callable[[Project], None]


@pytest.fixture
def delete_when_opened(instance: Instance, monkeypatch: pytest.MonkeyPatch) -> Iterator[DeleteWhenOpened]:
    """Yield a function that deletes a project with its repository as soon as the next request has opened it."""
    doomed: set[str] = set()
    open_repository = RepositoryStore.open

    def open_then_delete(store: RepositoryStore, key: str) -> Repository:
        opened = open_repository(store, key)
        if key in doomed:
            doomed.remove(key)
            store.remove(key)
            instance.app.database.write(lambda db: _delete(db, key))
        return opened

    monkeypatch.setattr(RepositoryStore, "open", open_then_delete)
    yield lambda project: doomed.add(_key(instance, project))


def _delete(db: Connection, key: str) -> None:
    db.lock(NAMESPACES)
    project = db.first(ProjectRow, _BY_KEY, key=key)
    assert project is not None
    delete_project(db, project)


def _key(instance: Instance, project: Project) -> str:
    return instance.app.database.read(lambda db: existing_project(db, project.id)).repository_key


def _project(instance: Instance, make: Make, owner: User) -> Project:
    project = make_project(make, owner, visibility="public")
    history = History()
    mark = history.commit(files={"README": "x\n"})
    history.commit("topic", files={"more": "y\n"}, parents=(mark,))
    history.fill(instance, project)
    return project


@pytest.fixture(scope="module")
def owner(make: Make) -> User:
    return make.user()


def _response(
    instance: Instance, make: Make, owner: User, delete_when_opened: DeleteWhenOpened, path: str, **sent: Any
) -> httpx.Response:
    project = _project(instance, make, owner)
    delete_when_opened(project)
    url = f"{instance.url}/api/v4{project.url}{path}"
    return httpx.request("POST" if sent else "GET", url, headers={"PRIVATE-TOKEN": owner.token}, json=sent or None)


@pytest.mark.parametrize("path", READS)
def test_reads(instance: Instance, make: Make, owner: User, delete_when_opened: DeleteWhenOpened, path: str) -> None:
    answer = _response(instance, make, owner, delete_when_opened, path)
    assert answer.status_code == 404, answer.text
    assert answer.json()["message"].endswith("Not Found")


@pytest.mark.parametrize(("path", "sent"), WRITES)
def test_writes(
    instance: Instance, make: Make, owner: User, delete_when_opened: DeleteWhenOpened, path: str, sent: dict[str, Any]
) -> None:
    answer = _response(instance, make, owner, delete_when_opened, path, **sent)
    assert answer.status_code in (400, 404), answer.text


@pytest.mark.parametrize("path", PAGES)
def test_pages(instance: Instance, make: Make, owner: User, delete_when_opened: DeleteWhenOpened, path: str) -> None:
    project = _project(instance, make, owner)
    url = f"{instance.url}/{project.path}{path}"
    assert httpx.get(url).status_code == 200
    another = _project(instance, make, owner)
    delete_when_opened(another)
    assert httpx.get(f"{instance.url}/{another.path}{path}").status_code == 404


ERRORS = [KeyError("object"), OSError("failed to open pack"), AttributeError("None has no attribute"), AssertionError()]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_errors_that_a_deletion_causes(
    instance: Instance, make: Make, owner: User, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Any error of a read whose project disappeared becomes a 404; otherwise the error is a fault."""
    open_repository = RepositoryStore.open
    doomed: dict[str, bool] = {}

    def fail(store: RepositoryStore, key: str) -> Repository:
        if key not in doomed:
            return open_repository(store, key)
        if doomed.pop(key):
            store.remove(key)
            instance.app.database.write(lambda db: _delete(db, key))
        else:
            doomed[key] = False
        raise error

    monkeypatch.setattr(RepositoryStore, "open", fail)
    token = {"PRIVATE-TOKEN": owner.token}
    for deletes in (True, False):
        for url in ("/api/v4{project.url}/repository/tree", "/{project.path}/-/tree/master", "/{project.path}"):
            project = _project(instance, make, owner)
            doomed[_key(instance, project)] = deletes
            status = httpx.get(instance.url + url.format(project=project), headers=token).status_code
            assert status == 404 if deletes else status >= 500, (url, deletes)
            doomed.clear()


def test_the_error_behind_a_404_is_logged(
    instance: Instance, make: Make, owner: User, delete_when_opened: DeleteWhenOpened, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "ingot"):
        assert _response(instance, make, owner, delete_when_opened, "/repository/tree").status_code == 404
    (record,) = [each for each in caplog.records if each.getMessage() == "deleted during the request"]
    fields: dict[str, str] = record.__dict__["fields"]
    assert (fields["route"], fields["error"]) == ("/projects/:id/repository/tree", "MissingRepository")
    assert "open_repository" in fields["where"]


def test_a_missing_repository_of_an_existing_project_is_no_404(instance: Instance, make: Make, owner: User) -> None:
    """The caller gets a server error, because the project exists."""
    project = _project(instance, make, owner)
    repository_store(instance.settings).remove(_key(instance, project))
    answer = httpx.get(f"{instance.url}/api/v4{project.url}/repository/tree", headers={"PRIVATE-TOKEN": owner.token})
    assert answer.status_code == 503
    assert "cannot be read" in answer.json()["message"]
    assert answer.headers["retry-after"].isdigit()
    assert httpx.get(f"{instance.url}/{project.path}/-/tree/master").status_code == 503
