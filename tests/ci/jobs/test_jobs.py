"""The job API: lists, one job, the trace, and the actions of users."""

from typing import Any

import pytest

from ingot.ci.artifacts.queries import artifacts_of_jobs
from ingot.ci.job_records.queries import manual_variables
from ingot.ci.job_records.tables import ci_jobs
from ingot.ci.jobs import jobs as trace_jobs
from ingot.ci.jobs.jobs import enqueue_trace_sweep
from ingot.ci.pipelines.service import delete_pipeline
from ingot.ci.traces.store import TraceStore, trace_store_of
from tests.ci.artifacts.files import store_of, upload, zip_of
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project, statements_of


@pytest.fixture(scope="module")
def people(make: Make) -> dict[str, User]:
    """Return users by role."""
    return {role: make.user() for role in ("owner", "developer", "reporter", "guest", "stranger")}


@pytest.fixture
def project(make: Make, people: dict[str, User]) -> Project:
    """Return a private project with members, whose branch ``main`` is protected."""
    levels = {"developer": 30, "reporter": 20, "guest": 10}
    members = {people[role]: level for role, level in levels.items()}
    project = make_project(make, people["owner"], members=members, public_jobs=False)
    protected = make.api.post(f"{project.url}/protected_branches", people["owner"], name="main")
    assert protected.status_code == 201
    return project


def _rows(make: Make, project: Project, *jobs: str, **columns: Any) -> PipelineRows:
    rows = PipelineRows(make, *jobs, project=project, **{"ref": "feature", **columns})
    rows.process()
    return rows


def _traces(instance: Instance) -> TraceStore:
    return trace_store_of(instance.settings)


def test_list(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _rows(make, project, "build 0", "lint 0", "test 1")
    rows.finish("build")
    path, reporter = f"{project.url}/jobs", people["reporter"]
    listed = api.get(path, reporter)
    assert [job["name"] for job in listed.json()] == ["test", "lint", "build"]
    assert listed.headers["x-total"] == "3"
    for scope, names in (
        ({"scope": "success"}, ["build"]),
        ({"scope[]": ["success", "created"]}, ["test", "build"]),
        ({"scope[]": ["failed"]}, []),
    ):
        assert [job["name"] for job in api.get(path, reporter, **scope).json()] == names
    assert api.get(path, reporter, scope="nonsense").status_code == 400
    second = api.get(path, reporter, per_page=2, page=2)
    assert [job["name"] for job in second.json()] == ["build"]
    keyset = api.get(path, reporter, per_page=2, pagination="keyset")
    assert [job["name"] for job in keyset.json()] == ["test", "lint"]


def test_statements_do_not_grow_with_the_page(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    def count() -> int:
        return statements_of(make, lambda: api.get(f"{project.url}/jobs", people["reporter"]))

    _rows(make, project, "build 0")
    few = count()
    for _ in range(3):
        _rows(make, project, "build 0", "lint 0", "test 1")
    assert count() == few


def test_one_job(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _rows(make, project, "build 0")
    token, job = rows.start("build"), rows.job("build")
    assert upload(api, job.id, token, zip_of({"a": b"x"}), expire_in="1 day").status_code == 201
    shown = api.get(f"{project.url}/jobs/{job.id}", people["reporter"]).json()
    assert (shown["id"], shown["name"], shown["stage"], shown["status"]) == (job.id, "build", "stage 0", "running")
    assert (shown["ref"], shown["tag"], shown["pipeline"]["id"]) == ("feature", False, rows.id)
    assert shown["artifacts_file"]["filename"] == "artifacts.zip"
    assert [artifact["file_type"] for artifact in shown["artifacts"]] == ["archive"]
    assert shown["artifacts_expire_at"] is not None
    assert api.get(f"{project.url}/jobs/999999999", people["reporter"]).status_code == 404
    other = _rows(make, make_project(make), "build 0").job("build")
    assert api.get(f"{project.url}/jobs/{other.id}", people["owner"]).status_code == 404


def test_permission_to_read(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    job = _rows(make, project, "build 0").job("build")
    for path in ("", f"/{job.id}", f"/{job.id}/trace"):
        url = f"{project.url}/jobs{path}"
        codes = {role: api.get(url, user).status_code for role, user in people.items()}
        assert codes == {"owner": 200, "developer": 200, "reporter": 200, "guest": 403, "stranger": 404}, path
        assert api.get(url).status_code == 401
    assert api.get(f"{project.url}/jobs/999999999", people["guest"]).status_code == 403
    api.put(project.url, people["owner"], public_jobs=True)
    assert api.get(f"{project.url}/jobs/{job.id}", people["guest"]).json()["commit"] is None
    assert api.get(f"{project.url}/jobs/{job.id}/trace", people["guest"]).status_code == 200


def test_job_of_the_token(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _rows(make, project, "build 0", "deploy 1 manual")
    rows.finish("build")
    played = api.post(f"{project.url}/jobs/{rows.job('deploy').id}/play", people["developer"])
    assert (played.status_code, played.json()["status"]) == (200, "pending")
    token = rows.start("deploy")
    shown = api.request("GET", "/job", headers={"JOB-TOKEN": token})
    assert (shown.status_code, shown.json()["name"]) == (200, "deploy")
    assert shown.json()["user"]["username"] == people["developer"].username
    assert api.request("GET", "/job", headers={"JOB-TOKEN": "wrong"}).status_code == 401
    assert api.get("/job", people["developer"]).json() == {"message": "404 Job Not Found"}
    assert api.get("/job").status_code == 401


def test_trace(make: Make, api: Api, project: Project, people: dict[str, User], instance: Instance) -> None:
    rows = _rows(make, project, "build 0")
    job = rows.job("build")
    path = f"{project.url}/jobs/{job.id}/trace"
    empty = api.get(path, people["reporter"])
    assert (empty.status_code, empty.content) == (200, b"")
    rows.start("build")
    _traces(instance).append(job.id, 0, b"line 1\r\n\x1b[0;mline \xff2\n")
    shown = api.get(path, people["reporter"])
    assert shown.content == b"line 1\r\n\x1b[0;mline \xff2\n"
    assert shown.headers["content-type"].startswith("text/plain")
    assert shown.headers["content-disposition"] == f'infile; filename="{job.id}.log"'
    size = len(shown.content)
    _traces(instance).append(job.id, size, b"more")
    added = api.request("GET", path, people["reporter"], headers={"Range": f"bytes={size}-"})
    assert (added.status_code, added.content) == (206, b"more")
    none = api.request("GET", path, people["reporter"], headers={"Range": f"bytes={size + 4}-"})
    assert none.status_code == 416


def test_trace_with_variables_is_for_developers(
    make: Make, api: Api, project: Project, people: dict[str, User]
) -> None:
    rows = _rows(make, project, "build 0")
    job = rows.job("build")
    rows.write(lambda db: db.update(ci_jobs, job.id, variables='[{"key":"CI_DEBUG_TRACE","value":"true"}]'))
    path = f"{project.url}/jobs/{job.id}/trace"
    assert [api.get(path, people[role]).status_code for role in ("developer", "reporter")] == [200, 403]


def test_cancel_and_retry(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _rows(make, project, "build 0", "test 1")
    job, developer = rows.job("build"), people["developer"]
    path = f"{project.url}/jobs/{job.id}"
    refused = api.post(f"{path}/retry", developer)
    assert (refused.status_code, refused.json()) == (403, {"message": "403 Forbidden - Job is not retryable"})
    canceled = api.post(f"{path}/cancel", developer)
    assert (canceled.status_code, canceled.json()["status"]) == (201, "canceled")
    assert rows.statuses() == "canceled skipped canceled"
    retried = api.post(f"{path}/retry", developer)
    assert (retried.status_code, retried.json()["status"]) == (201, "pending")
    assert retried.json()["id"] > job.id
    assert retried.json()["user"]["username"] == developer.username
    assert rows.statuses().split()[-1] == "pending"


def test_play_with_variables(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _rows(make, project, "build 0", "deploy 0 manual")
    build, deploy = rows.job("build"), rows.job("deploy")
    refused = api.post(f"{project.url}/jobs/{build.id}/play", people["developer"])
    assert (refused.status_code, refused.json()) == (400, {"message": "400 (Bad request) Unplayable Job"})
    path = f"{project.url}/jobs/{deploy.id}/play"
    for variables in ([{"key": "A B", "value": "x"}], [{"key": "A"}], [{"key": "A", "value": "x" * 10_001}], "text"):
        invalid = api.post(path, people["developer"], job_variables_attributes=variables)
        assert invalid.status_code == 400, invalid.text
    variables = [{"key": "A", "value": "1"}, {"key": "B", "value": ""}, {"key": "A", "value": "2"}]
    played = api.post(path, people["developer"], job_variables_attributes=variables)
    assert (played.status_code, played.json()["status"]) == (200, "pending")
    stored = make.database.read(lambda db: manual_variables(db, deploy.id))
    assert sorted(stored) == [("A", "2"), ("B", "")]
    rows.finish("deploy")
    retried = api.post(f"{project.url}/jobs/{deploy.id}/retry", people["developer"])
    assert retried.status_code == 201
    stored = make.database.read(lambda db: manual_variables(db, retried.json()["id"]))
    assert sorted(stored) == [("A", "2"), ("B", "")]
    rows.finish("deploy")
    path = f"{project.url}/jobs/{retried.json()['id']}/play"
    again = api.post(path, people["developer"])
    assert again.status_code == 200
    assert again.json()["id"] != deploy.id
    assert make.database.read(lambda db: manual_variables(db, again.json()["id"])) == []


def test_erase(make: Make, api: Api, project: Project, people: dict[str, User], instance: Instance) -> None:
    rows = _rows(make, project, "build 0")
    token, job = rows.start("build"), rows.job("build")
    assert upload(api, job.id, token, zip_of({"a": b"x"})).status_code == 201
    _traces(instance).append(job.id, 0, b"output")
    path = f"{project.url}/jobs/{job.id}"
    refused = api.post(f"{path}/erase", people["developer"])
    assert (refused.status_code, refused.json()) == (403, {"message": "403 Forbidden - Job is not erasable!"})
    rows.finish("build")
    [artifact] = make.database.read(lambda db: artifacts_of_jobs(db, [job.id]))[job.id]
    erased = api.post(f"{path}/erase", people["developer"])
    assert erased.status_code == 201
    assert erased.json()["erased_at"] is not None
    assert erased.json()["artifacts"] == []
    assert api.get(f"{path}/trace", people["developer"]).content == b""
    assert api.get(f"{path}/artifacts", people["developer"]).status_code == 404
    instance.work()
    assert _traces(instance).size(job.id) == 0
    assert not store_of(instance).path_of(artifact.storage_key).exists()
    assert api.post(f"{path}/erase", people["developer"]).status_code == 403


def test_keep(make: Make, api: Api, project: Project, people: dict[str, User]) -> None:
    rows = _rows(make, project, "build 0")
    token, job = rows.start("build"), rows.job("build")
    path = f"{project.url}/jobs/{job.id}/artifacts/keep"
    assert api.post(path, people["developer"]).status_code == 404
    assert upload(api, job.id, token, zip_of({"a": b"x"}), expire_in="1 day").status_code == 201
    kept = api.post(path, people["developer"])
    assert (kept.status_code, kept.json()["artifacts_expire_at"]) == (200, None)


@pytest.mark.parametrize("action", ["cancel", "retry", "play", "erase", "artifacts/keep"])
def test_permission_to_change(make: Make, api: Api, project: Project, people: dict[str, User], action: str) -> None:
    def codes(job_id: int, users: list[str]) -> list[int]:
        return [api.post(f"{project.url}/jobs/{job_id}/{action}", people[role]).status_code for role in users]

    job_id = _rows(make, project, "build 0").job("build").id
    assert codes(job_id, ["reporter", "guest", "stranger"]) == [403, 403, 404]
    assert api.post(f"{project.url}/jobs/{job_id}/{action}").status_code == 401
    assert api.post(f"{project.url}/jobs/999999999/{action}", people["developer"]).status_code == 404
    protected = _rows(make, project, "deploy 0 manual", ref="main").job("deploy").id
    refused = api.post(f"{project.url}/jobs/{protected}/{action}", people["developer"])
    assert (refused.status_code, refused.json()) == (403, {"message": "403 Forbidden"})
    assert api.post(f"{project.url}/jobs/{protected}/{action}", people["owner"]).json() != {"message": "403 Forbidden"}
    api.post(f"{project.url}/archive", people["owner"])
    assert codes(job_id, ["owner", "developer"]) == [403, 403]


def test_files_of_deleted_pipelines(
    make: Make, api: Api, project: Project, people: dict[str, User], instance: Instance
) -> None:
    rows = _rows(make, project, "build 0")
    token, job = rows.start("build"), rows.job("build")
    assert upload(api, job.id, token, zip_of({"a": b"x"})).status_code == 201
    _traces(instance).append(job.id, 0, b"output")
    [artifact] = make.database.read(lambda db: artifacts_of_jobs(db, [job.id]))[job.id]
    rows.write(lambda db: delete_pipeline(db, rows.pipeline()))
    instance.work()
    assert not store_of(instance).path_of(artifact.storage_key).exists()
    assert _traces(instance).size(job.id) == 0
    shown = api.get(project.url, people["owner"], statistics=True).json()
    assert shown["statistics"]["job_artifacts_size"] == 0


def test_sweep_of_traces(make: Make, project: Project, instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    job = _rows(make, project, "build 0").job("build")
    traces, lost = _traces(instance), 10**12
    for job_id in (job.id, lost):
        traces.append(job_id, 0, b"x")
    _sweep(make, instance)
    assert traces.size(lost) == 1
    monkeypatch.setattr(trace_jobs, "SWEEP_AFTER_SECONDS", -10)
    _sweep(make, instance)
    assert (traces.size(lost), traces.size(job.id)) == (0, 1)


def _sweep(make: Make, instance: Instance) -> None:
    make.database.write(enqueue_trace_sweep)
    instance.work()
