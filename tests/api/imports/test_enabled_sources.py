"""Settings that allow imports by their source, and limit their files."""

import os
from typing import Any

import pytest

from tests.api.imports.conftest import ImportingInstance
from tests.client import Api, Make
from tests.factories import changed_settings, make_project

ALL = ["github", "git", "gitlab_project", "gitea"]
ENTITY = {"source_type": "project_entity", "source_full_path": "a/b", "destination_namespace": "root"}


def _bulk(kind: str) -> dict[str, Any]:
    configuration = {"url": "http://127.0.0.1:9", "access_token": "t", "source_type": kind}
    return {"configuration": configuration, "entities": [ENTITY]}


SERVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "github": ("/import/github", {"personal_access_token": "t", "repo_id": 1, "target_namespace": "root"}),
    "gitea": ("/import/gitea", {"personal_access_token": "t", "repository": "a/b", "target_namespace": "root"}),
}


@pytest.mark.parametrize("kind", SERVERS)
def test_forges(api: Api, make: Make, kind: str) -> None:
    """Enabled ones are asked, which the guard of outgoing requests refuses here."""
    path, sent = SERVERS[kind]
    host = "github_hostname" if kind == "github" else "gitea_host_url"
    calls = [(path, sent | {host: "http://127.0.0.1:9"}), ("/bulk_imports", _bulk(kind))]
    calls += [("/bulk_imports/plan", _bulk(kind))]
    assert api.get("/application/settings", make.root).json()["import_sources"] == ALL
    for sources, status in (([name for name in ALL if name != kind], 403), ([kind], 400)):
        with changed_settings(make, import_sources=sources):
            for address, body in calls:
                answer = api.request("POST", address, make.root, json=body)
                assert answer.status_code == status, (address, answer.text)
    titles = {"github": "GitHub", "gitea": "Gitea"}
    with changed_settings(make, import_sources=["git"]):
        refused = api.request("POST", "/bulk_imports", make.root, json=_bulk(kind)).json()
    assert refused == {"message": f"403 Forbidden - Imports from {titles[kind]} are disabled"}


def test_archives(api: Api, make: Make) -> None:
    file = {"file": ("a.tar.gz", b"no archive")}
    group = {"name": make.name("group"), "path": make.name("group")}
    remote = {"url": "http://127.0.0.1:9/a.tar.gz", "path": make.name("project")}
    for sources, status in ((["git", "github"], 403), (ALL, 400)):
        with changed_settings(make, import_sources=sources):
            for path, sent in (("/groups/import", {"data": group, "files": file}), ("/projects/remote-import", {})):
                answer = api.request("POST", path, make.root, **(sent or {"json": remote}))
                assert answer.status_code == status, (path, answer.text)
    with changed_settings(make, import_sources=["git"]):
        refused = api.request("POST", "/projects/import", make.root, data={"path": make.name("project")}, files=file)
    assert refused.status_code == 403


def test_imports_from_gitlab(api: Api, make: Make) -> None:
    for enabled, status in ((False, 403), (True, 400)):
        with changed_settings(make, bulk_import_enabled=enabled):
            for path in ("/bulk_imports", "/bulk_imports/plan"):
                assert api.request("POST", path, make.root, json=_bulk("gitlab")).status_code == status
    assert api.get("/bulk_imports", make.root).status_code == 200


def test_files_of_an_import_are_limited(importing: ImportingInstance, api: Api, make: Make) -> None:
    """A text keeps the link to a file that is larger."""
    project = make_project(make, make.root)
    picture = {"file": ("picture.bin", os.urandom(1_500_000))}
    uploaded = api.request("POST", f"{project.url}/uploads", make.root, files=picture)
    assert uploaded.status_code == 201, uploaded.text
    text = uploaded.json()["markdown"]
    assert api.post(f"{project.url}/issues", make.root, title="Large", description=text).status_code == 201
    copied = []
    for limit in (1, 2):
        with changed_settings(importing.make, bulk_import_max_download_file_size=limit):
            entity = importing.import_project(project.path, f"limited-{limit}")
        assert entity["status"] == "finished", entity
        listed = importing.api.get(f"/projects/{entity['project_id']}/uploads", importing.root)
        copied.append([each["filename"] for each in listed.json()])
    assert copied == [[], ["picture.bin"]]
