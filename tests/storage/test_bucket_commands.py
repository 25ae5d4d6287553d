"""Commands for repositories in a bucket: the cache of the machine, doctor, moves, backup and restore."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select

from ingot.core.db.schema import all_tables
from ingot.core.storage.configuration import store_client
from ingot.core.storage.s3 import BucketDriver
from ingot.git.bucket.tables import stored_packs
from ingot.git.core.repository import Repository
from ingot.projects.projects.api import repository_store
from tests.factories import Project, make_project
from tests.second_instance import SecondInstance, serving
from tests.server.process import ingot
from tests.storage.repositories_in_bucket import bucket_settings, delete_copies, leave_unused, use_bucket
from tests.storage.s3_server import S3Server
from tests.web.browser import Browser


@pytest.fixture
def bucket(s3: S3Server) -> dict[str, Any]:
    """Return the settings of an instance with repositories in a bucket."""
    return bucket_settings(s3, f"repositories-{time.time_ns()}")


@pytest.fixture
def served(bucket: dict[str, Any], tmp_path: Path) -> Iterator[SecondInstance]:
    """Yield an instance with repositories in a bucket."""
    with serving(tmp_path / "served", **bucket) as instance:
        use_bucket(instance.api, instance.make.root)
        yield instance


@pytest.fixture
def project(served: SecondInstance) -> Project:
    """Return a project with a commit."""
    project = make_project(served.make, served.make.root)
    sent = {"branch": "master", "content": "text", "commit_message": "Add a file"}
    made = served.api.post(f"{project.url}/repository/files/README.md", served.make.root, **sent)
    assert made.status_code == 201, made.text
    return project


def _run(served: SecondInstance, bucket: dict[str, Any], *arguments: object) -> tuple[int, str]:
    variables = {f"INGOT_{name.upper()}": value for name, value in bucket.items()}
    done = ingot(*arguments, "--data", served.settings.data, **variables)
    return done.returncode, done.stdout + done.stderr


def test_the_cache_is_listed_and_cleared(served: SecondInstance, bucket: dict[str, Any], project: Project) -> None:
    status, listed = _run(served, bucket, "storage", "cache")
    assert (status, "1 copies" in listed, project.path in listed) == (0, True, True), listed
    assert _run(served, bucket, "storage", "cache", "--clear") == (0, "Deleted 0 copies.\n")  # It was used just now.
    leave_unused(served.settings)
    assert _run(served, bucket, "storage", "cache", "--clear") == (0, "Deleted 1 copies.\n")
    assert "0 copies" in _run(served, bucket, "storage", "cache")[1]
    branch = served.api.get(f"{project.url}/repository/branches/master", served.make.root)
    assert branch.json()["commit"]["message"] == "Add a file"
    assert ingot("storage", "cache", "--data", served.settings.data).returncode == 1


def test_uses_of_the_cache_are_shown(served: SecondInstance, bucket: dict[str, Any], project: Project) -> None:
    root = served.make.root
    delete_copies(served.settings)
    for _ in range(2):
        assert served.api.get(f"{project.url}/repository/branches/master", root).status_code == 200
    metrics = httpx.get(f"{served.url}/-/metrics").text
    for line in ("ingot_repository_copies 1.0", "ingot_repository_downloaded_packs_total 1.0"):
        assert line in metrics.splitlines(), metrics
    (size,) = (line for line in metrics.splitlines() if line.startswith("ingot_repository_copies_bytes "))
    assert float(size.split()[1]) > 0
    with Browser(served.url) as browser:
        page = browser.signed_in_as(root).get("/admin").text
    assert "Repository cache" in page and "Downloaded packs</span> 1 (" in page, page


def test_doctor_names_missing_objects(served: SecondInstance, bucket: dict[str, Any], project: Project) -> None:
    assert _run(served, bucket, "doctor", "--quick")[0] == 0
    assert _run(served, bucket, "doctor")[0] == 0
    client = store_client(served.settings)
    assert client is not None
    key = served.app.database.read(lambda db: db.value(select(stored_packs.c.object_key)))
    BucketDriver(client, "repositories").delete(f"{key}.idx")
    status, found = _run(served, bucket, "doctor", "--quick")
    assert (status, f"repositories/{key}.idx is missing" in found) == (1, True), found
    delete_copies(served.settings)
    assert f"{project.path} cannot be read from the bucket" in _run(served, bucket, "doctor")[1]


def test_a_backup_restores_directories(
    served: SecondInstance, bucket: dict[str, Any], project: Project, tmp_path: Path
) -> None:
    status, said = _run(served, bucket, "backup", tmp_path / "backup")
    assert status == 0, said
    store = repository_store(served.settings)
    (key,) = [key for key in store.keys() if store.exists(key)]  # noqa: SIM118 - It is no dictionary.
    restored = ingot("restore", tmp_path / "backup", "--data", tmp_path / "restored")
    assert restored.returncode == 0, restored.stderr
    with serving(tmp_path / "restored") as instance:
        copy = Repository(repository_store(instance.settings).path_of(key.rpartition(":")[2]))
        assert copy.refs() == store.open(key).refs() != {}
        branch = instance.api.get(f"{project.url}/repository/branches/master", served.make.root)
        assert branch.json()["commit"]["message"] == "Add a file"
        tables = [table for table in all_tables() if table.name.startswith("stored_")]
        counts = [select(func.count()).select_from(table) for table in tables]
        assert instance.app.database.read(lambda db: [db.value(each) for each in counts]) == [0, 0, 0]


def test_repositories_are_moved_by_the_command(
    served: SecondInstance, bucket: dict[str, Any], project: Project
) -> None:
    for storage in ("default", "cloud"):
        status, said = _run(served, bucket, "storage", "move-repository", project.path, "--to", storage)
        assert (status, said) == (0, f"{project.path}: finished\n")
        assert served.api.get(project.url, served.make.root).json()["repository_storage"] == storage
        branch = served.api.get(f"{project.url}/repository/branches/master", served.make.root)
        assert branch.json()["commit"]["message"] == "Add a file"
