"""``ingot backup``, ``ingot restore`` and ``ingot doctor`` with wikis."""

import shutil
from pathlib import Path

import pytest

from ingot.git.core.repository import Repository
from ingot.git.maintenance.store import RepositoryStore
from tests.server.process import Server, fresh_database, ingot
from tests.server.test_backup import data_options


@pytest.fixture
def wiki(server: Server) -> Path:
    """Return the wiki repository of a project ``root/app``, with a page."""
    made = server.call("POST", "/projects", json={"name": "app"})
    assert made.status_code == 201, made.text
    store = RepositoryStore(server.data / "repositories")
    before = set(store.keys())
    page = server.call("POST", f"/projects/{made.json()['id']}/wikis", json={"title": "home", "content": "kept"})
    assert page.status_code == 201, page.text
    (key,) = set(store.keys()) - before
    return store.path_of(key)


@pytest.fixture
def group_wiki(server: Server) -> Path:
    """Return the wiki repository of a group ``team``, with a page."""
    made = server.call("POST", "/groups", json={"name": "team", "path": "team"})
    store = RepositoryStore(server.data / "repositories")
    before = set(store.keys())
    page = server.call("POST", f"/groups/{made.json()['id']}/wikis", json={"title": "home", "content": "kept"})
    assert page.status_code == 201, page.text
    (key,) = set(store.keys()) - before
    return store.path_of(key)


def test_wikis_are_restored(server: Server, database_url: str, wiki: Path, group_wiki: Path, tmp_path: Path) -> None:
    """With all refs; HEAD of a wiki does not affect its project."""
    Repository(wiki).set_head("elsewhere")
    file = tmp_path / "backup.tar.gz"
    written = ingot("backup", file, *data_options(server.data, server.database_url))
    assert (written.returncode, written.stderr) == (0, "")
    url = fresh_database(database_url, "restored_wikis")
    restored = ingot("restore", file, *data_options(tmp_path / "target", url))
    assert (restored.returncode, restored.stderr) == (0, "")
    for each in (wiki, group_wiki):
        there = RepositoryStore(tmp_path / "target" / "repositories").path_of(each.stem)
        assert Repository(there).refs() == Repository(each).refs() != {}
    assert ingot("doctor", *data_options(tmp_path / "target", url)).stdout == "No problems found.\n"


def test_the_doctor_checks_wikis(server: Server, wiki: Path, group_wiki: Path) -> None:
    """Missing ones are reported under their own names."""
    assert ingot("doctor", *data_options(server.data, server.database_url)).stdout == "No problems found.\n"
    shutil.rmtree(wiki)
    shutil.rmtree(group_wiki)
    said = ingot("doctor", *data_options(server.data, server.database_url)).stdout
    assert "root/app.wiki has no repository" in said
    assert "team.wiki has no repository" in said
