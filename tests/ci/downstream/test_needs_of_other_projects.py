"""Artifacts of jobs of other projects and refs (``needs:project``), and jobs that mirror a pipeline."""

from typing import Any

import httpx
import pytest

from ingot.core.access.levels import Level
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import RunnerJob, project_runner
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project

BUILD = "build: {script: make, artifacts: {paths: [out/]}}\nother: {script: test}\n"


def _download(api: Api, dependency: dict[str, Any]) -> httpx.Response:
    return api.request("GET", f"/jobs/{dependency['id']}/artifacts", headers={"JOB-TOKEN": dependency["token"]})


def _library(make: Make, user: User, **attributes: Any) -> Project:
    """Return a project whose newest job with artifacts has succeeded, in a pipeline that has failed."""
    library = make_project(make, user, **attributes)
    commit_files(make, library, {".gitlab-ci.yml": BUILD}, user=user)

    def execute(job: RunnerJob) -> None:
        if job.name == "build":
            assert job.upload({"out/lib.so": b"library"}).status_code == 201
        assert job.finish("success" if job.name == "build" else "failed").status_code == 200

    assert sorted(project_runner(make, library.id).run_all(execute)) == ["build", "other"]
    return library


def _need(make: Make, user: User, library: Project, **need: Any) -> tuple[Project, str]:
    project = make_project(make, user)
    fields = {"project": library.path, "job": "build", "ref": "main", **need}
    listed = ", ".join(f"{key}: {value}" for key, value in fields.items())
    file = f"use:\n  script: [use]\n  needs: [{{{listed}}}]\n  variables: {{NAME: bui, REF: $CI_COMMIT_REF_NAME}}\n"
    commit_files(make, project, {".gitlab-ci.yml": file}, user=user)
    return project, file


def test_artifacts_of_another_project(api: Api, make: Make) -> None:
    """The project of the needed job has to admit job tokens of the other one, and its user has to be a member."""
    user = make.user()
    library = _library(make, user)
    project, file = _need(make, user, library, job='"${NAME}ld"', ref="$REF", artifacts="true")
    lint = api.post(f"{project.url}/ci/lint", user, content=file).json()
    assert (lint["valid"], lint["warnings"]) == (True, [])
    runner = project_runner(make, project.id)
    assert runner.take() is None
    (pipeline,) = list_pipelines(make, project, user)
    (refused,) = api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", user).json()
    assert (refused["status"], refused["failure_reason"]) == ("failed", "missing_dependency_failure")
    allowed = api.post(f"{library.url}/job_token_scope/allowlist", user, target_project_id=project.id)
    assert allowed.status_code == 201
    assert api.post(f"{project.url}/jobs/{refused['id']}/retry", user).status_code == 201
    job = runner.must_take()
    (dependency,) = job.payload["dependencies"]
    assert (dependency["name"], dependency["token"]) == ("build", job.token)
    downloaded = _download(api, dependency)
    assert downloaded.status_code == 200 and b"lib.so" in downloaded.content
    # The token reaches nothing after the project has withdrawn its permission.
    assert api.delete(f"{library.url}/job_token_scope/allowlist/{project.id}", user).status_code == 204
    assert _download(api, dependency).status_code == 403


@pytest.mark.parametrize(
    ("need", "found"),
    [
        ({}, True),
        ({"job": "absent"}, False),
        ({"job": "other"}, False),
        ({"ref": "missing"}, False),
        ({"project": "not/there"}, False),
        ({"artifacts": "false", "job": "absent"}, True),
    ],
)
def test_needed_jobs_must_have_artifacts(make: Make, need: dict[str, str], found: bool) -> None:
    user = make.user()
    project, _ = _need(make, user, _library(make, user, visibility="public"), **need)
    job = project_runner(make, project.id).take()
    assert (job is not None) is found
    if job is not None:
        assert len(job.payload["dependencies"]) == (0 if need else 1)


def test_user_must_be_allowed_to_read_the_jobs(api: Api, make: Make) -> None:
    owner, user = make.user(), make.user()
    library = _library(make, owner)
    limit = api.request("PATCH", f"{library.url}/job_token_scope", owner, json={"enabled": False})
    assert limit.status_code == 204
    project, _ = _need(make, user, library)
    runner = project_runner(make, project.id)
    assert runner.take() is None
    api.post(f"{library.url}/members", owner, user_id=user.id, access_level=int(Level.REPORTER))
    (pipeline,) = list_pipelines(make, project, user)
    assert api.post(f"{project.url}/pipelines/{pipeline['id']}/retry", user).status_code == 201
    assert runner.must_take().name == "use"


@pytest.mark.parametrize(
    ("job", "error"),
    [
        (
            "{trigger: a/b, needs: [{project: a/b, job: c, ref: d}]}",
            "needs config uses invalid types: cross_dependency",
        ),
        ("{script: x, needs: {pipeline: a/b}}", "needs config uses invalid types: bridge"),
        ("{script: x, needs: [{project: a/b, job: c}]}", "needs:need ref should be a string"),
        (
            "{script: x, rules: [{when: always, needs: [{project: a/b, job: c, ref: d}]}]}",
            "rules:rule:needs config uses invalid types: cross_dependency",
        ),
        (
            f"{{script: x, needs: [{', '.join(['{project: a/b, job: c, ref: d}'] * 6)}]}}",
            "needs config must be less than or equal to 5",
        ),
    ],
)
def test_invalid_needs(api: Api, make: Make, job: str, error: str) -> None:
    result = api.post("/ci/lint", make.root, content=f"job: {job}\n").json()
    assert f"jobs:job:{error}" in result["errors"]


def test_job_takes_the_status_of_a_pipeline(api: Api, make: Make, instance: Instance) -> None:
    upstream, project = make_project(make, name="upstream"), make_project(make)
    commit_files(make, upstream, {".gitlab-ci.yml": "unit: {script: x}\n"})
    file = f"mirror: {{needs: {{pipeline: {upstream.path}}}}}\nafter: {{stage: deploy, script: x}}\n"
    commit_files(make, project, {".gitlab-ci.yml": file})
    instance.work()
    (pipeline,) = list_pipelines(make, project)
    bridges = f"{project.url}/pipelines/{pipeline['id']}/bridges"
    (bridge,) = api.get(bridges, make.root).json()
    assert (bridge["status"], bridge["downstream_pipeline"]) == ("pending", None)
    job = project_runner(make, upstream.id).must_take()
    instance.work()
    assert api.get(bridges, make.root).json()[0]["status"] == "running"
    assert job.finish("success").status_code == 200
    instance.work()
    assert api.get(bridges, make.root).json()[0]["status"] == "success"
    assert project_runner(make, project.id).run_all() == ["after"]
    # The next pipeline finds the result at once.
    assert api.post(f"{project.url}/pipeline", make.root, ref="main").status_code == 201
    instance.work()
    newest = list_pipelines(make, project)[0]["id"]
    assert api.get(f"{project.url}/pipelines/{newest}/bridges", make.root).json()[0]["status"] == "success"


def test_mirrored_pipeline_must_be_readable(api: Api, make: Make, instance: Instance) -> None:
    user = make.user()
    hidden, project = make_project(make), make_project(make, user)
    commit_files(make, hidden, {".gitlab-ci.yml": "unit: {script: x}\n"})
    file = f"hidden: {{needs: {{pipeline: {hidden.path}}}}}\nabsent: {{needs: {{pipeline: absent}}}}\n"
    commit_files(make, project, {".gitlab-ci.yml": file}, user=user)
    instance.work()
    (pipeline,) = list_pipelines(make, project, user)
    bridges = api.get(f"{project.url}/pipelines/{pipeline['id']}/bridges", user).json()
    assert {each["failure_reason"] for each in bridges} == {"upstream_bridge_project_not_found"}


def test_deleted_project_ends_jobs_that_mirror_its_pipeline(api: Api, make: Make, instance: Instance) -> None:
    upstream, project = make_project(make), make_project(make)
    commit_files(make, upstream, {".gitlab-ci.yml": "unit: {script: x}\n"})
    commit_files(make, project, {".gitlab-ci.yml": f"mirror: {{needs: {{pipeline: {upstream.path}}}}}\n"})
    instance.work()
    assert api.delete(upstream.url, make.root).status_code == 200
    instance.work()
    (pipeline,) = list_pipelines(make, project)
    assert pipeline["status"] == "failed"
