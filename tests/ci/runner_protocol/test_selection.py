"""Choice of the next job for a runner."""

from collections import Counter
from typing import Any

import pytest

from ingot.ci.pipelines.tables import ci_settings
from ingot.core.db.connection import Connection
from tests.ci.pipelines.files import commit_files
from tests.ci.runner_client import RunnerClient, make_runner, project_runner
from tests.ci.runner_protocol.projects import ci_project, commit_config, jobs_config
from tests.client import Api, Make
from tests.factories import make_group, make_project


def _names(runner: RunnerClient) -> list[str]:
    return sorted(runner.run_all())


@pytest.mark.parametrize(
    ("attributes", "names"),
    [
        ({}, ["plain"]),
        ({"tag_list": ["linux", "docker"]}, ["both", "linux", "plain"]),
        ({"tag_list": ["linux"], "run_untagged": False}, ["linux"]),
        ({"tag_list": ["Linux", "other"]}, ["plain"]),
    ],
)
def test_tags(make: Make, attributes: dict[str, Any], names: list[str]) -> None:
    config = {
        "plain": {"script": "true"},
        "linux": {"script": "true", "tags": ["linux"]},
        "both": {"script": "true", "tags": ["linux", "docker"]},
    }
    project = ci_project(make, config)
    assert _names(project_runner(make, project.id, **attributes)) == names


def test_protected_runners_take_only_jobs_of_protected_branches(make: Make) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id, access_level="ref_protected")
    assert _names(runner) == ["job"]
    commit_config(make, project, {"topic": {"script": "x"}}, branch="topic", start_branch="master", action="update")
    assert runner.take() is None
    assert _names(project_runner(make, project.id)) == ["topic"]


def test_a_paused_runner_gets_no_job(make: Make, api: Api) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id, paused=True)
    answer = runner.poll()
    assert (answer.status_code, answer.content) == (204, b"")
    runner.last_update = answer.headers["x-gitlab-last-update"]
    assert api.put(f"/runners/{runner.id}", make.root, paused=False).status_code == 200
    assert runner.must_take().name == "job"


def test_runners_of_the_instance_take_jobs_of_projects_that_allow_it(make: Make, api: Api) -> None:
    tag = make.name("tag")
    project = ci_project(make, {"job": {"script": "true", "tags": [tag]}})
    runner = make_runner(make, tag_list=[tag], run_untagged=False)
    assert runner.take() is None
    assert api.put(project.url, make.root, shared_runners_enabled=True).status_code == 200
    assert runner.must_take().payload["job_info"]["project_jobs_running_on_instance_runners_count"] == "1"


def test_runners_of_a_group_take_jobs_below_it(make: Make) -> None:
    group = make_group(make)
    below = make_group(make, parent=group)
    project = make_project(make, make.root, group=below, shared_runners_enabled=False)
    commit_config(make, project, {"inside": {"script": "true"}})
    ci_project(make, {"outside": {"script": "true"}})
    runner = make_runner(make, runner_type="group_type", group_id=group.id)
    assert _names(runner) == ["inside"]

    def disable(db: Connection) -> None:
        db.insert(ci_settings, project_id=project.id, group_runners_enabled=False)

    make.database.write(disable)
    commit_files(make, project, {"x": "1"}, branch="master")
    assert runner.take() is None


def test_runners_of_a_project_take_only_its_jobs(make: Make, api: Api) -> None:
    project, other = ci_project(make, {"own": {"script": "true"}}), ci_project(make, {"other": {"script": "true"}})
    runner = project_runner(make, project.id)
    assert _names(runner) == ["own"]
    assert api.post(f"{other.url}/runners", make.root, runner_id=runner.id).status_code == 201
    assert _names(runner) == ["other"]


def test_runners_of_the_instance_serve_projects_in_turn(make: Make, api: Api) -> None:
    """The project for which the fewest jobs run comes first, then the oldest job."""
    tag = make.name("tag")
    many = ci_project(make, jobs_config(4, tags=[tag]))
    few = ci_project(make, jobs_config(2, tags=[tag]))
    for project in (many, few):
        assert api.put(project.url, make.root, shared_runners_enabled=True).status_code == 200
    runner = make_runner(make, tag_list=[tag], run_untagged=False)
    taken = [runner.must_take().payload["job_info"]["project_id"] for _ in range(6)]
    assert taken == [many.id, few.id, many.id, few.id, many.id, many.id]


def test_the_oldest_job_is_taken_first(make: Make) -> None:
    project = ci_project(make, jobs_config(5))
    assert project_runner(make, project.id).run_all() == [f"job-{number}" for number in range(5)]


def test_jobs_of_projects_without_pipelines_stay_in_the_queue(make: Make, api: Api) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id)
    assert api.put(project.url, make.root, jobs_enabled=False).status_code == 200
    assert runner.take() is None
    assert api.put(project.url, make.root, jobs_enabled=True).status_code == 200
    assert runner.must_take().name == "job"


def test_jobs_of_archived_projects_stay_in_the_queue(make: Make, api: Api) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id)
    assert api.post(f"{project.url}/archive", make.root).status_code == 201
    assert runner.take() is None
    assert api.post(f"{project.url}/unarchive", make.root).status_code == 201
    assert runner.must_take().name == "job"


def test_jobs_of_a_blocked_user_fail(make: Make, api: Api) -> None:
    user = make.user()
    project = make_project(make, user, shared_runners_enabled=False)
    commit_files(make, project, {".gitlab-ci.yml": '{"job": {"script": "x"}}'}, branch="master", user=user)
    runner = project_runner(make, project.id)
    assert api.post(f"/users/{user.id}/block", make.root).status_code == 201
    assert runner.take() is None
    statuses = Counter(job["failure_reason"] for job in api.get(f"{project.url}/jobs", make.root).json())
    assert statuses == {"user_blocked": 1}


def test_erased_artifacts_fail_jobs_that_depend_on_them(make: Make, api: Api) -> None:
    config = {
        "stages": ["build", "test"],
        "build": {"stage": "build", "script": "x", "artifacts": {"paths": ["a"]}},
        "use": {"stage": "test", "script": "x", "dependencies": ["build"], "when": "manual"},
    }
    project = ci_project(make, config)
    runner = project_runner(make, project.id)
    build = runner.must_take()
    assert build.upload({"a": b"1"}).status_code == 201
    build.finish()
    jobs = {job["name"]: job for job in api.get(f"{project.url}/jobs", make.root).json()}
    assert api.post(f"{project.url}/jobs/{build.id}/erase", make.root).status_code == 201
    assert api.post(f"{project.url}/jobs/{jobs['use']['id']}/play", make.root).status_code == 200
    assert runner.take() is None
    assert api.get(f"{project.url}/jobs/{jobs['use']['id']}", make.root).json()["status"] == "failed"
