"""Blobs by id."""

from base64 import b64decode

import pytest

from tests.api.repository.sample_repository import BINARY, SampleRepository, make_sample
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import History, repository_of, run


@pytest.fixture(scope="module")
def sample(instance: Instance, make: Make) -> SampleRepository:
    return make_sample(instance, make)


def _oid(sample: SampleRepository, path: str) -> str:
    return run(sample.repository.path, "rev-parse", f"master:{path}")


def test_a_blob_by_its_id(api: Api, sample: SampleRepository) -> None:
    oid = _oid(sample, "binary.bin")
    for name in (oid, oid[:10], oid.upper()):
        shown = api.get(f"{sample.url}/blobs/{name}").json()
        assert b64decode(shown.pop("content")) == BINARY
        assert shown == {"size": len(BINARY), "encoding": "base64", "sha": oid}


def test_raw_blob(api: Api, sample: SampleRepository) -> None:
    oid = _oid(sample, "page.html")

    answer = api.get(f"{sample.url}/blobs/{oid}/raw")

    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.headers["content-security-policy"] == "sandbox; default-src 'none'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["etag"] == f'"{oid}"'
    part = api.request("GET", f"{sample.url}/blobs/{oid}/raw", headers={"Range": "bytes=1-6"})
    assert (part.status_code, part.content) == (206, b"script")


def test_an_empty_blob(api: Api, sample: SampleRepository) -> None:
    oid = _oid(sample, "empty")

    assert api.get(f"{sample.url}/blobs/{oid}").json()["content"] == ""
    assert api.get(f"{sample.url}/blobs/{oid}/raw").content == b""


@pytest.mark.parametrize(
    "name",
    [
        "123456",
        "master",
        "0" * 40,
        "0" * 41,
        "abc",
        "-x",
        "--output=%2Ftmp%2Fx",
        "HEAD",
        "%F0%9F%A6%8A",
        "master:README.md",
    ],
)
def test_invalid_ids_are_not_found(api: Api, sample: SampleRepository, name: str) -> None:
    for part in ("", "/raw"):
        answer = api.get(f"{sample.url}/blobs/{name}{part}")
        assert (answer.status_code, answer.json()) == (404, {"message": "404 Blob Not Found"})


def test_commits_and_trees_are_not_blobs(api: Api, sample: SampleRepository) -> None:
    for oid in (sample.tip, _oid(sample, "deep")):
        for part in ("", "/raw"):
            assert api.get(f"{sample.url}/blobs/{oid}{part}").status_code == 404


def test_a_large_blob(api: Api, instance: Instance, make: Make) -> None:
    content = bytes(range(256)) * 9_999
    project = make_project(make, visibility="public")
    history = History()
    history.commit(files={"large": content})
    repository = repository_of(instance, project)
    history.into(repository)
    oid = run(repository.path, "rev-parse", "master:large")

    assert b64decode(api.get(f"{project.url}/repository/blobs/{oid}").json()["content"]) == content
    assert api.get(f"{project.url}/repository/blobs/{oid}/raw").content == content
