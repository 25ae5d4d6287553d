"""Endpoints of pipelines: run, retry, cancel, delete, variables and jobs."""

from typing import Any

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import RunnerJob, project_runner
from tests.client import Api, Make, User
from tests.factories import Project, add_members, make_project, statements_of
from tests.roles import UsersByRole, project_with

FILE = """
stages: [build, test]
build: {stage: build, script: make, tags: [linux, amd]}
lint: {stage: build, script: make lint, allow_failure: true, tags: [linux]}
test: {script: make test, tags: [linux]}
"""


@pytest.fixture
def project(make: Make) -> Project:
    """Return a project with a configuration and without pipelines."""
    made = make_project(make, jobs_enabled=False)
    commit_files(make, made, {".gitlab-ci.yml": FILE})
    assert make.api.put(made.url, make.root, jobs_enabled=True).status_code == 200
    return made


def _run(make: Make, project: Project, user: User | None = None, **sent: Any) -> dict[str, Any]:
    made = make.api.post(f"{project.url}/pipeline", user or make.root, **{"ref": "main", **sent})
    assert made.status_code == 201, made.text
    shown: dict[str, Any] = made.json()
    return shown


def _fail(job: RunnerJob) -> None:
    assert job.finish("failed" if job.name in ("lint", "build") else "success").status_code == 200


def test_run_a_pipeline_with_variables(api: Api, make: Make, project: Project) -> None:
    variables = [{"key": "A", "value": "1"}, {"key": "F", "value": "text", "variable_type": "file"}]
    pipeline = _run(make, project, variables=variables)
    assert (pipeline["source"], pipeline["status"], pipeline["ref"]) == ("api", "pending", "main")
    assert pipeline["detailed_status"]["text"] == "Pending"
    shown = api.get(f"{project.url}/pipelines/{pipeline['id']}/variables", make.root).json()
    assert shown == [
        {"key": "A", "value": "1", "variable_type": "env_var", "raw": False},
        {"key": "F", "value": "text", "variable_type": "file", "raw": False},
    ]
    job = project_runner(make, project.id, tag_list="linux,amd").must_take()
    sent = {each["key"]: each for each in job.payload["variables"]}
    assert (sent["A"]["value"], sent["A"]["public"], sent["F"]["file"]) == ("1", False, True)
    latest = api.get(f"{project.url}/pipelines/latest", make.root).json()
    assert latest["id"] == pipeline["id"]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"ref": "missing"}, {"base": ["Reference not found"]}),
        ({"ref": "bare"}, {"base": ["Missing .gitlab-ci.yml file"]}),
        ({"ref": "broken"}, None),
        ({"ref": "empty"}, {"base": ["No stages / jobs for this pipeline."]}),
        ({"ref": "around"}, {"base": ["No stages / jobs for this pipeline."]}),
        ({"ref": "filtered"}, {"base": ["Pipeline filtered out by workflow rules."]}),
        ({"ref": "main", "variables": [{"key": "A", "value": ""}] * 2}, {"base": ["Duplicate variable name"]}),
        ({"ref": "main", "variables": [{"key": "A"}]}, None),
        (
            {"ref": "main", "variables": [{"key": "a-b;touch x", "value": "1"}]},
            {"key": ["can contain only letters, digits and '_'."]},
        ),
        ({"ref": "main", "variables": [{"key": "A" * 256, "value": "1"}]}, None),
        ({"ref": "main", "variables": [{"key": "", "value": "1"}]}, {"key": ["can't be blank"]}),
        ({}, '400 (Bad request) "ref" not given'),
    ],
)
def test_refused_pipelines(api: Api, make: Make, project: Project, sent: dict[str, Any], message: Any) -> None:
    texts = {
        "broken": "test: {stage: x}",
        "empty": "test: {script: make, only: [tags]}",
        "around": "first: {stage: .pre, script: make}\nlast: {stage: .post, script: make}",
        "filtered": "workflow: {rules: [{when: never}]}\ntest: {script: make}",
    }
    branch = sent.get("ref", "")
    if branch in texts:
        commit_files(
            make, project, {".gitlab-ci.yml": texts[branch]}, branch=branch, start_branch="main", action="update"
        )
    elif branch == "bare":
        actions = [
            {"action": "delete", "file_path": ".gitlab-ci.yml"},
            {"action": "create", "file_path": "x", "content": "x"},
        ]
        body = {"branch": "bare", "start_branch": "main", "commit_message": "Remove", "actions": actions}
        assert api.post(f"{project.url}/repository/commits", make.root, **body).status_code == 201
    before = len(list_pipelines(make, project))
    refused = api.post(f"{project.url}/pipeline", make.root, **sent)
    assert refused.status_code == 400
    assert message is None or refused.json() == {"message": message}
    assert len(list_pipelines(make, project)) == before


ROLES = [("owner", 201), ("developer", 201), ("reporter", 403), ("guest", 403), ("stranger", 404), ("nobody", 401)]


@pytest.mark.parametrize(("role", "status"), ROLES)
def test_developers_run_pipelines(api: Api, make: Make, roles: UsersByRole, role: str, status: int) -> None:
    project, caller = project_with(make, roles), roles[role]
    commit_files(make, project, {"README": "text"})
    commit_files(make, project, {".gitlab-ci.yml": FILE}, branch="feature", start_branch="main")
    pipeline = list_pipelines(make, project)[0]["id"]
    assert api.post(f"{project.url}/pipeline", caller, ref="feature").status_code == status
    path = f"{project.url}/pipelines/{pipeline}"
    assert api.post(f"{path}/cancel", caller).status_code == (200 if status == 201 else status)
    assert api.post(f"{path}/retry", caller).status_code == status
    assert api.get(f"{path}/variables", caller).status_code == (200 if status == 201 else status)
    deleted = 204 if role == "owner" else 403 if status == 201 else status
    assert api.delete(path, caller).status_code == deleted


def test_protected_branches(api: Api, make: Make) -> None:
    """Attack: a developer runs a pipeline with protected variables on a branch to which they may not push."""
    project, developer = make_project(make), make.user()
    commit_files(make, project, {".gitlab-ci.yml": "test: {script: make}\nlater: {script: make, when: manual}\n"})
    api.post(f"{project.url}/members", make.root, user_id=developer.id, access_level=int(Level.DEVELOPER))
    rules = api.get(f"{project.url}/protected_branches", make.root).json()
    assert [rule["name"] for rule in rules] == ["main"]
    refused = api.post(f"{project.url}/pipeline", developer, ref="main")
    assert refused.status_code == 400
    assert "do not have sufficient permission to run a pipeline on 'main'" in refused.text
    (pipeline,) = list_pipelines(make, project)
    for action in ("retry", "cancel"):
        assert api.post(f"{project.url}/pipelines/{pipeline['id']}/{action}", developer).status_code == 403
    assert api.post(f"{project.url}/pipeline", make.root, ref="main").status_code == 201


def test_pipelines_are_renamed(api: Api, make: Make, project: Project) -> None:
    developer, reporter = make.user(), make.user()
    add_members(make, project, {developer: Level.DEVELOPER, reporter: Level.REPORTER})
    commit_files(make, project, {"a": ""}, branch="topic", start_branch="main")
    path = f"{project.url}/pipelines/{_run(make, project, developer, ref='topic')['id']}"
    renamed = api.put(f"{path}/metadata", developer, name=" Nightly <b> ")
    assert (renamed.status_code, renamed.json()["name"]) == (200, "Nightly <b>")
    assert api.get(path, reporter).json()["name"] == "Nightly <b>"
    for name, error in ((" ", "can't be blank"), ("x" * 256, "is too long (maximum is 255 characters)")):
        refused = api.put(f"{path}/metadata", developer, name=name)
        assert (refused.status_code, refused.json()) == (400, {"message": {"name": [error]}})
    assert api.put(f"{path}/metadata", developer).status_code == 400
    assert api.put(f"{path}/metadata", reporter, name="x").status_code == 403
    assert api.put(f"{path}/metadata", make.user(), name="x").status_code == 404
    assert api.put(f"{project.url}/pipelines/999999/metadata", developer, name="x").status_code == 404


def test_retry_and_cancel(api: Api, make: Make, project: Project) -> None:
    pipeline = _run(make, project)
    path = f"{project.url}/pipelines/{pipeline['id']}"
    runner = project_runner(make, project.id, tag_list="linux,amd")
    assert runner.run_all(_fail) == ["build", "lint"]
    failed = api.get(path, make.root).json()
    assert failed["status"] == "failed"
    statuses = {job["name"]: job["status"] for job in api.get(f"{path}/jobs", make.root).json()}
    assert statuses == {"build": "failed", "lint": "failed", "test": "skipped"}
    retried = api.post(f"{path}/retry", make.root)
    assert (retried.status_code, retried.json()["status"]) == (201, "pending")
    assert len(api.get(f"{path}/jobs", make.root, include_retried=True).json()) == 5
    scoped = api.get(f"{path}/jobs", make.root, **{"scope[]": ["pending", "created"]}).json()
    assert [job["name"] for job in scoped] == ["test", "build", "lint"]
    assert runner.run_all() == ["build", "lint", "test"]
    assert api.get(path, make.root).json()["detailed_status"]["label"] == "passed"
    again = _run(make, project)
    job = runner.must_take()
    canceled = api.post(f"{project.url}/pipelines/{again['id']}/cancel", make.root)
    assert (canceled.status_code, canceled.json()["status"]) == (200, "canceling")
    assert job.trace(b"x").headers["Job-Status"] == "canceling"
    assert job.finish("failed", failure_reason="job_canceled").status_code == 200
    assert api.get(f"{project.url}/pipelines/{again['id']}", make.root).json()["status"] == "canceled"
    assert api.get(f"{path}/bridges", make.root).json() == []


def test_passed_with_warnings(api: Api, make: Make, project: Project) -> None:
    pipeline = _run(make, project)
    runner = project_runner(make, project.id, tag_list="linux,amd")
    runner.run_all(lambda job: _expect(job.finish("failed" if job.name == "lint" else "success")))
    shown = api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
    assert (shown["status"], shown["detailed_status"]["label"]) == ("success", "passed with warnings")
    assert shown["duration"] is not None
    assert shown["queued_duration"] is not None
    lint = next(
        job
        for job in api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()
        if job["name"] == "lint"
    )
    assert (lint["failure_reason"], lint["allow_failure"], lint["tag_list"]) == ("unknown_failure", True, ["linux"])
    assert lint["runner"]["id"] == runner.id
    assert lint["queued_duration"] is not None


def _expect(answer: Any) -> None:
    assert answer.status_code == 200


def test_job_list_costs_a_fixed_number_of_statements(make: Make, project: Project) -> None:
    pipeline = _run(make, project)
    path = f"{project.url}/pipelines/{pipeline['id']}/jobs"
    few = statements_of(make, lambda: make.api.get(path, make.root, per_page=1))
    assert statements_of(make, lambda: make.api.get(path, make.root, per_page=3)) <= few + 1


def test_unknown_statuses_are_refused(api: Api, make: Make, project: Project) -> None:
    pipeline = _run(make, project)
    address = f"{project.url}/pipelines/{pipeline['id']}/jobs"
    assert api.get(address, make.root, scope=["bogus"]).status_code == 400
    assert len(api.get(address, make.root, scope=["pending"]).json()) == 2


INPUTS = """
spec:
  inputs:
    name: {}
    level: {type: number, default: 1, options: [1, 2]}
    fast: {type: boolean, default: false}
    tags: {type: array, default: []}
    version: {default: v1, regex: '^v[0-9]+$'}
---
$[[ inputs.name ]]:
  interruptible: $[[ inputs.fast ]]
  tags: $[[ inputs.tags ]]
  script: deploy $[[ inputs.level ]] $[[ inputs.version ]]
"""


def test_inputs_of_a_new_pipeline(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": INPUTS})

    def create(**inputs: object) -> httpx.Response:
        return api.post(f"{project.url}/pipeline", make.root, ref="main", inputs=inputs)

    created = create(name="build", level=2, fast=True, tags=["a"], version="v22")
    assert created.status_code == 201, created.text
    (job,) = api.get(f"{project.url}/pipelines/{created.json()['id']}/jobs", make.root).json()
    assert (job["name"], job["tag_list"]) == ("build", ["a"])
    assert create(name="texts", level="2", fast="true", tags='["b"]').status_code == 201
    trigger = api.post(f"{project.url}/triggers", make.root, description="t").json()["token"]
    sent = {"token": trigger, "ref": "main", "inputs": {"name": "triggered"}}
    assert api.post(f"{project.url}/trigger/pipeline", None, **sent).json()["yaml_errors"] is None
    for inputs, message in (
        ({}, "`name` input: required value has not been provided"),
        (
            {"name": "a", "level": 3},
            "`level` input: `3` cannot be used because it is not in the list of allowed options",
        ),
        ({"name": "a", "level": "x"}, "`level` input: provided value is not a number"),
        ({"name": "a", "fast": "maybe"}, "`fast` input: provided value is not a boolean"),
        ({"name": "a", "tags": "x"}, "`tags` input: provided value is not an array"),
        ({"name": "a", "version": "1"}, "`version` input: provided value does not match required RegEx pattern"),
        ({"name": "a", "other": 1}, "unknown input arguments: other"),
    ):
        refused = create(**inputs)
        assert (refused.status_code, message in refused.text) == (400, True), refused.text
    assert api.post(f"{project.url}/pipeline", make.root, ref="main", inputs="x").status_code == 400
