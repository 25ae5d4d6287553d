"""Endpoints of freeze periods, and the variable of jobs."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ingot.ci.freeze_periods.service import MAX_PERIODS
from ingot.ci.freeze_periods.status import any_in_force
from ingot.ci.freeze_periods.tables import FreezePeriod, freeze_periods
from ingot.core.db.times import timestamp
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.factories import Project, make_project
from tests.roles import UsersByRole, project_with

ALWAYS = {"freeze_start": "* * * * *", "freeze_end": "0 0 1 1 *"}
"""A freeze that begins anew each minute."""
WEEKEND = {"freeze_start": "0 23 * * 5", "freeze_end": "0 7 * * 1"}
CI_FILE = """
build: {script: make}
deploy:
  script: make deploy
  rules: [{if: $CI_DEPLOY_FREEZE == null}]
announce:
  script: make announcement
  rules: [{if: $CI_DEPLOY_FREEZE == "true"}]
"""


def _create(make: Make, project: Project, **fields: str) -> dict[str, Any]:
    made = make.api.post(f"{project.url}/freeze_periods", make.root, **{**WEEKEND, **fields})
    assert made.status_code == 201, made.text
    period: dict[str, Any] = made.json()
    return period


def test_a_freeze_period_is_created_edited_and_deleted(make: Make) -> None:
    project, other = make_project(make), make_project(make)
    url = f"{project.url}/freeze_periods"
    first = _create(make, project, freeze_start=" 0 23 * * 5 ")
    assert {**first, **WEEKEND, "cron_timezone": "UTC"} == first
    second = _create(make, project, cron_timezone="Berlin")
    assert [each["id"] for each in make.api.get(url, make.root).json()] == [first["id"], second["id"]]
    assert len(make.api.get(url, make.root, per_page=1, page=2).json()) == 1
    edited = make.api.put(f"{url}/{first['id']}", make.root, freeze_end="@daily").json()
    assert edited["freeze_end"] == "@daily" and edited["freeze_start"] == "0 23 * * 5"
    assert make.api.get(f"{url}/{first['id']}", make.root).json() == edited
    assert make.api.get(f"{other.url}/freeze_periods/{first['id']}", make.root).status_code == 404
    assert make.api.delete(f"{url}/{first['id']}", make.root).status_code == 204
    for answer in (
        make.api.delete(f"{url}/{first['id']}", make.root),
        make.api.get(f"{url}/{first['id']}", make.root),
        make.api.put(f"{url}/{first['id']}", make.root, freeze_end="@daily"),
    ):
        assert answer.status_code == 404 and answer.json() == {"message": "404 Freeze Period Not Found"}


def test_invalid_expressions_are_refused(make: Make) -> None:
    project = make_project(make)
    url = f"{project.url}/freeze_periods"
    period = _create(make, project)
    for field in ("freeze_start", "freeze_end", "cron_timezone"):
        for value in ("never", "* * * *", "99 * * * *", "0 0 30 2 *"):
            refused = make.api.post(url, make.root, **{**WEEKEND, field: value})
            assert refused.status_code == 400 and refused.json()["message"] == {field: ["is invalid syntax"]}
            assert make.api.put(f"{url}/{period['id']}", make.root, **{field: value}).status_code == 400
    blank = make.api.post(url, make.root, freeze_start=" ", freeze_end="@daily")
    assert blank.status_code == 400 and blank.json()["message"] == {"freeze_start": ["can't be blank"]}
    missing = make.api.post(url, make.root, freeze_start="@daily")
    assert missing.status_code == 400 and "not given" in missing.json()["message"]
    assert make.api.get(f"{url}/{period['id']}", make.root).json() == period


def test_the_number_of_freeze_periods_is_limited(make: Make) -> None:
    project = make_project(make)
    row = {**WEEKEND, "project_id": project.id, "cron_timezone": "UTC", "created_at": "", "updated_at": ""}
    for _ in range(MAX_PERIODS - 1):
        make.database.write(lambda db: db.insert(freeze_periods, **row))
    _create(make, project)
    refused = make.api.post(f"{project.url}/freeze_periods", make.root, **WEEKEND)
    assert refused.status_code == 400 and str(MAX_PERIODS) in refused.text


def test_reporters_read_and_maintainers_change(make: Make) -> None:
    roles = UsersByRole(make)
    project = project_with(make, roles)
    period = _create(make, project)
    url = f"{project.url}/freeze_periods"
    read = {
        "owner": 200,
        "master": 200,
        "developer": 200,
        "reporter": 200,
        "guest": 403,
        "stranger": 404,
        "nobody": 401,
    }
    for role, status in read.items():
        assert make.api.get(url, roles[role]).status_code == status, role
        assert make.api.get(f"{url}/{period['id']}", roles[role]).status_code == status, role
    change = {"master": 200, "developer": 403, "reporter": 403, "guest": 403, "stranger": 404, "nobody": 401}
    for role, status in change.items():
        assert make.api.put(f"{url}/{period['id']}", roles[role], freeze_end="@daily").status_code == status, role
        if status != 200:
            assert make.api.post(url, roles[role], **WEEKEND).status_code == status, role
            assert make.api.delete(f"{url}/{period['id']}", roles[role]).status_code == status, role
    assert make.api.put(project.url, roles.owner, environments_access_level="disabled").status_code == 200
    assert make.api.get(url, roles.owner).status_code == 403


def test_jobs_have_a_variable_while_a_freeze_is_in_force(make: Make) -> None:
    project = make_project(make, default_branch="main")
    commit_files(make, project, {".gitlab-ci.yml": CI_FILE})
    runner = project_runner(make, project.id)
    open_job = runner.must_take()
    assert "CI_DEPLOY_FREEZE" not in open_job.variables
    assert _jobs(make, project) == {"build", "deploy"}
    period = _create(make, project, **ALWAYS)
    # The freeze counts when a job starts, not when its pipeline was created.
    assert runner.must_take().variables["CI_DEPLOY_FREEZE"] == "true"
    commit_files(make, project, {"a": "x"})
    assert _jobs(make, project) == {"build", "announce"}
    assert make.api.delete(f"{project.url}/freeze_periods/{period['id']}", make.root).status_code == 204
    assert "CI_DEPLOY_FREEZE" not in runner.must_take().variables


def _jobs(make: Make, project: Project) -> set[str]:
    pipeline = list_pipelines(make, project)[0]
    return {job["name"] for job in make.api.get(f"{project.url}/pipelines/{pipeline['id']}/jobs", make.root).json()}


@pytest.mark.parametrize(
    ("start", "end", "zone", "moment", "expected"),
    [
        ("0 23 * * 5", "0 7 * * 1", "UTC", "2026-11-20T22:59:59", False),
        ("0 23 * * 5", "0 7 * * 1", "UTC", "2026-11-20T23:00:00", True),
        ("0 23 * * 5", "0 7 * * 1", "UTC", "2026-11-22T12:00:00", True),
        ("0 23 * * 5", "0 7 * * 1", "UTC", "2026-11-23T07:00:59", True),
        ("0 23 * * 5", "0 7 * * 1", "UTC", "2026-11-23T07:01:00", False),
        ("0 23 * * 5", "0 7 * * 1", "Berlin", "2026-11-20T22:00:00", True),
        ("0 23 * * 5", "0 7 * * 1", "Berlin", "2026-11-23T06:30:00", False),
        ("0 0 20 12 *", "0 0 7 1 *", "UTC", "2027-01-01T00:00:00", True),
        ("0 0 20 12 *", "0 0 7 1 *", "UTC", "2027-01-08T00:00:00", False),
        ("0 0 29 2 *", "0 0 1 3 *", "UTC", "2027-06-01T00:00:00", False),
        ("@daily", "0 12 * * *", "UTC", "2027-06-01T11:59:00", True),
        ("@daily", "0 12 * * *", "UTC", "2027-06-01T12:01:00", False),
    ],
)
def test_a_freeze_lasts_from_its_start_to_the_following_end(
    start: str, end: str, zone: str, moment: str, expected: bool
) -> None:
    now = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    period = FreezePeriod(1, 1, start, end, zone, timestamp(now), timestamp(now))
    assert any_in_force([period], now) is expected
