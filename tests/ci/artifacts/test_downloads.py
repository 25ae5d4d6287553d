"""Downloads of artifacts: whole archives, single files, ranges, refs, permissions, deletion and expiry."""

import os
import zipfile
from pathlib import Path

import pytest

from ingot.ci.artifacts import service
from ingot.ci.artifacts.downloads import list_archive_folder
from ingot.ci.artifacts.jobs import enqueue_artifact_expiry, enqueue_artifact_sweep
from ingot.ci.artifacts.queries import artifact_or_none, artifacts_of_jobs, stored_artifacts_of_jobs
from ingot.core.errors import Invalid, NotFound
from tests.ci.artifacts.files import store_of, stored_files, upload, zip_of
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, changed_settings, day, make_project

FILES = {"readme.txt": b"hello", "bin/tool": bytes(range(256)) * 600, "doc/a/b.html": b"<script>1</script>"}
ARCHIVE = zip_of(FILES)


@pytest.fixture(scope="module")
def people(make: Make) -> dict[str, User]:
    """Return users by role."""
    return {role: make.user() for role in ("owner", "developer", "reporter", "guest", "stranger")}


@pytest.fixture
def project(make: Make, people: dict[str, User]) -> Project:
    """Return a private project with members."""
    levels = {"developer": 30, "reporter": 20, "guest": 10}
    return make_project(make, people["owner"], members={people[role]: level for role, level in levels.items()})


def _finished(make: Make, api: Api, project: Project, content: bytes = ARCHIVE, **query: str) -> PipelineRows:
    rows = PipelineRows(make, "build 0", project=project)
    rows.process()
    token, job = rows.start("build"), rows.job("build")
    assert upload(api, job.id, token, content, **query).status_code == 201
    rows.finish("build")
    return rows


def test_archive_and_single_files(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _finished(make, api, project)
    path = f"{project.url}/jobs/{rows.job('build').id}/artifacts"
    reporter = people["reporter"]
    whole = api.get(path, reporter)
    assert (whole.status_code, whole.content) == (200, ARCHIVE)
    assert whole.headers["content-disposition"] == 'attachment; filename="artifacts.zip"'
    assert whole.headers["content-type"] == "application/zip"
    part = api.request("GET", path, reporter, headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, ARCHIVE[10:20])
    for name, content in FILES.items():
        single = api.get(f"{path}/{name.replace('/', '%2F')}", reporter)
        assert (single.status_code, single.content) == (200, content), name
        assert single.headers["content-security-policy"].startswith("sandbox")
        assert single.headers["content-disposition"].startswith("attachment")
    tool = f"{path}/bin%2Ftool"
    middle = api.request("GET", tool, reporter, headers={"Range": "bytes=100000-100009"})
    assert middle.content == FILES["bin/tool"][100000:100010]
    cached = api.request("GET", tool, reporter, headers={"If-None-Match": middle.headers["etag"]})
    assert cached.status_code == 304
    for missing in ("nothing", "bin", "bin%2F", "ool", "READme.txt"):
        assert api.get(f"{path}/{missing}", reporter).status_code == 404, missing
    for unsafe in ("..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "bin%2F..%2Freadme.txt"):
        assert api.get(f"{path}/{unsafe}", reporter).status_code == 400, unsafe


def test_by_ref_and_job_name(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    old = _finished(make, api, project)
    new = _finished(make, api, project, zip_of({"readme.txt": b"newer"}))
    assert old.id < new.id
    failed = PipelineRows(make, "build 0", project=project)
    failed.process()
    failed.finish("build", "failed")
    reporter, path = people["reporter"], f"{project.url}/jobs/artifacts"
    whole = api.get(f"{path}/main/download", reporter, job="build")
    assert whole.status_code == 200
    assert whole.content == zip_of({"readme.txt": b"newer"})
    assert api.get(f"{path}/main/raw/readme.txt", reporter, job="build").content == b"newer"
    assert api.get(f"{path}/main/download", reporter, job="other").status_code == 404
    assert api.get(f"{path}/other/download", reporter, job="build").status_code == 404
    assert api.get(f"{path}/main/download", reporter).status_code == 400
    assert api.get(f"{path}/main/raw/..%2Freadme.txt", reporter, job="build").status_code == 400


def test_permission_to_download(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _finished(make, api, project)
    job_id = rows.job("build").id
    paths = (
        f"{project.url}/jobs/{job_id}/artifacts",
        f"{project.url}/jobs/{job_id}/artifacts/readme.txt",
        f"{project.url}/jobs/artifacts/main/download?job=build",
        f"{project.url}/jobs/artifacts/main/raw/readme.txt?job=build",
    )
    api.put(project.url, people["owner"], public_jobs=False)
    for path in paths:
        codes = {role: api.get(path, user).status_code for role, user in people.items()}
        assert codes == {"owner": 200, "developer": 200, "reporter": 200, "guest": 403, "stranger": 404}, path
        assert api.get(path).status_code == 401
    api.put(project.url, people["owner"], public_jobs=True)
    assert api.get(paths[0], people["guest"]).status_code == 200
    api.put(project.url, people["owner"], visibility="public", public_jobs=False)
    assert api.get(paths[0], people["stranger"]).status_code == 403
    api.put(project.url, people["owner"], jobs_enabled=False)
    assert api.get(paths[0], people["owner"]).status_code == 403


def test_runner_downloads_dependencies(make: Make, api: Api, project: Project) -> None:
    rows = PipelineRows(make, "build 0", "test 1", project=project)
    rows.process()
    build_token, build = rows.start("build"), rows.job("build")
    assert upload(api, build.id, build_token, ARCHIVE).status_code == 201
    rows.finish("build")
    token = rows.start("test")
    other = PipelineRows(make, "build 0")
    other.process()
    other_token = other.start("build")
    path = f"/jobs/{build.id}/artifacts"

    def status(token: str) -> int:
        return api.request("GET", path, params={"direct_download": "true"}, headers={"JOB-TOKEN": token}).status_code

    assert api.request("GET", path, headers={"JOB-TOKEN": token}).content == ARCHIVE
    assert [status(each) for each in (token, build_token, other_token, "x", make.root.token)] == [
        200,
        403,
        403,
        403,
        403,
    ]
    assert api.get(path).status_code == 403
    assert api.request("GET", "/jobs/999999999/artifacts", headers={"JOB-TOKEN": token}).status_code == 404
    own = api.request("GET", f"/jobs/{rows.job('test').id}/artifacts", headers={"JOB-TOKEN": token})
    assert own.status_code == 404
    rows.finish("test")
    assert status(token) == 403


def test_deletion(make: Make, api: Api, project: Project, people: dict[str, User], instance: Instance) -> None:
    rows = _finished(make, api, project)
    path = f"{project.url}/jobs/{rows.job('build').id}/artifacts"
    [artifact] = rows.database.read(lambda db: artifacts_of_jobs(db, [rows.job("build").id]))[rows.job("build").id]
    refused = [api.delete(path, people[role]).status_code for role in ("developer", "reporter", "stranger")]
    assert refused == [403, 403, 404]
    assert api.delete(path, people["owner"]).status_code == 204
    assert api.get(path, people["owner"]).status_code == 404
    instance.work()
    assert not store_of(instance).path_of(artifact.storage_key).exists()
    shown = api.get(project.url, people["owner"], statistics=True).json()
    assert shown["statistics"]["job_artifacts_size"] == 0


def test_deletion_of_a_projects_artifacts_keeps_the_latest(
    make: Make, api: Api, project: Project, people: dict[str, User], instance: Instance
) -> None:
    old, new = _finished(make, api, project), _finished(make, api, project)
    assert api.delete(f"{project.url}/artifacts", people["developer"]).status_code == 403
    assert api.delete(f"{project.url}/artifacts", people["owner"]).status_code == 202
    paths = [f"{project.url}/jobs/{rows.job('build').id}/artifacts" for rows in (old, new)]
    assert [api.get(path, people["owner"]).status_code for path in paths] == [404, 200]
    instance.work()
    ids = [rows.job("build").id for rows in (old, new)]
    remaining = make.database.read(lambda db: stored_artifacts_of_jobs(db, ids))
    assert [artifact.job_id for artifact in remaining] == [new.job("build").id]


def test_expiry(make: Make, api: Api, project: Project, people: dict[str, User], instance: Instance) -> None:
    """Expired files are gone at once; kept ones and those of the latest pipeline of a ref stay."""
    old, new = (_finished(make, api, project, expire_in="1 day") for _ in range(2))
    kept = _finished(make, api, project)
    assert kept.id > new.id
    ids = [rows.job("build").id for rows in (old, new, kept)]
    make.database.write(lambda db: service.keep_artifacts(db, old.job("build")))
    with day(instance, "2100-01-01"):
        available = make.database.read(lambda db: [artifact_or_none(db, job_id) is not None for job_id in ids])
        assert available == [True, False, True]
        shown = api.get(f"{project.url}/jobs/{ids[1]}", people["reporter"]).json()
        assert (shown["artifacts"], shown.get("artifacts_file")) == ([], None)
        make.database.write(enqueue_artifact_expiry)
        instance.work()
    remaining = make.database.read(lambda db: stored_artifacts_of_jobs(db, ids))
    assert [artifact.job_id for artifact in remaining] == [ids[0], ids[2]]


def test_latest_artifacts_outlive_their_expiry(make: Make, api: Api, project: Project, instance: Instance) -> None:
    rows = _finished(make, api, project, expire_in="1 day")
    with day(instance, "2100-01-01"):
        make.database.write(enqueue_artifact_expiry)
        instance.work()
        assert make.database.read(lambda db: artifact_or_none(db, rows.job("build").id)) is not None


def test_latest_artifacts_expire_if_the_instance_keeps_none(
    make: Make, api: Api, project: Project, instance: Instance
) -> None:
    rows = _finished(make, api, project, expire_in="1 day")
    job_id = rows.job("build").id
    with changed_settings(make, keep_latest_artifact=False), day(instance, "2100-01-01"):
        assert make.database.read(lambda db: artifact_or_none(db, job_id)) is None
        make.database.write(enqueue_artifact_expiry)
        instance.work()
    assert make.database.read(lambda db: stored_artifacts_of_jobs(db, [job_id])) == []


def test_latest_artifacts_expire_if_the_project_keeps_none(
    make: Make, api: Api, project: Project, instance: Instance
) -> None:
    rows = _finished(make, api, project, expire_in="1 day")
    job_id = rows.job("build").id
    for keeps in (True, False):
        assert api.put(project.url, make.root, keep_latest_artifact=keeps).status_code == 200
        with day(instance, "2100-01-01"):
            assert (make.database.read(lambda db: artifact_or_none(db, job_id)) is not None) is keeps


def test_sweep_removes_files_without_a_row(make: Make, api: Api, project: Project, instance: Instance) -> None:
    rows = _finished(make, api, project)
    store = store_of(instance)
    lost, fresh = store.receive(10), store.receive(10)
    for incoming in (lost, fresh):
        incoming.write(b"x")
        incoming.publish()
        incoming.close()
    partial = store.storage.root / "incoming" / ("a" * 32)
    partial.write_bytes(b"x")
    _age(store.path_of(lost.key))
    _age(partial)
    for path in stored_files(instance):
        if path != store.path_of(fresh.key):
            _age(path)
    make.database.write(enqueue_artifact_sweep)
    instance.work()
    assert not store.path_of(lost.key).exists()
    assert not partial.exists()
    assert store.path_of(fresh.key).exists()
    [artifact] = rows.database.read(lambda db: artifacts_of_jobs(db, [rows.job("build").id]))[rows.job("build").id]
    assert store.path_of(artifact.storage_key).exists()
    store.delete(fresh.key)


def _age(path: Path) -> None:
    os.utime(path, (0, 0))


def test_damaged_file_on_disk(
    make: Make, api: Api, project: Project, people: dict[str, User], instance: Instance
) -> None:
    """A truncated or missing file gives a clear response."""
    rows = _finished(make, api, project)
    artifact = make.database.read(lambda db: artifact_or_none(db, rows.job("build").id))
    assert artifact is not None
    path = f"{project.url}/jobs/{rows.job('build').id}/artifacts"
    file = store_of(instance).path_of(artifact.storage_key)
    for content in (ARCHIVE[:100], b""):
        file.write_bytes(content)
        assert api.get(f"{path}/readme.txt", people["owner"]).status_code == 400
        assert api.get(path, people["owner"]).content == content
    file.unlink()
    assert [api.get(each, people["owner"]).status_code for each in (path, f"{path}/readme.txt")] == [404, 404]


def test_browsing(make: Make, api: Api, project: Project, instance: Instance) -> None:
    rows = _finished(make, api, project)
    artifact = make.database.read(lambda db: artifact_or_none(db, rows.job("build").id))
    assert artifact is not None
    store = store_of(instance)
    assert [item.name for item in list_archive_folder(store, artifact, "")] == ["bin", "doc", "readme.txt"]
    assert [tuple(item) for item in list_archive_folder(store, artifact, "doc/a")] == [("b.html", False, 18)]
    with pytest.raises(NotFound):
        list_archive_folder(store, artifact, "nothing")
    with pytest.raises(Invalid):
        list_archive_folder(store, artifact, "../x")


def test_listing(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _finished(make, api, project)
    path, reporter = f"{project.url}/jobs/{rows.job('build').id}/artifacts/tree", people["reporter"]
    top = api.get(path, reporter)
    assert (top.status_code, top.headers["x-total"]) == (200, "3")
    assert [(each["path"], each["type"]) for each in top.json()] == [
        ("bin/", "directory"),
        ("doc/", "directory"),
        ("readme.txt", "file"),
    ]
    assert top.json()[0] == {"name": "bin", "path": "bin/", "type": "directory", "size": None, "mode": None}
    (nested,) = api.get(path, reporter, path="doc").json()
    assert (nested["name"], nested["path"]) == ("a", "doc/a/")
    everything = api.get(path, reporter, recursive=True).json()
    assert [each["path"] for each in everything] == [*sorted((*FILES, "bin/", "doc/", "doc/a/"))]
    (page,) = api.get(path, reporter, path="doc/a/", recursive=True, per_page=1).json()
    assert page == {"name": "b.html", "path": "doc/a/b.html", "type": "file", "size": 18, "mode": "000600"}
    assert api.get(path, reporter, path="nothing").status_code == 404
    for sent in ({"path": "../x"}, {"path": "a/../../b"}, {"recursive": "x"}, {"path": "a" * 5000}):
        assert api.get(path, reporter, **sent).status_code == 400, sent
    assert api.put(project.url, people["owner"], public_jobs=False).is_success
    statuses = [api.get(path, caller).status_code for caller in (reporter, people["guest"], people["stranger"], None)]
    assert statuses == [200, 403, 404, 401]


def test_a_file_named_like_the_list_is_downloaded(
    make: Make, api: Api, project: Project, people: dict[str, User]
) -> None:
    rows = _finished(make, api, project, zip_of({"tree": b"a file", "other": b"x"}))
    path = f"{project.url}/jobs/{rows.job('build').id}/artifacts/tree"
    assert api.get(path, people["owner"]).content == b"a file"
    assert [each["name"] for each in api.get(path, people["owner"], path="").json()] == ["other", "tree"]


def test_an_archive_of_too_many_folders_is_not_listed(
    make: Make, api: Api, project: Project, people: dict[str, User]
) -> None:
    """Attack: each of the entries names a thousand folders, which together would fill the memory."""
    files = {f"{number}/" + "d/" * 2000 + "f": b"" for number in range(6)}
    rows = _finished(make, api, project, zip_of(files))
    path = f"{project.url}/jobs/{rows.job('build').id}/artifacts/tree"
    assert api.get(path, people["owner"], recursive=True).status_code == 400
    assert len(api.get(path, people["owner"]).json()) == 6


def test_large_archive_is_sent_in_ranges(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    content = zip_of({"large": bytes(3 * 2**20)}, zipfile.ZIP_STORED)
    rows = _finished(make, api, project, content)
    path = f"{project.url}/jobs/{rows.job('build').id}/artifacts"
    last = api.request("GET", f"{path}/large", people["owner"], headers={"Range": "bytes=-5"})
    assert (last.status_code, last.content) == (206, bytes(5))
    assert api.get(path, people["owner"]).content == content
