"""Resource groups: which of the waiting jobs is next, and who may change the order."""

from ingot.core.access.levels import Level
from tests.ci.pipelines.files import list_pipelines
from tests.ci.runner_client import project_runner
from tests.ci.runner_protocol.projects import ci_project, commit_config
from tests.client import Api, Make
from tests.factories import add_members


def test_order_of_a_resource_group(api: Api, make: Make) -> None:
    config = {"deploy": {"script": "true", "resource_group": "sites/$CI_COMMIT_BRANCH"}}
    project = ci_project(make, config, auto_cancel_pending_pipelines="disabled")
    commit_config(make, project, {**config, "variables": {"A": "2"}}, action="update")
    commit_config(make, project, {**config, "variables": {"A": "3"}}, action="update")
    reporter, developer = make.user(), make.user()
    add_members(make, project, {reporter: Level.REPORTER, developer: Level.DEVELOPER})
    (group,) = api.get(f"{project.url}/resource_groups", developer).json()
    assert (group["key"], group["process_mode"]) == ("sites/master", "unordered")
    path = f"{project.url}/resource_groups/sites%2Fmaster"
    assert api.get(path, developer).json() == group
    assert api.get(path, reporter).status_code == 403
    assert api.put(path, reporter, process_mode="newest_first").status_code == 403
    assert api.get(f"{project.url}/resource_groups/other", developer).status_code == 404
    assert api.put(path, developer, process_mode="random").status_code == 400
    first, second, third = sorted(job["id"] for job in api.get(f"{project.url}/jobs", developer).json())
    assert [job["id"] for job in api.get(f"{path}/upcoming_jobs", developer).json()] == [second, third]
    assert api.put(path, developer, process_mode="newest_first").json()["process_mode"] == "newest_first"
    upcoming = api.get(f"{path}/upcoming_jobs", developer).json()
    assert [(job["id"], job["status"]) for job in upcoming] == [
        (third, "waiting_for_resource"),
        (second, "waiting_for_resource"),
    ]
    runner = project_runner(make, project.id)
    order = []
    while (job := runner.take()) is not None:
        order.append(job.id)
        assert runner.take() is None
        job.finish()
    assert order == [first, third, second]


def test_names_that_are_too_long(api: Api, make: Make) -> None:
    """The values of variables make the names longer than the database can index."""
    config = {"variables": {"LONG": "x" * 256}, "job": {"script": "true"}}
    for keyword, value, problem in (
        ("resource_group", "$LONG", "job job: the resource group is too long (maximum is 255 characters)"),
        ("tags", [f"{number}$LONG" for number in range(9)], "job job: the tags are too long (maximum is 2000 bytes)"),
    ):
        project = ci_project(make, {**config, "job": {"script": "true", keyword: value}})
        (pipeline,) = list_pipelines(make, project)
        details = api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
        assert (details["status"], details["yaml_errors"]) == ("failed", problem)
