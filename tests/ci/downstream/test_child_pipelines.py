"""Child pipelines: their configuration, their variables, and the job that starts them."""

from typing import Any

import pytest

from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import RunnerJob, project_runner
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, changed_settings, make_project

PARENT = """
stages: [build, test, deploy]
generate:
  stage: build
  script: generate
  artifacts: {paths: [out/]}
tests:
  stage: test
  trigger:
    include: [{local: child.yml}]
    strategy: depend
    forward: {pipeline_variables: true}
  variables: {OWN: "own-$CI_COMMIT_REF_NAME", RAW: {value: "$CI_COMMIT_REF_NAME", expand: false}}
deploy: {stage: deploy, script: deploy}
"""
CHILD = """
unit: {script: "echo $OWN", rules: [{if: '$CI_PIPELINE_SOURCE == "parent_pipeline"'}]}
never: {script: "true", rules: [{if: '$CI_PIPELINE_SOURCE == "push"'}]}
"""


def _project(make: Make, files: dict[str, str]) -> Project:
    project = make_project(make, jobs_enabled=False)
    commit_files(make, project, files)
    assert make.api.put(project.url, make.root, jobs_enabled=True).status_code == 200
    return project


def _run(make: Make, project: Project, **sent: Any) -> str:
    made = make.api.post(f"{project.url}/pipeline", make.root, ref="main", **sent)
    assert made.status_code == 201, made.text
    return f"{project.url}/pipelines/{made.json()['id']}"


def _bridge(make: Make, pipeline: str) -> dict[str, Any]:
    (bridge,) = make.api.get(f"{pipeline}/bridges", make.root).json()
    shown: dict[str, Any] = bridge
    return shown


def _statuses(make: Make, pipeline: str) -> dict[str, str]:
    jobs = make.api.get(f"{pipeline}/jobs", make.root).json() + make.api.get(f"{pipeline}/bridges", make.root).json()
    return {job["name"]: job["status"] for job in jobs}


def _finish(job: RunnerJob, state: str = "success") -> None:
    assert job.finish(state).status_code == 200


def test_job_waits_for_its_child_pipeline(api: Api, make: Make, instance: Instance) -> None:
    project = _project(make, {".gitlab-ci.yml": PARENT, "child.yml": CHILD})
    runner = project_runner(make, project.id)
    parent = _run(make, project, variables=[{"key": "GIVEN", "value": "g"}])
    assert _statuses(make, parent) == {"generate": "created", "deploy": "created", "tests": "created"} | {
        "generate": "pending"
    }
    _finish(runner.must_take())
    instance.work()
    bridge = _bridge(make, parent)
    assert (bridge["status"], bridge["stage"]) == ("running", "test")
    child = bridge["downstream_pipeline"]
    assert (child["source"], child["ref"], child["status"]) == ("parent_pipeline", "main", "pending")
    # Child pipelines are not listed, unless their source is requested.
    assert [each["source"] for each in list_pipelines(make, project)] == ["api"]
    assert [each["id"] for each in list_pipelines(make, project, source="parent_pipeline")] == [child["id"]]
    assert api.get(f"{project.url}/pipelines/latest", make.root).json()["id"] != child["id"]
    job = runner.must_take()
    assert job.name == "unit" and runner.take() is None
    assert {name: job.variables[name] for name in ("OWN", "RAW", "GIVEN", "CI_PIPELINE_SOURCE")} == {
        "OWN": "own-main",
        "RAW": "$CI_COMMIT_REF_NAME",
        "GIVEN": "g",
        "CI_PIPELINE_SOURCE": "parent_pipeline",
    }
    _finish(job)
    instance.work()
    assert _statuses(make, parent)["tests"] == "success"
    assert runner.run_all() == ["deploy"]
    assert api.get(parent, make.root).json()["status"] == "success"
    assert "tests" not in {each["name"] for each in api.get(f"{project.url}/jobs", make.root).json()}
    assert api.get(f"{project.url}/jobs", make.root).headers["X-Total"] == "3"


def test_failed_child_pipeline_fails_its_job_until_it_is_retried(api: Api, make: Make, instance: Instance) -> None:
    project = _project(make, {".gitlab-ci.yml": PARENT, "child.yml": CHILD})
    runner = project_runner(make, project.id)
    parent = _run(make, project)
    _finish(runner.must_take())
    instance.work()
    _finish(runner.must_take(), "failed")
    instance.work()
    assert _statuses(make, parent) == {"generate": "success", "tests": "failed", "deploy": "skipped"}
    assert api.get(parent, make.root).json()["status"] == "failed"
    child = _bridge(make, parent)["downstream_pipeline"]["id"]
    assert api.post(f"{project.url}/pipelines/{child}/retry", make.root).status_code == 201
    instance.work()
    assert _statuses(make, parent) == {"generate": "success", "tests": "running", "deploy": "created"}
    _finish(runner.must_take())
    instance.work()
    assert _statuses(make, parent) == {"generate": "success", "tests": "success", "deploy": "pending"}


def test_canceled_pipeline_cancels_its_children(api: Api, make: Make, instance: Instance) -> None:
    nested = "inner: {trigger: {include: inner.yml}}\nlong: {script: sleep, needs: []}\n"
    files = {".gitlab-ci.yml": "outer: {trigger: {include: [child.yml], strategy: depend}}\n", "child.yml": nested}
    project = _project(make, files | {"inner.yml": "work: {script: work}\n"})
    parent = _run(make, project)
    instance.work()
    children = list_pipelines(make, project, source="parent_pipeline")
    assert sorted(each["status"] for each in children) == ["pending", "running"]
    assert api.post(f"{parent}/cancel", make.root).status_code == 200
    instance.work()
    children = list_pipelines(make, project, source="parent_pipeline")
    assert {each["status"] for each in children} == {"canceled"}
    assert api.get(parent, make.root).json()["status"] == "canceled"
    assert api.delete(parent, make.root).status_code == 204
    assert list_pipelines(make, project, source="parent_pipeline") == []


def test_job_without_strategy_succeeds_at_once_and_retry_starts_another_pipeline(
    api: Api, make: Make, instance: Instance
) -> None:
    parent_file = "start: {trigger: {include: child.yml}}\nafter: {script: x, needs: [start]}\n"
    project = _project(make, {".gitlab-ci.yml": parent_file, "child.yml": "unit: {script: x}\n"})
    parent = _run(make, project)
    assert _statuses(make, parent) == {"start": "pending", "after": "created"}
    instance.work()
    assert _statuses(make, parent) == {"start": "success", "after": "pending"}
    bridge = _bridge(make, parent)
    assert api.get(f"{project.url}/jobs/{bridge['id']}", make.root).status_code == 404
    assert api.post(f"{project.url}/jobs/{bridge['id']}/retry", make.root).status_code == 201
    instance.work()
    assert _bridge(make, parent)["downstream_pipeline"]["id"] != bridge["downstream_pipeline"]["id"]
    assert len(api.get(f"{parent}/bridges", make.root, scope=["failed"]).json()) == 0
    assert api.get(f"{parent}/bridges", make.root, scope=["bogus"]).status_code == 400


def test_configuration_from_an_artifact(api: Api, make: Make, instance: Instance) -> None:
    file = """
stages: [build, test]
generate: {stage: build, script: generate, artifacts: {paths: [out/]}}
dynamic: {stage: test, trigger: {include: [{artifact: out/ci.yml, job: generate}], strategy: depend}}
"""
    project = _project(make, {".gitlab-ci.yml": file})
    runner = project_runner(make, project.id)
    parent = _run(make, project)
    job = runner.must_take()
    assert job.upload({"out/ci.yml": b"made: {script: made}\n"}).status_code == 201
    _finish(job)
    instance.work()
    assert runner.run_all() == ["made"]
    instance.work()
    assert api.get(parent, make.root).json()["status"] == "success"
    # Without the file, the job fails, and the jobs after it do not run.
    other = _run(make, project)
    _finish(runner.must_take())
    instance.work()
    bridge = _bridge(make, other)
    assert (bridge["status"], bridge["failure_reason"]) == ("failed", "downstream_pipeline_creation_failed")


def test_size_of_a_configuration_from_an_artifact(make: Make, instance: Instance) -> None:
    file = """
stages: [build, test]
generate: {stage: build, script: generate, artifacts: {paths: [out/]}}
dynamic: {stage: test, trigger: {include: [{artifact: out/ci.yml, job: generate}]}}
"""
    project, child = _project(make, {".gitlab-ci.yml": file}), b"made: {script: made}\n"
    runner = project_runner(make, project.id)

    def status(max_bytes: int) -> str:
        with changed_settings(make, max_artifacts_content_include_size=max_bytes):
            parent = _run(make, project)
            job = runner.must_take()
            assert job.upload({"out/ci.yml": child}).status_code == 201
            _finish(job)
            instance.work()
            if _bridge(make, parent)["status"] == "success":
                assert runner.run_all() == ["made"]
            return str(_bridge(make, parent)["status"])

    assert [status(len(child) - 1), status(len(child))] == ["failed", "success"]


@pytest.mark.parametrize(
    ("child", "message"),
    [
        ("unit: {stage: missing, script: x}\n", "chosen stage missing does not exist"),
        ("unit: {script: x, only: [tags]}\n", "No stages / jobs for this pipeline."),
        ("workflow: {rules: [{when: never}]}\nunit: {script: x}\n", "filtered out by workflow rules"),
    ],
)
def test_pipeline_that_cannot_be_created(api: Api, make: Make, instance: Instance, child: str, message: str) -> None:
    file = "start: {trigger: {include: child.yml}}\nafter: {script: x, needs: [start]}\n"
    project = _project(make, {".gitlab-ci.yml": file, "child.yml": child})
    parent = _run(make, project)
    instance.work()
    assert _statuses(make, parent) == {"start": "failed", "after": "skipped"}
    assert api.get(parent, make.root).json()["status"] == "failed"
    sha = api.get(parent, make.root).json()["sha"]
    statuses = api.get(f"{project.url}/repository/commits/{sha}/statuses", make.root).json()
    assert message in next(each["description"] for each in statuses if each["name"] == "start")


def test_levels_of_child_pipelines_are_limited(make: Make, instance: Instance) -> None:
    file = "again: {trigger: {include: .gitlab-ci.yml}}\n"
    project = _project(make, {".gitlab-ci.yml": file})
    _run(make, project)
    instance.work()
    children = list_pipelines(make, project, source="parent_pipeline")
    assert len(children) == 2
    reasons = [_bridge(make, f"{project.url}/pipelines/{each['id']}").get("failure_reason") for each in children]
    assert sorted(map(str, reasons)) == ["None", "reached_max_descendant_pipelines_depth"]


def test_child_pipeline_of_a_merge_request(api: Api, make: Make, instance: Instance) -> None:
    file = "start: {trigger: {include: child.yml}, rules: [{if: $CI_MERGE_REQUEST_IID}]}\n"
    child = "unit: {script: x, rules: [{if: $CI_MERGE_REQUEST_IID}]}\n"
    project = _project(make, {".gitlab-ci.yml": file, "child.yml": child})
    commit_files(make, project, {"new": "text"}, branch="topic", start_branch="main")
    made = api.post(
        f"{project.url}/merge_requests", make.root, source_branch="topic", target_branch="main", title="New"
    ).json()
    instance.work()
    (pipeline,) = api.get(f"{project.url}/merge_requests/{made['iid']}/pipelines", make.root).json()
    assert pipeline["source"] == "merge_request_event" and pipeline["status"] == "success"
    child_id = _bridge(make, f"{project.url}/pipelines/{pipeline['id']}")["downstream_pipeline"]["id"]
    job = project_runner(make, project.id).must_take()
    assert job.variables["CI_MERGE_REQUEST_IID"] == str(made["iid"])
    assert job.variables["CI_PIPELINE_ID"] == str(child_id)
    shown = api.get(f"{project.url}/merge_requests/{made['iid']}", make.root).json()
    assert shown["head_pipeline"]["id"] == pipeline["id"]


def test_child_gets_artifacts_of_its_parent(make: Make, instance: Instance) -> None:
    parent = """
stages: [build, test]
build: {stage: build, script: x, artifacts: {paths: [out/]}}
start: {stage: test, trigger: {include: child.yml}, variables: {PARENT: $CI_PIPELINE_ID}}
"""
    child = """
good: {script: x, needs: [{pipeline: $PARENT, job: build}]}
missing: {script: x, needs: [{pipeline: $PARENT, job: other}]}
foreign: {script: x, needs: [{pipeline: "999999999", job: build}]}
"""
    project = _project(make, {".gitlab-ci.yml": parent, "child.yml": child})
    runner = project_runner(make, project.id)
    pipeline = _run(make, project)
    job = runner.must_take()
    assert job.upload({"out/file": b"content"}).status_code == 201
    _finish(job)
    instance.work()
    good = runner.must_take()
    assert good.name == "good"
    assert [each["id"] for each in good.payload["dependencies"]] == [job.id]
    assert runner.take() is None
    started = _bridge(make, pipeline)["downstream_pipeline"]["id"]
    jobs = make.api.get(f"{project.url}/pipelines/{started}/jobs", make.root).json()
    reasons = {each["name"]: each.get("failure_reason") for each in jobs}
    assert reasons == {
        "good": None,
        "missing": "missing_dependency_failure",
        "foreign": "missing_dependency_failure",
    }
