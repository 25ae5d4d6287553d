"""Enforcement of protected environments: jobs, deployments and environments."""

from typing import Any

import pytest

from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Api, Make, User
from tests.factories import Project, add_members, make_group, make_project, share
from tests.roles import UsersByRole, project_with

FILE = """
stages: [build, deploy, after]
build: {stage: build, script: build}
deploy:
  stage: deploy
  script: deploy
  environment: {name: production, on_stop: stop}
check: {stage: after, script: check}
stop:
  stage: deploy
  script: stop
  when: manual
  environment: {name: production, action: stop}
"""
MANUAL = """
deploy:
  script: deploy
  when: manual
  environment: production
"""


@pytest.fixture
def project(make: Make, roles: UsersByRole) -> Project:
    """Return a private project with one member of each role, whose branches all developers may push to."""
    project = project_with(make, roles)
    commit_files(make, project, {"README": "text"})
    api_delete = make.api.delete(f"{project.url}/protected_branches/main", make.root)
    assert api_delete.is_success, api_delete.text
    return project


def _protect(make: Make, url: str, *entries: dict[str, Any], name: str = "production") -> None:
    made = make.api.post(f"{url}/protected_environments", make.root, name=name, deploy_access_levels=list(entries))
    assert made.status_code == 201, made.text


def _jobs(make: Make, project: Project) -> dict[str, dict[str, Any]]:
    (newest, *_) = make.api.get(f"{project.url}/pipelines", make.root).json()
    listed = make.api.get(f"{project.url}/pipelines/{newest['id']}/jobs", make.root).json()
    return {job["name"]: job for job in listed}


def _states(make: Make, project: Project) -> dict[str, str]:
    return {name: job.get("failure_reason") or job["status"] for name, job in _jobs(make, project).items()}


def _act(api: Api, project: Project, user: User, action: str, job: dict[str, Any]) -> int:
    return api.post(f"{project.url}/jobs/{job['id']}/{action}", user).status_code


def test_a_job_fails_when_its_turn_comes(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    _protect(make, project.url, {"access_level": 40})
    commit_files(make, project, {".gitlab-ci.yml": FILE}, user=roles.developer)
    runner = project_runner(make, project.id)
    assert runner.run_all() == ["build"]
    failed = {"build": "success", "deploy": "protected_environment_failure", "check": "skipped", "stop": "manual"}
    assert _states(make, project) == failed
    (pipeline, *_) = api.get(f"{project.url}/pipelines", make.root).json()
    assert pipeline["status"] == "failed"
    assert api.get(f"{project.url}/deployments", make.root).json() == []
    jobs = _jobs(make, project)
    assert _act(api, project, roles.developer, "retry", jobs["deploy"]) == 403
    assert _act(api, project, roles.developer, "play", jobs["stop"]) == 403
    # The other failed jobs of a pipeline are retried, this one is not.
    assert api.post(f"{project.url}/pipelines/{pipeline['id']}/retry", roles.developer).status_code == 201
    assert runner.run_all() == []
    assert _states(make, project)["deploy"] == "protected_environment_failure"
    assert _act(api, project, roles.master, "retry", _jobs(make, project)["deploy"]) == 201
    assert runner.run_all() == ["deploy", "check"]


@pytest.mark.parametrize("other", ["unprotected", "developers"])
def test_developers_deploy_without_or_with_a_rule_for_them(
    api: Api, make: Make, roles: UsersByRole, project: Project, other: str
) -> None:
    if other == "developers":
        _protect(make, project.url, {"access_level": 30})
    commit_files(make, project, {".gitlab-ci.yml": FILE}, user=roles.developer)
    assert project_runner(make, project.id).run_all() == ["build", "deploy", "check"]


def test_an_entry_of_each_kind(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    commit_files(make, project, {".gitlab-ci.yml": MANUAL}, user=roles.developer)
    direct, inherited, above = make.user(), make.user(), make_group(make)
    group = make_group(make, parent_id=above.id)
    add_members(make, group, {direct: 20})
    add_members(make, above, {inherited: 20})
    share(make, project, group, 20)
    job = _jobs(make, project)["deploy"]

    def may_play(*entries: dict[str, Any]) -> set[str]:
        _protect(make, project.url, *entries)
        users = {**{role: roles[role] for role in ("owner", "master", "developer", "reporter", "guest")}}
        users |= {"direct": direct, "inherited": inherited, "administrator": make.root}
        allowed = set()
        for name, user in users.items():
            assert user is not None
            if _act(api, project, user, "play", _jobs(make, project)["deploy"]) == 200:
                allowed.add(name)
                started = _jobs(make, project)["deploy"]
                assert _act(api, project, make.root, "cancel", started) == 201
        assert api.delete(f"{project.url}/protected_environments/production", make.root).status_code == 204
        return allowed

    assert job["status"] == "manual"
    everywhere = {"administrator"}
    assert may_play({"access_level": 60}) == everywhere
    assert may_play({"access_level": 40}) == everywhere | {"owner", "master"}
    assert may_play({"access_level": 30}) == everywhere | {"owner", "master", "developer"}
    assert may_play({"user_id": roles.developer.id}) == everywhere | {"developer"}
    assert may_play({"group_id": group.id}) == everywhere | {"direct"}
    assert may_play({"group_id": group.id, "group_inheritance_type": 1}) == everywhere | {"direct", "inherited"}
    assert may_play({"access_level": 40}, {"user_id": roles.developer.id}) == everywhere | {
        "owner",
        "master",
        "developer",
    }


def test_deployment_only_access_needs_no_permission_on_the_branch(
    api: Api, make: Make, roles: UsersByRole, project: Project
) -> None:
    commit_files(make, project, {".gitlab-ci.yml": MANUAL}, user=roles.master)
    protected = api.post(f"{project.url}/protected_branches", make.root, name="main")
    assert protected.status_code == 201, protected.text
    job = _jobs(make, project)["deploy"]
    assert _act(api, project, roles.developer, "play", job) == 403
    _protect(make, project.url, {"user_id": roles.developer.id})
    assert _act(api, project, roles.developer, "cancel", job) == 403
    assert _act(api, project, roles.developer, "play", job) == 200
    runner = project_runner(make, project.id)
    assert runner.run_all() == ["deploy"]
    (deployment,) = api.get(f"{project.url}/deployments", make.root).json()
    assert (deployment["status"], deployment["user"]["id"]) == ("success", roles.developer.id)


def test_entries_of_former_members_do_not_count(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    group = make_group(make)
    member = make.user()
    add_members(make, group, {member: 30})
    share(make, project, group, 30)
    _protect(make, project.url, {"user_id": roles.developer.id}, {"group_id": group.id})
    commit_files(make, project, {".gitlab-ci.yml": MANUAL}, user=roles.master)
    job = _jobs(make, project)["deploy"]
    lowered = api.put(f"{project.url}/members/{roles.developer.id}", make.root, access_level=20)
    assert lowered.status_code == 200, lowered.text
    assert _act(api, project, roles.developer, "play", job) == 403
    assert api.delete(f"{project.url}/members/{roles.developer.id}", make.root).is_success
    assert _act(api, project, roles.developer, "play", job) == 404
    # Another way into the project does not make up for the end of the share.
    add_members(make, project, {member: 30})
    assert api.delete(f"{project.url}/share/{group.id}", make.root).status_code == 204
    assert _act(api, project, member, "play", job) == 403
    share(make, project, group, 30)
    assert _act(api, project, member, "play", job) == 200


def test_a_pending_job_whose_user_lost_the_permission_is_not_handed_out(
    api: Api, make: Make, roles: UsersByRole, project: Project
) -> None:
    commit_files(make, project, {".gitlab-ci.yml": MANUAL}, user=roles.developer)
    assert _act(api, project, roles.developer, "play", _jobs(make, project)["deploy"]) == 200
    assert _states(make, project) == {"deploy": "pending"}
    _protect(make, project.url, {"access_level": 40})
    assert project_runner(make, project.id).take() is None
    assert _states(make, project) == {"deploy": "protected_environment_failure"}


def test_schedules_and_triggers_run_as_their_owners(api: Api, make: Make, roles: UsersByRole, project: Project) -> None:
    _protect(make, project.url, {"access_level": 40})
    commit_files(make, project, {".gitlab-ci.yml": "deploy: {script: d, environment: production}"}, user=roles.master)
    for user, state in ((roles.developer, "protected_environment_failure"), (roles.master, "pending")):
        sent = {"description": "x", "ref": "main", "cron": "0 1 * * *"}
        schedule = api.post(f"{project.url}/pipeline_schedules", user, **sent).json()
        assert api.post(f"{project.url}/pipeline_schedules/{schedule['id']}/play", user).status_code == 201
        assert _states(make, project) == {"deploy": state}
    trigger = api.post(f"{project.url}/triggers", roles.master, description="x").json()
    assert api.post(f"{project.url}/trigger/pipeline", token=trigger["token"], ref="main").status_code == 201
    assert _states(make, project) == {"deploy": "pending"}


def test_the_api_of_environments_and_deployments_obeys(
    api: Api, make: Make, roles: UsersByRole, project: Project
) -> None:
    deployment = {"environment": "production", "sha": "a" * 40, "ref": "main", "tag": False, "status": "running"}
    made = api.post(f"{project.url}/deployments", roles.developer, **deployment)
    assert made.status_code == 201, made.text
    (environment,) = api.get(f"{project.url}/environments", make.root).json()
    url = f"{project.url}/environments/{environment['id']}"
    _protect(make, project.url, {"user_id": roles.developer.id})
    refused = api.post(f"{project.url}/deployments", roles.master, **deployment)
    assert refused.status_code == 403, refused.text
    running = f"{project.url}/deployments/{made.json()['id']}"
    assert api.put(running, roles.master, status="success").status_code == 403
    assert api.put(url, roles.master, external_url="https://a.example").status_code == 403
    assert api.delete(url, roles.master).status_code == 403
    assert api.post(f"{url}/stop", roles.master).status_code == 403
    assert api.post(f"{url}/stop", roles.reporter).status_code == 403
    assert api.put(running, roles.developer, status="success").status_code == 200
    stale = api.post(f"{project.url}/environments/stop_stale", roles.developer, before="2020-01-01T00:00:00Z")
    assert stale.status_code == 200, stale.text
    assert api.get(url, make.root).json()["auto_stop_at"] is None
    assert api.post(f"{url}/stop", roles.developer).json()["state"] == "stopped"
    assert api.delete(url, roles.developer).status_code == 403
    assert api.delete(f"{project.url}/environments/999999999", roles.master).status_code == 200
    assert api.post(f"{project.url}/environments/999999999/stop", roles.master).status_code == 404
    assert api.delete(url, make.root).status_code == 200


def test_a_deleted_branch_does_not_stop_a_protected_environment(
    api: Api, make: Make, roles: UsersByRole, project: Project
) -> None:
    commit_files(make, project, {".gitlab-ci.yml": FILE}, branch="feature", start_branch="main", user=roles.master)
    runner = project_runner(make, project.id)
    assert runner.run_all() == ["build", "deploy", "check"]
    _protect(make, project.url, {"access_level": 40})
    assert api.delete(f"{project.url}/repository/branches/feature", roles.developer).is_success
    assert runner.run_all() == []
    assert api.get(f"{project.url}/environments", make.root).json()[0]["state"] == "available"


def test_tiers_of_groups_protect_all_their_projects(api: Api, make: Make, roles: UsersByRole) -> None:
    above = make_group(make)
    group = make_group(make, parent_id=above.id)
    operators = make_group(make, parent_id=above.id)
    operator = make.user()
    add_members(make, operators, {operator: 20})
    add_members(make, above, {roles.master: 40})
    project = make_project(make, namespace_id=group.id)
    add_members(make, project, {roles.owner: 40})
    share(make, project, operators, 20)
    commit_files(make, project, {".gitlab-ci.yml": MANUAL.replace(": production", ": gprd")})
    job = _jobs(make, project)["deploy"]
    _protect(make, above.url, {"access_level": 40}, {"group_id": operators.id})
    # The owner of the project is no maintainer of the group.
    assert _act(api, project, roles.owner, "play", job) == 403
    (environment,) = api.get(f"{project.url}/environments", make.root).json()
    assert environment["tier"] == "production"
    edited = api.put(f"{project.url}/environments/{environment['id']}", roles.owner, tier="other")
    assert edited.status_code == 403, "or a tier would be no protection"
    assert _act(api, project, operator, "play", job) == 200
    assert _act(api, project, make.root, "cancel", job) == 201
    # Both rules must allow it.
    _protect(make, project.url, {"user_id": roles.owner.id}, name="gprd")
    for user in (roles.owner, roles.master, operator):
        assert _act(api, project, user, "play", _jobs(make, project)["deploy"]) == 403
    _protect(make, group.url, {"access_level": 30}, name="staging")
    assert api.delete(f"{above.url}/protected_environments/production", make.root).status_code == 204
    assert _act(api, project, roles.owner, "play", _jobs(make, project)["deploy"]) == 200


def test_a_transferred_project_leaves_the_rules_of_its_group(api: Api, make: Make, roles: UsersByRole) -> None:
    group, other = make_group(make), make_group(make)
    project = make_project(make, namespace_id=group.id)
    add_members(make, project, {roles.developer: 30})
    commit_files(make, project, {".gitlab-ci.yml": MANUAL})
    assert api.delete(f"{project.url}/protected_branches/main", make.root).is_success
    _protect(make, group.url, {"access_level": 40})
    job = _jobs(make, project)["deploy"]
    assert _act(api, project, roles.developer, "play", job) == 403
    assert api.put(f"{project.url}/transfer", make.root, namespace=other.id).status_code == 200
    assert _act(api, project, roles.developer, "play", job) == 200
