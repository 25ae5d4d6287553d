"""LFS files, artifacts, uploads and job logs on the disk, in a bucket, and in a bucket that clients reach."""

import io
import os
import secrets
from collections.abc import Iterator

import httpx
import pytest

from ingot.ci.jobs.jobs import ARCHIVE_AFTER_SECONDS, TraceJobs
from ingot.ci.traces.store import trace_store_of
from ingot.core.storage.configuration import file_storage
from ingot.projects.uploads.files import upload_files
from ingot.repositories.lfs.files import key_of, lfs_files_of
from tests.ci.artifacts.files import upload, zip_of
from tests.ci.pipelines.rows import PipelineRows
from tests.factories import make_project
from tests.lfs.conftest import LfsClient, object_of, oid_of
from tests.second_instance import SecondInstance

FILES = {"readme.txt": b"hello", "bin/tool": bytes(range(256)) * 600}


def _is_public(stored: SecondInstance) -> bool:
    return bool(stored.settings.s3_public_url)


def _keys(stored: SecondInstance, kind: str) -> tuple[set[str], set[str]]:
    """Return the files of a kind on the disk and in the bucket."""
    storage = file_storage(stored.settings, kind)
    in_bucket = set() if storage.bucket is None else {each.key for each in storage.bucket.objects()}
    return {each.key for each in storage.disk.objects()}, in_bucket


def _is_stored(stored: SecondInstance, kind: str, key: str) -> bool:
    """Return whether a file is in the configured place, and only there."""
    on_disk, in_bucket = _keys(stored, kind)
    return (key in on_disk, key in in_bucket) == ((False, True) if stored.settings.s3_bucket else (True, False))


@pytest.fixture
def lfs(stored: SecondInstance) -> Iterator[LfsClient]:
    """Yield a client of the LFS protocol."""
    with httpx.Client(timeout=60, follow_redirects=True) as client:
        yield LfsClient(stored.url, client)


def test_lfs(stored: SecondInstance, lfs: LfsClient) -> None:
    owner, stranger = stored.make.user(), stored.make.user()
    project, other = make_project(stored.make, owner), make_project(stored.make, stranger)
    content = secrets.token_bytes(5_000_000)
    actions = lfs.batch(project, owner, "upload", content).json()["objects"][0]["actions"]
    assert actions["upload"]["href"].startswith(stored.settings.s3_public_url or stored.url)
    assert lfs.follow("POST", actions["verify"], json=object_of(content)).status_code == 404
    if _is_public(stored):
        assert actions["upload"]["header"] == {}
        # The store accepts any content, the server only that of the digest.
        assert lfs.follow("PUT", actions["upload"], content=b"x" * len(content)).status_code == 200
        assert lfs.follow("POST", actions["verify"], json=object_of(content)).status_code == 422
        assert lfs.follow("POST", actions["verify"], json=object_of(content)).status_code == 404
    lfs.upload(project, owner, content)
    assert _is_stored(stored, "lfs", key_of(oid_of(content)))
    assert list((stored.settings.data / "lfs" / "incoming").glob("*")) == []
    assert lfs.get(project, owner, content).content == content
    assert lfs.get(other, stranger, content).status_code == 404
    assert "error" in lfs.batch(other, stranger, "download", content).json()["objects"][0]
    path = f"gitlab-lfs/objects/{oid_of(content)}"
    part = lfs.call("GET", project, path, owner, headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, content[10:20])
    head = lfs.call("HEAD", project, path, owner)
    assert (head.status_code, head.headers["content-length"]) == (200, str(len(content)))
    redirect = httpx.get(f"{stored.url}/{project.path}.git/{path}", auth=(owner.username, owner.token))
    assert redirect.status_code == (302 if _is_public(stored) else 200)
    # A file that was lost is missing, not an error of the server.
    lfs_files_of(stored.settings).storage.delete(key_of(oid_of(content)))
    assert lfs.get(project, owner, content).status_code == 404


def test_artifacts(stored: SecondInstance) -> None:
    api, make = stored.api, stored.make
    owner = make.user()
    project = make_project(make, owner)
    archive = zip_of(FILES)
    rows = PipelineRows(make, "build 0", project=project)
    rows.process()
    token, job = rows.start("build"), rows.job("build")
    assert upload(api, job.id, token, archive).status_code == 201
    assert upload(api, job.id, token, b"no archive").status_code == 400
    (key,) = next(found for found in _keys(stored, "artifacts") if found)
    assert _is_stored(stored, "artifacts", key)
    path = f"{project.url}/jobs/{job.id}/artifacts"
    runner = {"JOB-TOKEN": token}
    assert api.request("GET", f"/jobs/{job.id}/artifacts", headers=runner).content == archive
    direct = api.request("GET", f"/jobs/{job.id}/artifacts", params={"direct_download": "true"}, headers=runner)
    whole = api.get(path, owner)
    if _is_public(stored):
        assert {(each.status_code, each.headers["cache-control"]) for each in (whole, direct)} == {(302, "no-store")}
        whole, direct = (httpx.get(each.headers["location"]) for each in (whole, direct))
    assert {(each.status_code, each.content) for each in (whole, direct)} == {(200, archive)}
    for name, content in FILES.items():
        assert api.get(f"{path}/{name.replace('/', '%2F')}", owner).content == content
    assert api.get(f"{path}/missing", owner).status_code == 404
    rows.finish("build")
    assert api.delete(path, owner).status_code == 204


def test_uploads(stored: SecondInstance) -> None:
    api, make = stored.api, stored.make
    owner = make.user()
    project = make_project(make, owner)
    content = os.urandom(300_000)
    made = api.request("POST", f"{project.url}/uploads", owner, files={"file": ("résumé 1.pdf", content)}).json()
    shown = httpx.get(f"{stored.url}/{project.path}{made['url']}", headers={"PRIVATE-TOKEN": owner.token})
    assert (shown.status_code, shown.content) == (200, content)
    assert shown.headers["content-length"] == str(len(content))
    _, _, secret, name = made["url"].split("/")
    key = f"{project.id}/{secret}/{name}"
    assert _is_stored(stored, "uploads", key)
    files = upload_files(stored.settings)
    files.sweep(lambda _: {secret}, -60)
    assert _is_stored(stored, "uploads", key)
    files.sweep(lambda _: set(), -60)
    assert files.storage.size_of(key) is None
    files.store(project.id, secret, name, io.BytesIO(content))
    files.remove_all(project.id)
    assert files.storage.size_of(key) is None


def test_job_logs(stored: SecondInstance) -> None:
    api, make = stored.api, stored.make
    owner = make.user()
    rows = PipelineRows(make, "build 0", "test 1", project=make_project(make, owner))
    rows.process()
    token, job = rows.start("build"), rows.job("build")
    for number in range(3):
        headers = {"JOB-TOKEN": token, "Content-Range": f"{number * 5}-{number * 5 + 4}"}
        sent = api.request("PATCH", f"/jobs/{job.id}/trace", content=b"line\n", headers=headers)
        assert sent.status_code == 202, sent.text
    traces = trace_store_of(stored.settings)
    key = f"{job.id // 1000}/{job.id}.log"

    def archive() -> None:
        old = traces.path_of(job.id).stat().st_mtime - ARCHIVE_AFTER_SECONDS - 1
        os.utime(traces.path_of(job.id), (old, old))
        TraceJobs(traces).archive(stored.app.database, None)

    archive()
    assert key in _keys(stored, "traces")[0]
    rows.finish("build")
    archive()
    assert _is_stored(stored, "traces", key)
    path = f"/projects/{rows.project.id}/jobs/{job.id}"
    assert api.get(f"{path}/trace", owner).content == b"line\n" * 3
    part = api.request("GET", f"{path}/trace", owner, headers={"Range": "bytes=5-"})
    assert (part.status_code, part.content) == (206, b"line\n" * 2)
    assert api.post(f"{path}/erase", owner).status_code == 201
    TraceJobs(traces).delete(stored.app.database, [job.id])
    assert traces.size(job.id) == 0
