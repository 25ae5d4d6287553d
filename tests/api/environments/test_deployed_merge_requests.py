"""Merge requests that a deployment has brought to its environment first."""

from typing import Any

import pytest

from ingot.collaboration.merge_requests.deployments.jobs import RECORD_DEPLOYED_MERGE_REQUESTS, DeploymentRecorder
from ingot.core.jobs.tables import jobs
from ingot.projects.projects.api import repository_store
from tests.api.merge_requests.factories import filled_project, make_merge_request
from tests.api.merging.merge_calls import merged, tip
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import project_runner
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import Project, statements_of
from tests.roles import UsersByRole


def _deploy(make: Make, project: Project, environment: str = "live", **sent: Any) -> int:
    """Report a deployment of the tip of the default branch and return its id."""
    sent = {"sha": tip(make.api, project, make.root)["id"], "ref": "master", "tag": False, "status": "success", **sent}
    made = make.api.post(f"{project.url}/deployments", make.root, environment=environment, **sent)
    assert made.status_code == 201, made.text
    deployment_id: int = made.json()["id"]
    return deployment_id


def _merge(make: Make, project: Project, **sent: Any) -> int:
    merge_request = make_merge_request(make, project)
    iid: int = merged(make.api, project, merge_request, make.root, **sent)["iid"]
    return iid


def _iids(make: Make, project: Project, deployment_id: int, **filters: Any) -> list[int]:
    listed = make.api.get(f"{project.url}/deployments/{deployment_id}/merge_requests", make.root, **filters)
    assert listed.status_code == 200, listed.text
    return sorted(each["iid"] for each in listed.json())


@pytest.mark.parametrize("method", ["merge", "rebase_merge", "ff"])
def test_a_deployment_lists_merge_requests_since_the_previous_one(api: Api, make: Make, method: str) -> None:
    project = filled_project(make, merge_method=method)
    before = tip(api, project, make.root)["id"]
    first = _merge(make, project)
    initial = _deploy(make, project)
    second, third = _merge(make, project), _merge(make, project, squash=True)
    make_merge_request(make, project)
    failed = _deploy(make, project, status="failed")
    running = _deploy(make, project, status="running")
    assert [_iids(make, project, each) for each in (initial, failed, running)] == [[first], [], []]
    assert api.put(f"{project.url}/deployments/{running}", make.root, status="success").status_code == 200
    assert _iids(make, project, running) == [second, third]
    assert _iids(make, project, running, state="opened") == []
    again, rollback = _deploy(make, project), _deploy(make, project, sha=before)
    fourth = _merge(make, project)
    last = _deploy(make, project)
    assert [_iids(make, project, each) for each in (again, rollback, last)] == [[], [], [fourth]]
    assert _iids(make, project, _deploy(make, project, "staging")) == [first, second, third, fourth]
    assert _iids(make, project, _deploy(make, project, "review/a")) == []
    unknown = _deploy(make, project, sha="0123456789abcdef0123456789abcdef01234567")
    assert _iids(make, project, unknown) == []


def test_a_job_deploys_merge_requests(api: Api, make: Make) -> None:
    project = filled_project(make)
    file = "deploy: {script: x, environment: live, only: [master]}"
    commit_files(make, project, {".gitlab-ci.yml": file}, branch="master")
    runner = project_runner(make, project.id)
    assert runner.run_all() == ["deploy"]
    iid = _merge(make, project)
    assert runner.run_all() == ["deploy"]
    deployments = api.get(f"{project.url}/deployments", make.root).json()
    assert [_iids(make, project, each["id"]) for each in deployments] == [[], [iid]]


def test_recording_can_be_repeated_and_leaves_no_job(instance: Instance, make: Make) -> None:
    project = filled_project(make)
    iid = _merge(make, project)
    deployment_id = _deploy(make, project)
    database = instance.app.database
    waiting = database.read(lambda db: [kind for (kind,) in db.rows(jobs.select().with_only_columns(jobs.c.kind))])
    assert RECORD_DEPLOYED_MERGE_REQUESTS not in waiting
    recorder = DeploymentRecorder(repository_store(instance.settings))
    for _ in range(2):
        recorder.run(database, {"deployment_id": deployment_id})
    recorder.run(database, {"deployment_id": 2**40})
    assert _iids(make, project, deployment_id) == [iid]


def test_callers_see_the_merge_requests_that_they_may_read(api: Api, make: Make, roles: UsersByRole) -> None:
    project = filled_project(make, members=roles.members, visibility="private")
    iid = _merge(make, project)
    where = f"{project.url}/deployments/{_deploy(make, project)}/merge_requests"
    expected = {"administrator": 200, "reporter": 200, "guest": 403, "stranger": 404, "nobody": 401}
    for role, status in expected.items():
        listed = api.get(where, roles[role])
        assert listed.status_code == status, role
        assert status != 200 or [each["iid"] for each in listed.json()] == [iid]
    assert api.get(f"{project.url}/deployments/999999999/merge_requests", make.root).status_code == 404
    assert api.put(project.url, make.root, merge_requests_enabled=False).status_code == 200
    assert api.get(where, roles.reporter).json() == []


def test_long_pages_need_no_more_statements(api: Api, make: Make) -> None:
    project = filled_project(make)
    for _ in range(3):
        _merge(make, project)
    where = f"{project.url}/deployments/{_deploy(make, project)}/merge_requests"

    def cost(per_page: int) -> int:
        return statements_of(make, lambda: api.get(where, make.root, per_page=per_page))

    assert cost(3) == cost(1)
