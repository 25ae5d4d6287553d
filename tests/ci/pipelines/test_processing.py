"""Progress of pipelines in the database: queue, running jobs, resource groups, automatic retries, events."""

from typing import Any

import pytest
from sqlalchemy import select

from ingot.ci.job_records.queries import job_by_token
from ingot.ci.job_records.tables import JobOptions, ci_queue, ci_running
from ingot.ci.pipelines.processing import cancel_jobs, change_job, effective_timeout
from ingot.core.db.times import add_duration
from ingot.pipelines.events import PipelineChanged, StatusChanged
from ingot.pipelines.queries import lock_pipeline_by_id
from ingot.projects.environments.tables import deployments
from tests.ci.pipelines.rows import PipelineRows, existing_job
from tests.client import Make
from tests.conftest import Instance


def _queued(rows: PipelineRows) -> list[str]:
    found = rows.database.read(lambda db: db.rows(select(ci_queue.c.job_id).order_by(ci_queue.c.job_id)))
    names = {job.id: job.name for job in rows.jobs()}
    return [names[job_id] for (job_id,) in found if job_id in names]


def _running(rows: PipelineRows) -> list[str]:
    found = rows.database.read(lambda db: db.rows(select(ci_running.c.job_id).order_by(ci_running.c.job_id)))
    names = {job.id: job.name for job in rows.jobs()}
    return [names[job_id] for (job_id,) in found if job_id in names]


def test_stages_run_one_after_another(make: Make) -> None:
    rows = PipelineRows(make, "a 0", "b 0", "c 1")
    rows.process()
    assert rows.statuses() == "pending pending created pending"
    assert _queued(rows) == ["a", "b"]
    token = rows.start("a")
    assert rows.statuses() == "running pending created running"
    assert (_queued(rows), _running(rows)) == (["b"], ["a"])
    found = rows.database.read(lambda db: job_by_token(db, token))
    assert found is not None
    assert (found.name, found.runner_id) == ("a", rows.runner.id)
    rows.finish("a")
    rows.finish("b")
    assert rows.statuses() == "success success pending running"
    assert rows.database.read(lambda db: job_by_token(db, token)) is None
    assert (_queued(rows), _running(rows)) == (["c"], [])
    rows.finish("c", "failed", failure_reason="script_failure", exit_code=3)
    assert rows.statuses() == "success success failed failed"
    job = rows.job("c")
    assert (job.failure_reason, job.exit_code) == ("script_failure", 3)
    assert job.queued_at
    assert job.started_at
    assert job.finished_at
    pipeline = rows.pipeline()
    assert pipeline.started_at
    assert pipeline.finished_at
    assert pipeline.duration is not None


def test_a_finished_job_stays_as_it_is(make: Make) -> None:
    rows = PipelineRows(make, "a 0")
    rows.process()
    rows.finish("a", "success")
    rows.finish("a", "failed")
    assert rows.statuses() == "success success"


@pytest.mark.parametrize(("graceful", "status"), [(False, "canceled"), (True, "canceling")])
def test_cancel_a_running_job(make: Make, graceful: bool, status: str) -> None:
    rows = PipelineRows(make, "a 0", "b 1", "c 2 always")
    rows.process()
    rows.start("a", cancel_gracefully=graceful)

    def cancel(db: Any) -> None:
        pipeline = lock_pipeline_by_id(db, rows.id)
        assert pipeline is not None
        cancel_jobs(db, pipeline, [rows.job("a")])

    rows.write(cancel)
    assert rows.job("a").status == status
    rows.finish("a", "failed", failure_reason="job_canceled")
    assert rows.statuses() == "canceled skipped pending running"
    assert rows.job("a").failure_reason is None
    rows.finish("c")
    assert rows.pipeline().status == "canceled"


def test_a_resource_group_runs_one_job_at_a_time(make: Make) -> None:
    first = PipelineRows(make, "a 0 group=production", "b 0 group=production", "c 0")
    second = PipelineRows(make, "d 0 group=production", project=first.project)
    other = PipelineRows(make, "e 0 group=production")
    for rows in (first, second, other):
        rows.process()
    assert first.statuses() == "pending waiting_for_resource pending running"
    assert second.statuses() == "waiting_for_resource waiting_for_resource"
    assert other.statuses() == "pending pending"
    first.finish("a", "failed")
    assert first.job("b").status == "pending"
    assert second.job("d").status == "waiting_for_resource"
    first.finish("b")
    assert second.statuses() == "pending pending"


@pytest.mark.parametrize(
    ("options", "result", "statuses"),
    [
        (JobOptions(retry_limit=2), {}, "pending pending failed"),
        (JobOptions(retry_limit=1, retry_when=("script_failure",)), {"failure_reason": "script_failure"}, "pending"),
        (JobOptions(retry_limit=1, retry_when=("api_failure",)), {"failure_reason": "script_failure"}, "failed"),
        (JobOptions(retry_limit=1, retry_exit_codes=(137,)), {"exit_code": 137}, "pending failed"),
        (JobOptions(retry_limit=1, retry_exit_codes=(137,)), {"exit_code": 1}, "failed"),
        (JobOptions(retry_limit=1, retry_when=("always",)), {"failure_reason": "missing_dependency_failure"}, "failed"),
        (JobOptions(retry_limit=0), {}, "failed"),
    ],
)
def test_automatic_retries(make: Make, options: JobOptions, result: dict[str, Any], statuses: str) -> None:
    rows = PipelineRows(make, "a 0", "b 1", options={"a": options})
    rows.process()
    for status in statuses.split():
        before = rows.job("a")
        rows.finish("a", "failed", **result)
        assert rows.job("a").status == status
        assert existing_job(rows.database, before.id).status == "failed"
    assert rows.job("b").status == ("skipped" if statuses.endswith("failed") else "created")


@pytest.mark.parametrize(("code", "statuses"), [(3, "failed pending running"), (4, "failed skipped failed")])
def test_exit_codes_that_are_allowed(make: Make, code: int, statuses: str) -> None:
    rows = PipelineRows(make, "a 0", "b 1", options={"a": JobOptions(allow_failure_exit_codes=(3,))})
    rows.process()
    rows.finish("a", "failed", exit_code=code)
    assert rows.statuses() == statuses.replace("running", rows.pipeline().status)
    assert rows.job("a").allow_failure is (code == 3)


def test_a_failure_cancels_all_others(make: Make) -> None:
    rows = PipelineRows(make, "a 0", "b 0", "c 1", on_job_failure="all")
    rows.process()
    rows.start("b")
    rows.finish("a", "failed")
    assert rows.statuses() == "failed canceled canceled failed"


def test_delayed_jobs_start_after_their_delay(make: Make) -> None:
    rows = PipelineRows(make, "a 0 delayed", options={"a": JobOptions(start_in=3600)})
    rows.process()
    job = rows.job("a")
    assert rows.statuses() == "scheduled scheduled"
    assert job.scheduled_at is not None
    assert job.scheduled_at > add_duration(job.created_at, seconds=3590)


def test_events_of_a_step(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    subscribers = {event: [lambda _, each: seen.append(each)] for event in (StatusChanged, PipelineChanged)}
    rows = PipelineRows(make, "a 0", "b 1", "c 1")
    monkeypatch.setattr(rows.database, "subscribers", subscribers)
    rows.process()
    assert [[(each.name, each.status) for each in seen[0].statuses], seen[1].status] == [[("a", "pending")], "pending"]
    rows.start("a")
    seen.clear()
    rows.finish("a")
    assert [(each.name, each.status) for each in seen[0].statuses] == [
        ("a", "success"),
        ("b", "pending"),
        ("c", "pending"),
    ]
    assert len(seen) == 1
    seen.clear()
    rows.write(lambda db: change_job(db, rows.job("a"), "success", coverage=71.5))
    assert (seen, rows.job("a").coverage) == ([], 71.5)


def test_the_timeout_is_limited_by_the_runner(make: Make) -> None:
    rows = PipelineRows(make, "a 0")
    assert rows.database.read(lambda db: effective_timeout(db, rows.job("a"), rows.runner)) == 3600


def test_deployments_follow_the_job(make: Make, instance: Instance) -> None:
    options = {
        "a": JobOptions(environment={"name": "live", "url": "https://live.example.com"}),
        "b": JobOptions(environment={"name": "live", "action": "stop"}),
    }
    rows = PipelineRows(make, "a 0 environment=live", "b 1 manual environment=live", options=options)
    made = make.api.post(f"{rows.project.url}/environments", make.root, name="live")
    assert made.status_code == 201
    rows.process()
    rows.start("a")

    def found() -> list[tuple[str, str]]:
        statement = select(deployments.c.status, deployments.c.sha).where(deployments.c.project_id == rows.project.id)
        return [(status, sha) for status, sha in instance.app.database.read(lambda db: db.rows(statement))]

    assert found() == [("running", "a" * 40)]
    rows.finish("a")
    assert found() == [("success", "a" * 40)]
    shown = make.api.get(f"{rows.project.url}/environments/{made.json()['id']}", make.root).json()
    assert (shown["state"], shown["external_url"]) == ("available", "https://live.example.com")
    assert shown["last_deployment"]["sha"] == "a" * 40
    rows.write(lambda db: change_job(db, rows.job("b"), "pending"))
    rows.finish("b")
    assert make.api.get(f"{rows.project.url}/environments/{made.json()['id']}", make.root).json()["state"] == "stopped"
    assert len(found()) == 1
