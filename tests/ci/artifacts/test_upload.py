"""Uploads of artifacts by runners: the stored file, limits, refusals and interrupted uploads."""

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from ingot.ci.artifacts.queries import artifacts_of_jobs
from ingot.ci.artifacts.tables import JobArtifact
from ingot.ci.job_records.dependencies import dotenv_variables
from ingot.ci.job_records.tables import JobOptions
from tests.ci.artifacts.files import gzip_of, store_of, stored_files, upload, zip_of
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project

ARCHIVE = zip_of({"bin/tool": b"binary", "readme.txt": b"hello"})


def _artifacts(rows: PipelineRows, name: str = "build") -> list[JobArtifact]:
    job = rows.job(name)
    return rows.database.read(lambda db: artifacts_of_jobs(db, [job.id])).get(job.id, [])


@pytest.fixture
def rows(make: Make) -> PipelineRows:
    """Return a pipeline with a pending job."""
    rows = PipelineRows(make, "build 0", "test 1")
    rows.process()
    return rows


def test_upload_of_an_archive(rows: PipelineRows, api: Api, make: Make, instance: Instance) -> None:
    token, job = rows.start("build"), rows.job("build")
    uploaded = upload(
        api, job.id, token, ARCHIVE, "out put.zip", artifact_type="archive", artifact_format="zip", expire_in="1 day"
    )
    assert uploaded.status_code == 201, uploaded.text
    assert uploaded.json() == {
        "file_type": "archive",
        "size": len(ARCHIVE),
        "filename": "out put.zip",
        "file_format": "zip",
    }
    [artifact] = _artifacts(rows)
    assert store_of(instance).path_of(artifact.storage_key).read_bytes() == ARCHIVE
    assert artifact.expire_at is not None
    project = api.get(rows.project.url, make.root, statistics=True).json()
    assert project["statistics"]["job_artifacts_size"] == len(ARCHIVE)


def test_second_upload_replaces_the_first(rows: PipelineRows, api: Api, make: Make, instance: Instance) -> None:
    token, job = rows.start("build"), rows.job("build")
    assert upload(api, job.id, token, ARCHIVE).status_code == 201
    [first] = _artifacts(rows)
    other = zip_of({"other": b"content"})
    assert upload(api, job.id, token, other).status_code == 201
    [second] = _artifacts(rows)
    instance.work()
    assert not store_of(instance).path_of(first.storage_key).exists()
    assert store_of(instance).path_of(second.storage_key).read_bytes() == other
    shown = api.get(rows.project.url, make.root, statistics=True).json()
    assert shown["statistics"]["job_artifacts_size"] == len(other)


def test_chunked_body_without_length(rows: PipelineRows, instance: Instance) -> None:
    token, job = rows.start("build"), rows.job("build")
    boundary = b"boundary"

    def body() -> Iterator[bytes]:
        yield b"--" + boundary + b'\r\nContent-Disposition: form-data; name="file"; filename="artifacts.zip"\r\n\r\n'
        for start in range(0, len(ARCHIVE), 50):
            yield ARCHIVE[start : start + 50]
        yield b"\r\n--" + boundary + b"--\r\n"

    headers = {"JOB-TOKEN": token, "Content-Type": f"multipart/form-data; boundary={boundary.decode()}"}
    uploaded = httpx.post(f"{instance.url}/api/v4/jobs/{job.id}/artifacts", content=body(), headers=headers)
    assert uploaded.status_code == 201, uploaded.text
    [artifact] = _artifacts(rows)
    assert artifact.size == len(ARCHIVE)


def test_token_as_parameter_or_field(rows: PipelineRows, api: Api) -> None:
    token, job = rows.start("build"), rows.job("build")
    path, files = f"/jobs/{job.id}/artifacts", {"file": ("a.zip", ARCHIVE)}
    assert api.request("POST", path, params={"token": token}, files=files).status_code == 201
    assert api.request("POST", path, data={"token": token}, files=files).status_code == 201
    assert api.request("POST", path, data={"token": "wrong"}, files=files).status_code == 403
    assert api.request("POST", path, files=files).status_code == 403


def test_refused_uploads_leave_nothing(rows: PipelineRows, api: Api, make: Make, instance: Instance) -> None:
    token, job = rows.start("build"), rows.job("build")
    other = PipelineRows(make, "build 0")
    other.process()
    other_token = other.start("build")
    before = stored_files(instance)
    assert upload(api, job.id, "wrong", ARCHIVE).status_code == 403
    assert upload(api, job.id, other_token, ARCHIVE).status_code == 403
    assert upload(api, job.id, make.root.token, ARCHIVE).status_code == 403
    assert upload(api, rows.job("test").id, token, ARCHIVE).status_code == 403
    assert upload(api, 10**9, token, ARCHIVE).json() == {"message": "404 Not found"}
    assert upload(api, job.id, token, b"").status_code == 400
    assert upload(api, job.id, token, b"no archive").status_code == 400
    assert upload(api, job.id, token, ARCHIVE, artifact_type="nonsense").status_code == 400
    assert upload(api, job.id, token, ARCHIVE, artifact_format="nonsense").status_code == 400
    for nonsense in ("soon", "1 lightyear", "99999 years", "-3 days"):
        assert upload(api, job.id, token, ARCHIVE, expire_in=nonsense).json() == {
            "message": {"expire_in": ["is invalid"]}
        }
    path, headers = f"/jobs/{job.id}/artifacts", {"JOB-TOKEN": token}
    assert api.request("POST", path, headers=headers, json={"file": "text"}).status_code == 400
    assert api.request("POST", path, headers=headers).status_code == 400
    assert api.request("POST", path, headers=headers, files={"other": ("a.zip", ARCHIVE)}).status_code == 400
    rows.finish("build")
    finished = upload(api, job.id, token, ARCHIVE)
    assert (finished.status_code, finished.json()) == (403, {"message": "403 Forbidden - Job is not running!"})
    assert stored_files(instance) == before
    assert _artifacts(rows) == []


@pytest.mark.parametrize(("expire_in", "expires"), [("never", False), ("", False), ("0", False), ("2 mos", True)])
def test_expiry(rows: PipelineRows, api: Api, expire_in: str, expires: bool) -> None:
    token, job = rows.start("build"), rows.job("build")
    assert upload(api, job.id, token, ARCHIVE, expire_in=expire_in).status_code == 201
    [artifact] = _artifacts(rows)
    assert (artifact.expire_at is not None) is expires


def test_parameters_are_also_form_fields(rows: PipelineRows, api: Api) -> None:
    """Parameters in the body win over those in the query string."""
    token, job = rows.start("build"), rows.job("build")
    form = {"expire_in": "2 mos", "artifact_type": "metadata", "artifact_format": "gzip"}
    path, files = f"/jobs/{job.id}/artifacts", {"file": ("a.gz", b"x")}
    headers = {"JOB-TOKEN": token}
    refused = api.request("POST", path, headers=headers, data={**form, "expire_in": "soon"}, files=files)
    assert (refused.status_code, refused.json()) == (400, {"message": {"expire_in": ["is invalid"]}})
    sent = api.request("POST", f"{path}?expire_in=never", headers=headers, data=form, files=files)
    assert sent.status_code == 201, sent.text
    [artifact] = _artifacts(rows)
    assert (artifact.file_type, artifact.file_format, artifact.expire_at is not None) == ("metadata", "gzip", True)


@contextmanager
def _limit(api: Api, make: Make, megabytes: int) -> Iterator[None]:
    api.put("/application/settings", make.root, max_artifacts_size=megabytes)
    try:
        yield
    finally:
        api.put("/application/settings", make.root, max_artifacts_size=100)


def test_size_limit(rows: PipelineRows, api: Api, make: Make, instance: Instance) -> None:
    token, job = rows.start("build"), rows.job("build")
    before = stored_files(instance)
    content = bytes(2**20 + 1)
    with _limit(api, make, 1):
        refused = upload(api, job.id, token, content, artifact_type="metrics", artifact_format="raw")
        assert (refused.status_code, refused.json()) == (413, {"message": "413 Request Entity Too Large"})
        assert stored_files(instance) == before
        kept = upload(api, job.id, token, content[:-1], artifact_type="metrics", artifact_format="raw")
        assert kept.status_code == 201
        huge = upload(api, job.id, token, content * 3, artifact_type="metrics", artifact_format="raw")
        assert huge.status_code == 413


def test_size_limits_of_groups_and_projects(rows: PipelineRows, api: Api, make: Make) -> None:
    """A project's limit wins over that of its group, which wins over the instance's."""
    token, job = rows.start("build"), rows.job("build")
    group, owner = make_group(make), make.user()
    api.post(f"{group.url}/members", make.root, user_id=owner.id, access_level=50)
    project = f"/projects/{job.project_id}"
    moved = api.put(f"{project}/transfer", make.root, namespace=group.id)
    assert moved.status_code == 200, moved.text
    report = {"artifact_type": "metrics", "artifact_format": "raw"}

    def status(size: int) -> int:
        return upload(api, job.id, token, bytes(size), **report).status_code

    assert api.put(group.url, owner, max_artifacts_size=1).status_code == 403
    assert api.put(project, owner, max_artifacts_size=1).status_code == 403
    assert api.put(project, make.root, max_artifacts_size=0).status_code == 400
    assert api.put(group.url, make.root, max_artifacts_size=1).json()["max_artifacts_size"] == 1
    assert api.put(group.url, owner, max_artifacts_size=1, description="Same").status_code == 200
    assert status(2**20 + 1) == 413
    assert api.put(project, make.root, max_artifacts_size=2).json()["max_artifacts_size"] == 2
    assert status(2**20 + 1) == 201


def test_interrupted_upload_leaves_nothing(rows: PipelineRows, instance: Instance) -> None:
    token, job = rows.start("build"), rows.job("build")
    before = stored_files(instance)
    head = (
        f"POST /api/v4/jobs/{job.id}/artifacts HTTP/1.1\r\nHost: localhost\r\nJOB-TOKEN: {token}\r\n"
        "Content-Type: multipart/form-data; boundary=b\r\nTransfer-Encoding: chunked\r\n\r\n"
    ).encode()
    part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.zip"\r\n\r\n' + ARCHIVE
    with socket.create_connection((instance.settings.host, instance.settings.port)) as connection:
        connection.sendall(head + b"%x\r\n%s\r\n" % (len(part), part))
        _wait_until(lambda: len(stored_files(instance) - before) == 1)
    _wait_until(lambda: stored_files(instance) == before)
    assert _artifacts(rows) == []


def _wait_until(condition: object) -> None:
    assert callable(condition)
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_dotenv_report(rows: PipelineRows, api: Api) -> None:
    token, job = rows.start("build"), rows.job("build")
    query = {"artifact_type": "dotenv", "artifact_format": "gzip"}
    content = gzip_of(b"VERSION=1.0\r\nEMPTY=\nURL=http://a/?b=c\n", b"VERSION=2.0 \n")
    assert upload(api, job.id, token, content, ".env.gz", **query).status_code == 201
    expected = [("VERSION", "2.0"), ("EMPTY", ""), ("URL", "http://a/?b=c")]
    assert rows.database.read(lambda db: dotenv_variables(db, [job.id])) == expected
    assert upload(api, job.id, token, gzip_of(b"OTHER=1\n"), ".env.gz", **query).status_code == 201
    assert rows.database.read(lambda db: dotenv_variables(db, [job.id])) == [("OTHER", "1")]
    for content, message in (
        (b"not a variable\n", "400 (Bad request) Invalid Format"),
        (b"A B=1\n", "400 (Bad request) Key can contain only letters, digits and '_'."),
        (b"A=1\nCI_JOB_TOKEN=x\n", "400 (Bad request) Dotenv files cannot set CI_JOB_TOKEN"),
        (b"path=/tmp\n", "400 (Bad request) Dotenv files cannot set path"),
        (b"A=1\n\nB=2\n", "400 (Bad request) Invalid Format"),
        (
            b"".join(b"V%d=1\n" % n for n in range(21)),
            "400 (Bad request) Dotenv files cannot have more than 20 variables",
        ),
        (b"A=" + b"x" * 5120, "400 (Bad request) the file is larger than the 5120 bytes that are allowed"),
    ):
        refused = upload(api, job.id, token, gzip_of(content), ".env.gz", **query)
        assert (refused.status_code, refused.json()) == (400, {"message": message})
    assert upload(api, job.id, token, b"no gzip", ".env.gz", **query).status_code == 400


@pytest.mark.parametrize(
    ("limit", "statuses"),
    [
        ({"public": False}, [200, 200, 403]),
        ({"access": "developer"}, [200, 200, 403]),
        ({"access": "maintainer"}, [200, 403, 403]),
        ({"access": "none"}, [403, 403, 403]),
    ],
)
def test_private_artifacts(make: Make, api: Api, limit: dict[str, object], statuses: list[int]) -> None:
    """Files that the configuration makes private are for developers, for maintainers, or for later jobs only."""
    owner, reporter, developer = make.user(), make.user(), make.user()
    project = make_project(make, owner, members={reporter: 20, developer: 30})
    options = {"build": JobOptions(artifacts={**limit, "paths": ["x"]})}
    rows = PipelineRows(make, "build 0", project=project, options=options)
    rows.process()
    token, job = rows.start("build"), rows.job("build")
    assert upload(api, job.id, token, ARCHIVE).status_code == 201
    path = f"{project.url}/jobs/{job.id}/artifacts"
    assert [api.get(path, user).status_code for user in (owner, developer, reporter)] == statuses
    assert api.request("GET", f"/jobs/{job.id}/artifacts", headers={"JOB-TOKEN": token}).status_code == 200


def test_concurrent_uploads_leave_one_file(rows: PipelineRows, api: Api, make: Make, instance: Instance) -> None:
    """Attack: a runner sends the same archive several times at once."""
    token, job = rows.start("build"), rows.job("build")
    before = stored_files(instance)

    def send(_: int) -> int:
        url, headers = f"{instance.url}/api/v4/jobs/{job.id}/artifacts", {"JOB-TOKEN": token}
        return httpx.post(url, headers=headers, files={"file": ("a.zip", ARCHIVE)}).status_code

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(send, range(8))) == [201] * 8
    [artifact] = _artifacts(rows)
    instance.work()
    assert stored_files(instance) - before == {store_of(instance).path_of(artifact.storage_key)}
    project = api.get(rows.project.url, make.root, statistics=True).json()
    assert project["statistics"]["job_artifacts_size"] == len(ARCHIVE)
