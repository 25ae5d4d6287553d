"""Imports that are refused or fail, and the callers who may see an import."""

from typing import Any

import pytest

from tests.api.imports.conftest import ImportingInstance, SourceProject
from tests.client import Api, Make


def _sent(importing: ImportingInstance, **changes: Any) -> dict[str, Any]:
    entity = {
        "source_type": "project_entity",
        "source_full_path": "root/none",
        "destination_namespace": "root",
        "destination_slug": importing.make.name("refused"),
        **changes.pop("entity", {}),
    }
    return {"configuration": {**importing.configuration(), **changes.pop("source", {})}, "entities": [entity]}


def test_an_import_fails_with_a_reason(importing: ImportingInstance) -> None:
    """An unknown project, a wrong token and a server that is not there."""
    for changes in (
        {},
        {"source": {"access_token": "wrong"}},
    ):
        run = importing.api.request("POST", "/bulk_imports", importing.root, json=_sent(importing, **changes)).json()
        importing.work()
        entity = importing.entity(run)
        assert (entity["status"], entity["project_id"]) == ("failed", None), entity
        (failure,) = entity["failures"]
        assert failure["exception_message"]
        listed = importing.api.get(f"/bulk_imports/{run['id']}/entities/{entity['id']}/failures", importing.root)
        assert listed.json() == entity["failures"]
        assert importing.api.get(f"/bulk_imports/{run['id']}", importing.root).json()["status"] == "failed"


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"source": {"url": "ftp://example.com"}}, 400),
        ({"source": {"url": "not a url"}}, 400),
        ({"entity": {"destination_namespace": "no-such-group"}}, 400),
        ({"entity": {"source_type": "else"}}, 400),
        ({"source": {"source_type": "svn"}}, 400),
    ],
)
def test_bad_requests(importing: ImportingInstance, changes: dict[str, Any], status: int) -> None:
    """They start nothing."""
    answer = importing.api.request("POST", "/bulk_imports", importing.root, json=_sent(importing, **changes))
    assert answer.status_code == status, answer.text


def test_local_addresses_are_refused(api: Api, make: Make) -> None:
    """The shared instance may not send requests to loopback."""
    user = make.user()
    entity = {
        "source_type": "project_entity",
        "source_full_path": "a/b",
        "destination_namespace": user.username,
        "destination_slug": "b",
    }
    sent = {"configuration": {"url": "http://127.0.0.1:1", "access_token": "x"}, "entities": [entity]}
    for path in ("/bulk_imports", "/bulk_imports/plan"):
        assert api.request("POST", path, user, json=sent).status_code == 400
    github = {"personal_access_token": "x", "repo_id": 1, "target_namespace": user.username}
    refused = api.post("/import/github", user, **github, github_hostname="http://127.0.0.1:1")
    assert refused.status_code == 400, refused.text
    remote = api.post("/projects/remote-import", user, url="http://127.0.0.1:1/a.tar.gz", path="remote")
    assert remote.status_code == 400, remote.text


def test_refused_imports_of_single_projects(api: Api, make: Make) -> None:
    """Servers on loopback, projects without an import, and archives without a file."""
    user = make.user()
    project = api.post("/projects", user, name=make.name("plain")).json()
    gitea = {"gitea_host_url": "http://127.0.0.1:1", "repository": "a/b", "target_namespace": user.username}
    assert api.post("/import/gitea", user, **gitea).status_code == 400
    for path in ("/import/github/cancel", "/import/gitea/cancel"):
        assert api.post(path, user, project_id=project["id"]).status_code == 400
    assert api.post("/projects/import", user, path="archive").status_code == 400
    for path in ("/placeholder_users/1/accept", "/placeholder_users/1/reject", "/placeholder_users/1/assign"):
        assert api.post(path, user).status_code == 404


def test_an_import_is_seen_by_its_user_only(importing: ImportingInstance, source_project: SourceProject) -> None:
    """Others, also administrators, find nothing; a canceled import stays canceled."""
    owner, other = importing.make.user(), importing.make.user()
    run = importing.start(source_project.path, owner.username, "canceled", owner)
    entity = importing.entity(run, owner)
    paths = [
        f"/bulk_imports/{run['id']}",
        f"/bulk_imports/{run['id']}/entities",
        f"/bulk_imports/{run['id']}/entities/{entity['id']}",
        f"/bulk_imports/{run['id']}/entities/{entity['id']}/failures",
        f"/bulk_imports/{run['id']}/report",
    ]
    for path in paths:
        codes = [importing.api.get(path, who).status_code for who in (owner, other, importing.root, None)]
        assert codes == [200, 404, 404, 401], path
    assert importing.api.get("/bulk_imports", other).json() == []
    assert importing.api.get("/bulk_imports/entities", other).json() == []
    assert [each["id"] for each in importing.api.get("/bulk_imports", owner, status="created").json()] == [run["id"]]
    assert importing.api.post(f"/bulk_imports/{run['id']}/cancel", other).status_code == 404
    canceled = importing.api.post(f"/bulk_imports/{run['id']}/cancel", owner)
    assert (canceled.status_code, canceled.json()["status"]) == (200, "canceled")
    importing.work()
    assert importing.entity(run, owner)["status"] == "canceled"
    assert importing.api.post(f"/bulk_imports/{run['id']}/cancel", owner).status_code == 400


def test_a_taken_path_is_refused(importing: ImportingInstance, source_project: SourceProject) -> None:
    """A project that was not imported from this source is never changed."""
    name = importing.make.name("taken")
    importing.api.post("/projects", importing.root, name=name)
    entity = importing.import_project(source_project.path, name)
    assert (entity["status"], entity["project_id"]) == ("failed", None)
    assert "taken" in entity["failures"][0]["exception_message"]


def test_plan(importing: ImportingInstance, source_project: SourceProject) -> None:
    """The plan counts what exists and stores nothing."""
    sent = _sent(importing, entity={"source_full_path": source_project.path})
    plan = importing.api.request("POST", "/bulk_imports/plan", importing.root, json=sent)
    assert plan.status_code == 200, plan.text
    (project,) = plan.json()["projects"]
    assert project["source_full_path"] == source_project.path
    assert project["counts"]["issues"] >= 2
    assert project["estimated_seconds"] >= 1
