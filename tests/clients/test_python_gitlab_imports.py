"""python-gitlab: imports of projects and uploads of files."""

from collections.abc import Iterator
from pathlib import Path

import gitlab
import httpx
import pytest

from tests.api.projects.import_server import Importer, SlowServer, filled, serving_importer
from tests.conftest import ROOT_TOKEN
from tests.git.git_server import serving
from tests.server.process import fresh_database


@pytest.fixture(scope="module")
def importer(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[Importer]:
    """Yield a running instance whose imports may reach loopback."""
    url = fresh_database(database_url, "python_gitlab_imports")
    with serving_importer(tmp_path_factory.mktemp("imports"), url) as running:
        yield running


@pytest.fixture
def client(importer: Importer) -> Iterator[gitlab.Gitlab]:
    """Yield a client of the instance, authenticated as root."""
    with gitlab.Gitlab(importer.instance.url, private_token=ROOT_TOKEN) as client:
        yield client


def test_a_project_is_imported(importer: Importer, client: gitlab.Gitlab, tmp_path: Path) -> None:
    """Created with a URL, then polled until it has finished."""
    with serving(SlowServer(filled(tmp_path / "served"))) as server:
        project = client.projects.create({"name": "imported", "import_url": f"{server.url}/remote.git"})
        assert project.import_status == "scheduled"
        assert project.imports.get().import_status == "scheduled"
        importer.instance.work()
        status = project.imports.get()
        assert (status.import_status, status.import_error) == ("finished", None)
        again = client.projects.get(project.id, statistics=True)
        assert (again.default_branch, again.statistics["commit_count"]) == ("trunk", 4)
        assert again.import_url == f"{server.url}/remote.git"


def test_an_invalid_url_is_rejected(client: gitlab.Gitlab) -> None:
    """The client raises an error with our message."""
    with pytest.raises(gitlab.exceptions.GitlabCreateError) as raised:
        client.projects.create({"name": "bad", "import_url": "file:///etc"})
    assert raised.value.response_code == 400
    assert "Only http and https URLs are allowed" in str(raised.value)


def test_a_file_is_uploaded_and_served(importer: Importer, client: gitlab.Gitlab, tmp_path: Path) -> None:
    """By content and by path; the returned URL works."""
    project = client.projects.create({"name": "attachments"})
    (tmp_path / "notes.txt").write_text("hello")
    uploads = [
        project.upload("picture.png", filedata=b"\x89PNG"),
        project.upload("notes.txt", filepath=str(tmp_path / "notes.txt")),
    ]
    assert [upload["alt"] for upload in uploads] == ["picture", "notes.txt"]
    assert uploads[0]["markdown"] == f"![picture]({uploads[0]['url']})"
    headers = {"PRIVATE-TOKEN": ROOT_TOKEN}
    address = f"{importer.instance.url}/{project.path_with_namespace}{uploads[1]['url']}"
    assert httpx.get(address, headers=headers).text == "hello"
    assert httpx.get(address).status_code == 404
