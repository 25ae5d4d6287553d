"""Endpoints of pipeline schedules, and their runs."""

import threading
from functools import partial
from typing import Any

import pytest

from ingot.ci.pipelines.queries import variables_of_pipeline
from ingot.ci.schedules.jobs import ScheduleJobs, enqueue_overdue_schedules, run_schedule
from ingot.ci.schedules.tables import pipeline_schedules
from ingot.core.access.levels import Level
from ingot.projects.projects.api import repository_store
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project, statements_of

CI_FILE = "job:\n  script: [echo hello]\n"
DUE = "2020-01-01T00:00:00.000Z"


@pytest.fixture
def project(make: Make) -> Project:
    """Return a project with a CI file."""
    project = make_project(make, default_branch="main")
    commit_files(make, project, {".gitlab-ci.yml": CI_FILE})
    return project


def _create(make: Make, project: Project, user: User | None = None, **changes: Any) -> dict[str, Any]:
    sent = {"description": "Nightly", "ref": "main", "cron": "0 3 * * *", "cron_timezone": "Berlin", **changes}
    made = make.api.post(f"{project.url}/pipeline_schedules", user or make.root, **sent)
    assert made.status_code == 201, made.text
    schedule: dict[str, Any] = made.json()
    return schedule


def _scheduled(make: Make, project: Project) -> list[dict[str, Any]]:
    return [pipeline for pipeline in list_pipelines(make, project) if pipeline["source"] == "schedule"]


def _make_due(make: Make, schedule: dict[str, Any]) -> None:
    make.database.write(lambda db: db.update(pipeline_schedules, schedule["id"], next_run_at=DUE))


def _get(make: Make, project: Project, schedule: dict[str, Any]) -> dict[str, Any]:
    shown = make.api.get(f"{project.url}/pipeline_schedules/{schedule['id']}", make.root)
    assert shown.status_code == 200
    body: dict[str, Any] = shown.json()
    return body


def test_a_schedule_is_created_edited_and_deleted(make: Make, project: Project) -> None:
    """The next run follows from the expression and the time zone, also while the schedule is not active."""
    schedule = _create(make, project)
    url = f"{project.url}/pipeline_schedules/{schedule['id']}"
    assert schedule["cron"] == "0 3 * * *" and schedule["cron_timezone"] == "Berlin"
    assert schedule["active"] and schedule["owner"]["username"] == "root" and schedule["last_pipeline"] is None
    assert schedule["next_run_at"][10:] in ("T01:00:00.000Z", "T02:00:00.000Z")
    edited = make.api.put(url, make.root, cron="30 4 * * *", cron_timezone="UTC").json()
    assert edited["next_run_at"].endswith("T04:30:00.000Z")
    edited = make.api.put(url, make.root, active=False).json()
    assert edited["next_run_at"].endswith("T04:30:00.000Z") and edited["active"] is False
    edited = make.api.put(url, make.root, cron="45 5 * * *").json()
    assert edited["next_run_at"].endswith("T05:45:00.000Z") and edited["active"] is False
    other = _create(make, project)
    lists = {
        scope: [
            item["id"] for item in make.api.get(f"{project.url}/pipeline_schedules", make.root, **scope_filter).json()
        ]
        for scope, scope_filter in {"all": {}, "active": {"scope": "active"}, "inactive": {"scope": "inactive"}}.items()
    }
    assert lists == {
        "all": [other["id"], schedule["id"]],
        "active": [other["id"]],
        "inactive": [schedule["id"]],
    }
    for _ in range(2):
        assert make.api.delete(url, make.root).status_code == 200
    assert make.api.get(url, make.root).status_code == 404
    assert make.api.put(url, make.root, active=False).status_code == 404


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"cron": "invalid-cron"}, "cron", " is invalid syntax"),
        ({"cron_timezone": "Mars"}, "cron_timezone", " is invalid syntax"),
        ({"description": " "}, "description", "can't be blank"),
        ({"ref": ""}, "ref", "can't be blank"),
        ({"description": "x" * 256}, "description", "is too long (maximum is 255 characters)"),
    ],
)
def test_invalid_schedules_are_refused(
    make: Make, project: Project, changes: dict[str, str], field: str, message: str
) -> None:
    """On creation and on edits, with the error of each field."""
    schedule = _create(make, project)
    sent = {"description": "Nightly", "ref": "main", "cron": "0 3 * * *", **changes}
    for refused in (
        make.api.post(f"{project.url}/pipeline_schedules", make.root, **sent),
        make.api.put(f"{project.url}/pipeline_schedules/{schedule['id']}", make.root, **changes),
    ):
        assert refused.status_code == 400
        assert refused.json() == {"message": {field: [message]}}


def test_permissions_on_schedules(make: Make, project: Project) -> None:
    """Reporters read, developers create, only owners edit, and maintainers delete and take over; others see nothing."""
    make.api.delete(f"{project.url}/protected_branches/main", make.root)
    users = {level: make.user() for level in (Level.REPORTER, Level.DEVELOPER, Level.MASTER)}
    for level, user in users.items():
        make.api.post(f"{project.url}/members", make.root, user_id=user.id, access_level=int(level))
    stranger = make.user()
    developer, master = users[Level.DEVELOPER], users[Level.MASTER]
    own = _create(make, project, developer)
    roots = _create(make, project)
    base = f"{project.url}/pipeline_schedules"
    sent = {"description": "Nightly", "ref": "main", "cron": "0 3 * * *"}
    statuses = [
        (make.api.get(base, users[Level.REPORTER]).status_code, 200),
        (make.api.post(base, users[Level.REPORTER], **sent).status_code, 403),
        (make.api.get(base, stranger).status_code, 404),
        (make.api.get(base).status_code, 401),
        (make.api.put(f"{base}/{own['id']}", developer, description="Mine").status_code, 200),
        (make.api.put(f"{base}/{roots['id']}", developer, description="Mine").status_code, 403),
        (make.api.delete(f"{base}/{roots['id']}", developer).status_code, 403),
        (make.api.post(f"{project.url}/pipeline_schedules/{roots['id']}/take_ownership", developer).status_code, 403),
        (make.api.post(f"{base}/{roots['id']}/variables", developer, key="A", value="b").status_code, 403),
        (make.api.put(f"{base}/{own['id']}", master, description="Theirs").status_code, 403),
        (make.api.put(f"{base}/{own['id']}", make.root, ref="other").status_code, 403),
        (make.api.post(f"{base}/{own['id']}/variables", master, key="A", value="b").status_code, 403),
        (make.api.post(f"{base}/{own['id']}/variables", developer, key="A", value="b").status_code, 201),
        (make.api.put(f"{base}/{own['id']}/variables/A", master, value="c").status_code, 403),
        (make.api.delete(f"{base}/{own['id']}/variables/A", master).status_code, 403),
        (make.api.post(f"{base}/{own['id']}/take_ownership", master).status_code, 201),
        (make.api.put(f"{base}/{own['id']}", developer, description="Mine").status_code, 403),
        (make.api.delete(f"{base}/{own['id']}", master).status_code, 200),
    ]
    assert [answered for answered, _ in statuses] == [expected for _, expected in statuses]


def test_a_schedule_needs_permission_to_run_pipelines_on_its_ref(make: Make, project: Project) -> None:
    """Developers cannot plan runs on protected branches and tags, which would all be refused."""
    developer = make.user()
    make.api.post(f"{project.url}/members", make.root, user_id=developer.id, access_level=30)
    make.api.post(f"{project.url}/repository/branches", make.root, branch="open", ref="main")
    make.api.post(f"{project.url}/repository/tags", make.root, tag_name="v1", ref="main")
    make.api.post(f"{project.url}/protected_tags", make.root, name="v*")
    base = f"{project.url}/pipeline_schedules"
    sent = {"description": "Nightly", "cron": "0 3 * * *"}
    for ref in ("main", "refs/heads/main", "v1", "refs/tags/v1", "refs/tags/v2"):
        refused = make.api.post(base, developer, ref=ref, **sent)
        assert refused.status_code == 400, ref
        assert "protected branch or tag" in refused.json()["message"]["base"][0]
        assert make.api.post(base, make.root, ref=ref, **sent).status_code == 201, ref
    own = _create(make, project, developer, ref="open")
    assert make.api.put(f"{base}/{own['id']}", developer, ref="main").status_code == 400
    assert _get(make, project, own)["ref"] == "open"
    make.api.post(f"{project.url}/protected_branches", make.root, name="open")
    assert make.api.put(f"{base}/{own['id']}", developer, cron="0 4 * * *").status_code == 400
    assert make.api.delete(f"{base}/{own['id']}", developer).status_code == 200


def test_variables_of_a_schedule(make: Make, project: Project, instance: Instance) -> None:
    """They reach its pipelines; only users who may change the schedule see them."""
    schedule = _create(make, project)
    number = schedule["id"]
    url = f"{project.url}/pipeline_schedules/{number}"
    made = make.api.post(
        f"{project.url}/pipeline_schedules/{number}/variables",
        make.root,
        key="TARGET",
        value="one",
        variable_type="file",
    )
    assert (made.status_code, made.json()) == (
        201,
        {"key": "TARGET", "value": "one", "variable_type": "file", "raw": False},
    )
    assert (
        make.api.post(
            f"{project.url}/pipeline_schedules/{number}/variables", make.root, key="TARGET", value="two"
        ).status_code
        == 400
    )
    assert (
        make.api.post(
            f"{project.url}/pipeline_schedules/{number}/variables", make.root, key="A B", value="two"
        ).status_code
        == 400
    )
    edited = make.api.put(
        f"{project.url}/pipeline_schedules/{number}/variables/TARGET", make.root, value="two", variable_type="env_var"
    ).json()
    assert edited["value"] == "two"
    variable = f"{project.url}/pipeline_schedules/{number}/variables/TARGET"
    assert make.api.get(variable, make.root).json() == edited
    assert make.api.get(f"{project.url}/pipeline_schedules/{number}/variables/OTHER", make.root).status_code == 404
    reporter = make.user()
    make.api.post(f"{project.url}/members", make.root, user_id=reporter.id, access_level=20)
    assert "variables" not in make.api.get(url, reporter).json()
    assert make.api.get(variable, reporter).status_code == 403
    assert make.api.get(variable, make.user()).status_code == 404
    assert _get(make, project, schedule)["variables"] == [edited]
    assert make.api.post(f"{project.url}/pipeline_schedules/{number}/play", make.root).status_code == 201
    pipeline = _scheduled(make, project)[0]
    (given,) = make.database.read(lambda db: variables_of_pipeline(db, pipeline["id"]))
    assert (given.key, given.variable_type) == ("TARGET", "env_var")
    deleted = make.api.delete(f"{project.url}/pipeline_schedules/{number}/variables/TARGET", make.root)
    assert (deleted.status_code, deleted.json()) == (202, edited)
    again = make.api.delete(f"{project.url}/pipeline_schedules/{number}/variables/TARGET", make.root)
    assert (again.status_code, again.content) == (202, b"")
    assert (
        make.api.put(f"{project.url}/pipeline_schedules/{number}/variables/TARGET", make.root, value="x").status_code
        == 404
    )
    assert _get(make, project, schedule)["variables"] == []


def test_playing_a_schedule_creates_a_pipeline(make: Make, project: Project) -> None:
    """It belongs to the caller; protected branches are only for those who may update them."""
    schedule = _create(make, project)
    number = schedule["id"]
    url = f"{project.url}/pipeline_schedules/{number}"
    developer = make.user()
    make.api.post(f"{project.url}/members", make.root, user_id=developer.id, access_level=30)
    assert make.api.post(f"{project.url}/pipeline_schedules/{number}/play", developer).status_code == 403
    make.api.delete(f"{project.url}/protected_branches/main", make.root)
    played = make.api.post(f"{project.url}/pipeline_schedules/{number}/play", developer)
    assert (played.status_code, played.json()) == (201, {"message": "201 Created"})
    (pipeline,) = make.api.get(f"{url}/pipelines", make.root).json()
    assert (pipeline["source"], pipeline["ref"]) == ("schedule", "main")
    shown = make.api.get(f"{project.url}/pipelines/{pipeline['id']}", make.root).json()
    assert shown["user"]["id"] == developer.id
    assert _get(make, project, schedule)["last_pipeline"]["id"] == pipeline["id"]
    assert _get(make, project, schedule)["next_run_at"] == schedule["next_run_at"]
    runner = project_runner(make, project.id)
    of_push, of_schedule = runner.must_take().variables, runner.must_take().variables
    assert of_push.get("CI_PIPELINE_SCHEDULE_DESCRIPTION") is None
    assert of_schedule["CI_PIPELINE_SCHEDULE_DESCRIPTION"] == schedule["description"]
    make.api.put(url, make.root, ref="missing")
    assert make.api.post(f"{project.url}/pipeline_schedules/{number}/play", developer).status_code == 400


def test_a_due_schedule_runs_once(make: Make, project: Project, instance: Instance) -> None:
    """The next run is planned, and the pipeline belongs to the owner; a missed run is made up for once."""
    schedule = _create(make, project)
    _make_due(make, schedule)
    for _ in range(2):
        make.database.write(enqueue_overdue_schedules)
        instance.work()
    (pipeline,) = _scheduled(make, project)
    shown = _get(make, project, schedule)
    assert shown["last_pipeline"]["id"] == pipeline["id"]
    assert shown["next_run_at"] > DUE and shown["active"]
    assert [
        item["id"]
        for item in make.api.get(f"{project.url}/pipeline_schedules/{schedule['id']}/pipelines", make.root).json()
    ] == [pipeline["id"]]


def test_concurrent_workers_run_a_schedule_once(make: Make, project: Project, instance: Instance) -> None:
    """Several workers claim the same occurrence, and the job of the pipeline runs twice."""
    schedule = _create(make, project)
    _make_due(make, schedule)
    run = {"schedule_id": schedule["id"], "due": DUE}
    threads = [threading.Thread(target=run_schedule, args=(make.database, run)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    instance.work()
    ScheduleJobs(repository_store(instance.settings)).create(make.database, run)
    assert len(_scheduled(make, project)) == 1


def test_longer_pages_of_schedules_need_no_more_statements(make: Make, project: Project) -> None:
    """Neither of schedules with different owners nor of their pipelines."""
    make.api.delete(f"{project.url}/protected_branches/main", make.root)
    developers = [make.user() for _ in range(3)]
    for developer in developers:
        make.api.post(f"{project.url}/members", make.root, user_id=developer.id, access_level=30)
        schedule = _create(make, project, developer)
    for _ in range(3):
        make.api.post(f"{project.url}/pipeline_schedules/{schedule['id']}/play", make.root)
    for path in ("/pipeline_schedules", f"/pipeline_schedules/{schedule['id']}/pipelines"):
        few, many = (
            statements_of(make, partial(make.api.get, project.url + path, make.root, per_page=size)) for size in (1, 3)
        )
        assert many <= few


@pytest.mark.parametrize("action", ["block", "delete", "demote"])
def test_a_schedule_without_an_entitled_owner_becomes_inactive(
    make: Make, project: Project, instance: Instance, action: str
) -> None:
    """The owner is blocked, deleted, or may not run pipelines any more."""
    make.api.delete(f"{project.url}/protected_branches/main", make.root)
    owner = make.user()
    make.api.post(f"{project.url}/members", make.root, user_id=owner.id, access_level=30)
    schedule = _create(make, project, owner)
    if action == "block":
        make.api.post(f"/users/{owner.id}/block", make.root)
    elif action == "delete":
        make.api.delete(f"/users/{owner.id}", make.root)
    else:
        make.api.put(f"{project.url}/members/{owner.id}", make.root, access_level=20)
        _make_due(make, schedule)
        make.database.write(enqueue_overdue_schedules)
    instance.work()
    shown = _get(make, project, schedule)
    assert shown["active"] is False
    assert _scheduled(make, project) == []


def test_a_broken_configuration_creates_a_failed_pipeline(make: Make, project: Project, instance: Instance) -> None:
    """A missing branch creates none, and the schedule stays active."""
    commit_files(make, project, {".gitlab-ci.yml": "job: 1\n"}, action="update")
    schedule = _create(make, project)
    missing = _create(make, project, ref="missing")
    for each in (schedule, missing):
        _make_due(make, each)
    make.database.write(enqueue_overdue_schedules)
    instance.work()
    (pipeline,) = _scheduled(make, project)
    assert pipeline["status"] == "failed"
    assert _get(make, project, missing)["active"]


INPUTS_FILE = """
spec:
  inputs:
    target: {default: staging, options: [staging, production]}
    count: {type: number, default: 1}
    names: {type: array, default: []}
---
job:
  script: ["echo $[[ inputs.target ]] $[[ inputs.count ]]"]
  tags: $[[ inputs.names ]]
"""


def test_inputs_of_a_schedule_are_stored_changed_and_used(make: Make, instance: Instance) -> None:
    project = make_project(make, default_branch="main")
    commit_files(make, project, {".gitlab-ci.yml": INPUTS_FILE})
    sent = [{"name": "target", "value": "production"}, {"name": "count", "value": 5}, {"name": "names", "value": ["a"]}]
    schedule = _create(make, project, inputs=sent)
    assert schedule["inputs"] == sent
    url = f"{project.url}/pipeline_schedules/{schedule['id']}"
    assert "inputs" not in make.api.get(f"{project.url}/pipeline_schedules", make.root).json()[0]
    developer = make.user()
    make.api.post(f"{project.url}/members", make.root, user_id=developer.id, access_level=int(Level.DEVELOPER))
    assert "inputs" not in make.api.get(url, developer).json()
    runner = project_runner(make, project.id, tag_list="a,b", run_untagged=True)
    runner.run_all()
    assert make.api.post(f"{url}/play", make.root).status_code == 201
    assert runner.must_take().payload["steps"][0]["script"] == ["echo production 5"]
    changes = [{"name": "target", "destroy": True}, {"name": "names", "value": ["b"]}]
    edited = make.api.put(url, make.root, inputs=changes).json()
    assert edited["inputs"] == [{"name": "count", "value": 5}, {"name": "names", "value": ["b"]}]
    assert make.api.put(url, make.root, description="Other").json()["inputs"] == edited["inputs"]
    _make_due(make, schedule)
    instance.work()
    make.database.write(enqueue_overdue_schedules)
    instance.work()
    assert runner.must_take().payload["steps"][0]["script"] == ["echo staging 5"]
    make.api.put(url, make.root, inputs=[{"name": "target", "value": "nowhere"}])
    assert make.api.post(f"{url}/play", make.root).status_code == 201
    (newest, *_) = _scheduled(make, project)
    shown = make.api.get(f"{project.url}/pipelines/{newest['id']}", make.root).json()
    assert "`nowhere` cannot be used because it is not in the list of allowed options" in shown["yaml_errors"]


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([{"name": " ", "value": 1}], "can't be blank"),
        ([{"name": "x" * 256, "value": 1}], "too long"),
        ([{"name": "a", "value": None}], "must be a string, number, boolean or array"),
        ([{"name": "a", "value": {"b": 1}}], "must be a string, number, boolean or array"),
        ([{"name": "a", "value": "x" * 65_536}], "exceeds max serialized size"),
        ([{"name": "a", "value": 1}, {"name": "a", "value": 2}], "have duplicate values"),
        ([{"name": f"n{number}", "value": 1} for number in range(21)], "exceeds the limit of 20"),
        ([{"value": 1}], "inputs"),
        ("a", "inputs"),
    ],
)
def test_invalid_inputs_of_a_schedule_are_refused(make: Make, project: Project, inputs: Any, message: str) -> None:
    schedule = _create(make, project)
    url = f"{project.url}/pipeline_schedules/{schedule['id']}"
    sent = {"description": "Nightly", "ref": "main", "cron": "0 3 * * *", "inputs": inputs}
    for answer in (
        make.api.put(url, make.root, inputs=inputs),
        make.api.post(f"{project.url}/pipeline_schedules", make.root, **sent),
    ):
        assert answer.status_code == 400 and message in answer.text, answer.text
    assert _get(make, project, schedule)["inputs"] == []
