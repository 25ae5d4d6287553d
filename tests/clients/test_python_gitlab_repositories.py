"""python-gitlab reads files, trees, blobs and archives."""

import io
import tarfile
from collections.abc import Iterator
from typing import Any

import gitlab
import pytest

from tests.api.repository.sample_repository import BINARY, TEXT, SampleRepository, make_sample
from tests.client import Make
from tests.conftest import Instance


@pytest.fixture(scope="module")
def sample(instance: Instance, make: Make) -> SampleRepository:
    return make_sample(instance, make)


@pytest.fixture
def project(instance: Instance, make: Make, sample: SampleRepository) -> Iterator[Any]:
    """Yield the project as seen by the administrator's client."""
    with gitlab.Gitlab(instance.url, private_token=make.root.token) as client:
        yield client.projects.get(sample.project.id)


def test_files(project: Any, sample: SampleRepository) -> None:
    file = project.files.get("ünï/cödé.txt", ref="master")
    assert file.decode() == f"This is {'ünï/cödé.txt'!r}\n".encode()
    assert project.files.get("README.md", ref="v1").decode() == TEXT.encode()
    assert project.files.raw("binary.bin", ref="HEAD") == BINARY
    head = project.files.head("README.md", ref="master")
    assert head["X-Gitlab-Last-Commit-Id"] == sample.commits[2]
    blame = project.files.blame("README.md", ref="master")
    assert [part["lines"] for part in blame] == [["line one"], ["line 2"], ["line three"]]


def test_trees_and_blobs(project: Any) -> None:
    whole = project.repository_tree(get_all=True, recursive=True, per_page=3)
    by_key = list(project.repository_tree(iterator=True, recursive=True, pagination="keyset", per_page=3))
    assert whole == by_key
    binary = next(entry for entry in whole if entry["path"] == "binary.bin")
    assert project.repository_blob(binary["id"])["size"] == len(BINARY)
    assert project.repository_raw_blob(binary["id"]) == BINARY


def test_archives(project: Any, sample: SampleRepository) -> None:
    with tarfile.open(fileobj=io.BytesIO(project.repository_archive(sha="v1"))) as unpacked:
        assert any(name.endswith("/README.md") for name in unpacked.getnames())
    assert project.repository_archive(format="zip", path="deep").startswith(b"PK")
