"""Pipelines that follow from pushes."""

from pathlib import Path
from typing import Any

import pytest

from ingot.ci.pipelines import jobs
from ingot.ci.pipelines.jobs import PipelineCreation
from ingot.projects.projects.api import repository_store
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.transport.conftest import Tree, over_http

FILE = """
build:
  stage: build
  script: make
test:
  script: make test
"""


def _names(make: Make, project: Project, pipeline_id: int) -> list[str]:
    listed = make.api.get(f"{project.url}/pipelines/{pipeline_id}/jobs", make.root)
    return sorted(job["name"] for job in listed.json())


def test_push_creates_a_pipeline(api: Api, make: Make) -> None:
    project = make_project(make)
    sha = commit_files(make, project, {".gitlab-ci.yml": FILE})
    (pipeline,) = list_pipelines(make, project)
    assert (pipeline["sha"], pipeline["ref"], pipeline["status"], pipeline["source"]) == (
        sha,
        "main",
        "pending",
        "push",
    )
    first, second = api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()
    assert [(job["name"], job["stage"], job["status"]) for job in (first, second)] == [
        ("build", "build", "pending"),
        ("test", "test", "created"),
    ]
    assert (first["commit"]["id"], first["pipeline"]["id"]) == (sha, pipeline["id"])
    assert first["user"]["username"] == "root"
    assert (first["runner"], first["artifacts"], first["tag_list"]) == (None, [], [])
    assert project_runner(make, project.id).run_all() == ["build", "test"]
    assert list_pipelines(make, project)[0]["status"] == "success"
    tag = api.post(f"{project.url}/repository/tags", make.root, tag_name="v1", ref="main", message="First")
    assert tag.status_code == 201
    newest = list_pipelines(make, project)[0]
    assert (newest["ref"], newest["sha"]) == ("v1", sha)
    assert api.get(f"{project.url}/pipelines/{newest['id']}", make.root).json()["tag"] is True


@pytest.mark.parametrize(
    ("attributes", "path"),
    [({"jobs_enabled": False}, ".gitlab-ci.yml"), ({}, "other.yml"), ({"ci_config_path": "ci/x.yml"}, "ci/y.yml")],
)
def test_no_pipeline(make: Make, attributes: dict[str, Any], path: str) -> None:
    project = make_project(make, **attributes)
    commit_files(make, project, {path: FILE})
    assert list_pipelines(make, project) == []


def test_configuration_elsewhere(make: Make) -> None:
    """In another file, in another project that the pusher may read, and not in a hidden one."""
    project = make_project(make, ci_config_path="ci/main.yml")
    commit_files(make, project, {"ci/main.yml": FILE})
    assert len(list_pipelines(make, project)) == 1
    owner = make.user()
    for path, status in (("pending", "pending"), ("hidden", "failed")):
        shared = make_project(make, name=make.name(path), visibility="public" if path == "pending" else "private")
        commit_files(make, shared, {"x.yml": FILE})
        own = make_project(make, owner, ci_config_path=f"x.yml@{shared.path}:main")
        commit_files(make, own, {"README": "text"}, user=owner)
        (pipeline,) = list_pipelines(make, own)
        assert pipeline["status"] == status
        details = make.api.get(f"{own.url}/pipelines/{pipeline['id']}", make.root).json()
        assert bool(details["yaml_errors"]) is (status == "failed")
        assert make.api.get(f"{own.url}/ci/lint", owner).json()["valid"] is (status == "pending")


def test_broken_configuration(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": "test:\n  stage: nowhere\n  script: make\n"})
    (pipeline,) = list_pipelines(make, project, yaml_errors=True)
    details = api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
    assert details["status"] == "failed"
    assert "nowhere" in details["yaml_errors"]
    assert api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json() == []


@pytest.mark.parametrize("message", ["Fix [ci skip]", "[SKIP CI]", "[skip-ci] x", "x [ci_skip]"])
def test_skip_by_message(api: Api, make: Make, message: str) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE}, message=message)
    (pipeline,) = list_pipelines(make, project)
    assert pipeline["status"] == "skipped"
    made = api.post(f"{project.url}/pipeline", make.root, ref="main")
    assert (made.status_code, made.json()["status"]) == (201, "pending")


def test_only_the_last_message_of_a_push_skips(instance: Instance, make: Make, tmp_path: Path) -> None:
    project = make_project(make)
    folder = Tree(tmp_path)
    folder.git("init", "-q", "-b", "main")
    folder.commit(".gitlab-ci.yml", FILE, "First [ci skip]")
    last = folder.commit("README", "text", "Second")
    folder.git("push", "-q", over_http(instance, project, make.root), "main")
    (pipeline,) = list_pipelines(make, project)
    assert (pipeline["sha"], pipeline["status"]) == (last, "pending")


def test_push_options(api: Api, instance: Instance, make: Make, tmp_path: Path) -> None:
    project = make_project(make)
    remote = over_http(instance, project, make.root)
    folder = Tree(tmp_path)
    folder.git("init", "-q", "-b", "main")
    folder.commit(".gitlab-ci.yml", FILE)
    folder.git("push", "-q", "-o", "ci.skip", remote, "main")
    assert [pipeline["status"] for pipeline in list_pipelines(make, project)] == ["skipped"]
    folder.commit("README", "text")
    options = ["-o", "ci.variable=A=b=c", "-o", "ci.variable=EMPTY=", "-o", "merge_request.create"]
    folder.git("push", "-q", *options, remote, "main")
    newest = list_pipelines(make, project)[0]
    assert newest["status"] == "pending"
    variables = api.get(f"{project.url}/pipelines/{newest['id']}/variables", make.root).json()
    assert [(each["key"], each["value"]) for each in variables] == [("A", "b=c"), ("EMPTY", "")]
    folder.commit("README", "other text")
    folder.git("push", "-q", "-o", "ci.variable=a-b;touch x=1", remote, "main")
    newest = api.get(f"{project.url}/pipelines/{list_pipelines(make, project)[0]['id']}", make.root).json()
    assert newest["status"] == "failed"
    assert "can contain only letters, digits and '_'" in newest["yaml_errors"]


def test_four_refs_of_a_push_get_pipelines(instance: Instance, make: Make, tmp_path: Path) -> None:
    project = make_project(make)
    folder = Tree(tmp_path)
    folder.git("init", "-q", "-b", "main")
    folder.commit(".gitlab-ci.yml", FILE)
    branches = [f"main:refs/heads/b{number}" for number in range(30)]
    folder.git("push", "-q", over_http(instance, project, make.root), *branches)
    assert len(list_pipelines(make, project)) == 4
    deleted = make.api.delete(f"{project.url}/repository/branches/b3", make.root)
    assert deleted.is_success
    assert len(list_pipelines(make, project)) == 4


def test_newer_pushes_cancel_redundant_pipelines(api: Api, make: Make) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": FILE})
    commit_files(make, project, {"a": "1"})
    assert [pipeline["status"] for pipeline in list_pipelines(make, project)] == ["pending", "canceled"]
    project_runner(make, project.id).must_take()
    commit_files(make, project, {"b": "1"})
    assert [pipeline["status"] for pipeline in list_pipelines(make, project)] == ["pending", "running", "canceled"]
    commit_files(make, project, {"c": "1"}, branch="other", start_branch="main")
    assert [pipeline["status"] for pipeline in list_pipelines(make, project)][1] == "pending"


@pytest.mark.parametrize(
    ("text", "statuses"),
    [
        ("workflow: {auto_cancel: {on_new_commit: none}}\nbuild: {script: make}\n", {"running", "pending"}),
        (
            "workflow: {auto_cancel: {on_new_commit: interruptible}}\nbuild: {script: make, interruptible: true}\n"
            "test: {script: make}\n",
            {"canceled", "pending", "running"},
        ),
        ("build: {script: make, interruptible: true}\n", {"canceled", "pending"}),
    ],
)
def test_auto_cancel_settings(make: Make, text: str, statuses: set[str]) -> None:
    project = make_project(make)
    commit_files(make, project, {".gitlab-ci.yml": text})
    runner = project_runner(make, project.id)
    runner.info["features"] = {}
    job = runner.must_take()
    commit_files(make, project, {"a": "1"})
    (_, older) = list_pipelines(make, project)
    listed = make.api.get(f"{project.url}/pipelines/{older['id']}/jobs", make.root).json()
    found = {each["status"] for each in listed} | {list_pipelines(make, project)[0]["status"]}
    assert found <= statuses
    taken = next(each for each in listed if each["id"] == job.id)
    assert taken["status"] == ("running" if "none" in text else "canceled")


def test_a_pipeline_is_created_once_after_a_crash(
    instance: Instance, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fault: the process ends after the push was recorded; its job creates the pipeline, and only one."""
    project = make_project(make)
    payloads: list[Any] = []
    created = PipelineCreation._create

    def crash(self: PipelineCreation, database: Any, triggers: Any, job_id: int | None) -> None:
        payloads.append(triggers)
        raise MemoryError

    monkeypatch.setattr(PipelineCreation, "_create", crash)
    commit_files(make, project, {".gitlab-ci.yml": FILE})
    assert list_pipelines(make, project) == []
    monkeypatch.setattr(PipelineCreation, "_create", created)
    monkeypatch.setattr(jobs, "JOB_DELAY_SECONDS", 0)
    creation = PipelineCreation(repository_store(instance.settings))
    for _ in range(2):
        creation._create(make.database, payloads[0], None)
    assert len(list_pipelines(make, project)) == 1


def test_the_commit_stays_fetchable(api: Api, instance: Instance, make: Make, tmp_path: Path) -> None:
    """A forced push or a deleted branch between creation and run does not break the clone."""
    project = make_project(make)
    remote = over_http(instance, project, make.root)
    commit_files(make, project, {"README": "text"})
    sha = commit_files(make, project, {".gitlab-ci.yml": FILE}, branch="gone", start_branch="main")
    (pipeline,) = list_pipelines(make, project)
    assert api.delete(f"{project.url}/repository/branches/gone", make.root).is_success
    folder = Tree(tmp_path)
    folder.git("init", "-q")
    name = f"refs/pipelines/{pipeline['id']}"
    folder.git("fetch", "-q", "--depth", "20", remote, f"+{name}:{name}")
    assert folder.git("rev-parse", name) == sha
    assert "refs/pipelines" not in folder.git("ls-remote", "--heads", "--tags", remote)
    refused = folder.git("push", remote, f"{sha}:refs/pipelines/1", fails=True)
    assert "refs/pipelines" in refused
    job = project_runner(make, project.id).must_take()
    assert f"+{name}:{name}" in job.payload["git_info"]["refspecs"]
    assert api.delete(f"{project.url}/pipelines/{pipeline['id']}", make.root).status_code == 204
    instance.work()
    assert name not in folder.git("ls-remote", remote)
