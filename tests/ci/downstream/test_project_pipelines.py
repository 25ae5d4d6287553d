"""Pipelines of other projects that jobs start: permissions, branches, variables and loops."""

from typing import Any

import pytest

from ingot.core.access.levels import Level
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, changed_settings, make_project

TARGET_FILE = "unit: {script: test}\n"


def _configure(make: Make, project: Project, text: str, user: User | None = None) -> None:
    commit_files(make, project, {".gitlab-ci.yml": text}, user=user)


def _target(make: Make, **attributes: Any) -> Project:
    project = make_project(make, jobs_enabled=False, **attributes)
    _configure(make, project, TARGET_FILE)
    assert make.api.put(project.url, make.root, jobs_enabled=True).status_code == 200
    return project


def _newest_bridge(make: Make, project: Project, user: User | None = None) -> dict[str, Any]:
    (newest, *_) = list_pipelines(make, project)
    (bridge,) = make.api.get(f"{project.url}/pipelines/{newest['id']}/bridges", user or make.root).json()
    shown: dict[str, Any] = bridge
    return shown


def test_pipeline_of_another_project(make: Make, instance: Instance) -> None:
    target, project = _target(make), make_project(make)
    commit_files(make, target, {"new": "text"}, branch="topic", start_branch="main", message="[ci skip]")
    variables = [("PLAIN", "open-value", False), ("GUARDED", "secret-value", True)]
    for key, value, protected in variables:
        sent = {"key": key, "value": value, "protected": protected}
        assert make.api.post(f"{project.url}/variables", make.root, **sent).status_code == 201
    file = f"""
variables: {{TOPIC: topic}}
start:
  trigger: {{project: {target.path}, branch: $TOPIC, strategy: depend}}
  variables: {{A: "a $PLAIN", B: "b $GUARDED"}}
"""
    _configure(make, project, file)
    instance.work()
    bridge = _newest_bridge(make, project)
    assert bridge["status"] == "running"
    downstream = bridge["downstream_pipeline"]
    assert (downstream["source"], downstream["ref"], downstream["project_id"]) == ("pipeline", "topic", target.id)
    assert downstream["id"] in [each["id"] for each in list_pipelines(make, target)]
    job = project_runner(make, target.id).must_take()
    assert job.variables["CI_PIPELINE_SOURCE"] == "pipeline"
    # Protected variables stay in their project, also if the branch is protected.
    assert (job.variables["A"], "secret-value" in job.variables["B"]) == ("a open-value", False)
    assert job.finish("failed").status_code == 200
    instance.work()
    assert _newest_bridge(make, project)["status"] == "failed"


@pytest.mark.parametrize(
    ("level", "branch", "reason"),
    [
        (None, "main", "downstream_bridge_project_not_found"),
        (Level.REPORTER, "main", "insufficient_bridge_permissions"),
        (Level.DEVELOPER, "main", "insufficient_bridge_permissions"),
        (Level.DEVELOPER, "missing", "downstream_pipeline_creation_failed"),
        (Level.MASTER, "main", None),
    ],
)
def test_user_of_the_pipeline_needs_permission_in_the_other_project(
    make: Make, instance: Instance, level: Level | None, branch: str, reason: str | None
) -> None:
    target, user = _target(make), make.user()
    assert make.api.post(f"{target.url}/protected_branches", make.root, name="main").status_code in (201, 409)
    if level is not None:
        make.api.post(f"{target.url}/members", make.root, user_id=user.id, access_level=int(level))
    other = make.user()
    project = make_project(make, members={user: int(Level.MASTER), other: int(Level.DEVELOPER)})
    _configure(make, project, f"start: {{trigger: {{project: {target.path}, branch: {branch}}}}}\n", user)
    instance.work()
    bridge = _newest_bridge(make, project)
    assert (bridge["status"], bridge.get("failure_reason")) == ("failed" if reason else "success", reason)
    assert len(list_pipelines(make, target)) == (0 if reason else 1)
    # Members of the project who may not see the other one do not learn about its pipeline.
    shown = _newest_bridge(make, project, other)
    assert shown["downstream_pipeline"] is None


def test_job_cannot_start_a_pipeline_of_its_own_project(make: Make, instance: Instance) -> None:
    project = make_project(make)
    _configure(make, project, f"start: {{trigger: {project.path}}}\n")
    instance.work()
    assert _newest_bridge(make, project)["failure_reason"] == "invalid_bridge_trigger"


def test_loop_of_projects_ends(make: Make, instance: Instance) -> None:
    first, second = make_project(make), make_project(make)
    _configure(
        make, second, f"back: {{trigger: {first.path}, rules: [{{if: '$CI_PIPELINE_SOURCE == \"pipeline\"'}}]}}\n"
    )
    _configure(make, first, f"forth: {{trigger: {second.path}}}\n")
    instance.work()
    count = len(list_pipelines(make, first)) + len(list_pipelines(make, second))
    assert count <= 8
    reasons = [
        bridge.get("failure_reason")
        for project in (first, second)
        for each in list_pipelines(make, project)
        for bridge in make.api.get(f"{project.url}/pipelines/{each['id']}/bridges", make.root).json()
    ]
    assert reasons.count("pipeline_loop_detected") == 1


def test_inputs_of_the_other_project(make: Make, instance: Instance) -> None:
    target, project = make_project(make), make_project(make)
    text = """
spec: {inputs: {word: {default: none}}}
---
unit: {script: "echo $[[ inputs.word ]]", rules: [{if: '$CI_PIPELINE_SOURCE == "pipeline"'}]}
"""
    _configure(make, target, text)
    _configure(make, project, f"start: {{trigger: {{project: {target.path}, inputs: {{word: given}}}}}}\n")
    instance.work()
    assert project_runner(make, target.id).must_take().payload["steps"][0]["script"] == ["echo given"]


def test_archived_project_gets_no_pipeline(api: Api, make: Make, instance: Instance) -> None:
    target, project = _target(make), make_project(make)
    assert api.post(f"{target.url}/archive", make.root).status_code == 201
    _configure(make, project, f"start: {{trigger: {target.path}}}\n")
    instance.work()
    assert _newest_bridge(make, project)["failure_reason"] == "insufficient_bridge_permissions"


def test_deleted_pipelines_and_projects_end_waiting_jobs(api: Api, make: Make, instance: Instance) -> None:
    target, project = _target(make), make_project(make)
    _configure(make, project, f"start: {{trigger: {{project: {target.path}, strategy: depend}}}}\n")
    instance.work()
    bridge = _newest_bridge(make, project)
    assert bridge["status"] == "running"
    assert api.delete(f"{target.url}/pipelines/{bridge['downstream_pipeline']['id']}", make.root).status_code == 204
    assert _newest_bridge(make, project)["status"] == "failed"
    assert api.post(f"{project.url}/jobs/{bridge['id']}/retry", make.root).status_code == 201
    instance.work()
    assert _newest_bridge(make, project)["status"] == "running"
    assert api.delete(target.url, make.root).is_success
    instance.work()
    assert _newest_bridge(make, project)["status"] == "failed"


def test_messages_show_neither_masked_values_nor_files_of_the_other_project(
    api: Api, make: Make, instance: Instance
) -> None:
    """Attack: a name of a project that contains a masked variable, and an invalid configuration elsewhere."""
    target, project = make_project(make, visibility="private"), make_project(make)
    _configure(make, target, "include: secret-file.yml\n")
    secret = {"key": "HIDDEN", "value": "hidden-value-1", "masked": True}
    assert api.post(f"{project.url}/variables", make.root, **secret).status_code == 201
    file = f"one: {{trigger: $HIDDEN}}\ntwo: {{trigger: {target.path}}}\n"
    _configure(make, project, file)
    instance.work()
    (pipeline, *_) = list_pipelines(make, project)
    shown = api.get(f"{project.url}/repository/commits/{pipeline['sha']}/statuses", make.root)
    assert {each["status"] for each in shown.json()} == {"failed"}
    assert "hidden-value" not in shown.text and "secret-file" not in shown.text


def test_downstream_pipelines_of_a_commit_are_limited(make: Make, instance: Instance) -> None:
    target, project = _target(make), make_project(make)
    trigger = f"{{trigger: {{project: {target.path}}}}}"
    with changed_settings(make, downstream_pipeline_trigger_limit_per_project_user_sha=2):
        _configure(make, project, "".join(f"start-{number}: {trigger}\n" for number in range(3)))
        instance.work()
    (newest, *_) = list_pipelines(make, project)
    bridges = make.api.get(f"{project.url}/pipelines/{newest['id']}/bridges", make.root).json()
    refused = [bridge for bridge in bridges if bridge["downstream_pipeline"] is None]
    assert [bridge["failure_reason"] for bridge in refused] == ["downstream_pipeline_creation_failed"]
    assert len([each for each in list_pipelines(make, target) if each["source"] == "pipeline"]) == 2
