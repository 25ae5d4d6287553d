"""Settings of projects for CI."""

from typing import Any

import pytest

from ingot.ci.pipelines.old_pipelines import enqueue_pipeline_deletion
from ingot.core.access.levels import Level
from ingot.core.db.times import add_duration
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project

DEFAULTS = {
    "build_timeout": 3600,
    "build_coverage_regex": None,
    "build_git_strategy": "fetch",
    "ci_default_git_depth": 20,
    "auto_cancel_pending_pipelines": "enabled",
    "keep_latest_artifact": True,
    "group_runners_enabled": True,
}


def test_edit_settings(api: Api, make: Make) -> None:
    project, developer = make_project(make), make.user()
    api.post(f"{project.url}/members", make.root, user_id=developer.id, access_level=int(Level.DEVELOPER))
    shown = api.get(project.url, make.root).json()
    assert {name: shown[name] for name in DEFAULTS} == DEFAULTS
    assert "build_timeout" not in api.get(project.url, developer).json()
    changes = {
        "build_timeout": 7200,
        "build_coverage_regex": r"Total: (\d+)%",
        "build_git_strategy": "clone",
        "ci_default_git_depth": 5,
        "auto_cancel_pending_pipelines": "disabled",
        "keep_latest_artifact": False,
        "group_runners_enabled": False,
    }
    for name, value in changes.items():
        assert api.put(project.url, make.root, **{name: value}).json()[name] == value
    shown = api.get(project.url, make.root).json()
    assert {name: shown[name] for name in changes} == changes
    assert api.put(project.url, developer, build_timeout=600).status_code == 403


@pytest.mark.parametrize(
    "sent",
    [{"build_timeout": 1}, {"build_timeout": 10**9}, {"build_coverage_regex": "("}, {"ci_default_git_depth": -1}],
)
def test_invalid_settings(api: Api, make: Make, sent: dict[str, Any]) -> None:
    project = make_project(make)
    refused = api.put(project.url, make.root, **sent)
    assert (refused.status_code, refused.json()["message"].keys()) == (400, sent.keys())


def test_effect_of_settings(make: Make) -> None:
    project = make_project(make, auto_cancel_pending_pipelines="disabled", build_timeout=1200)
    commit_files(make, project, {".gitlab-ci.yml": "job: {script: make}\n"})
    commit_files(make, project, {"a": "1"})
    assert [pipeline["status"] for pipeline in list_pipelines(make, project)] == ["pending", "pending"]
    job = project_runner(make, project.id).must_take()
    assert job.payload["runner_info"]["timeout"] == 1200
    assert job.variables["CI_JOB_TIMEOUT"] == "1200"


def test_old_pipelines_are_deleted(api: Api, make: Make, instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    project, untouched = make_project(make), make_project(make)
    for each in (project, untouched):
        commit_files(make, each, {".gitlab-ci.yml": "test: {script: make, when: manual}"})
    for value in (86_399, 31_557_601, "soon"):
        assert api.put(project.url, make.root, ci_delete_pipelines_in_seconds=value).status_code == 400
    assert api.put(project.url, make.root, ci_delete_pipelines_in_seconds=172_800).status_code == 200
    database = instance.app.database
    clock = database.clock
    for days, left in ((1, 1), (3, 0)):
        with monkeypatch.context() as patch:
            patch.setattr(database, "clock", lambda days=days: add_duration(clock(), days=days))
            database.write(enqueue_pipeline_deletion)
            instance.work()
        assert len(list_pipelines(make, project)) == left
    assert len(list_pipelines(make, untouched)) == 1
