"""Play, retry and cancel; delays, timeouts and dead runners."""

from typing import Any

import pytest

from ingot.accounts.users.actors import active_actor
from ingot.ci.job_records.tables import JobOptions, ci_jobs
from ingot.ci.pipelines import maintenance, service, stuck_jobs
from ingot.core.access.actor import Actor
from ingot.core.db.times import add_duration
from ingot.core.errors import Denied, Invalid
from tests.ci.pipelines.files import commit_files, list_pipelines
from tests.ci.pipelines.rows import PipelineRows, existing_job
from tests.ci.runner_client import project_runner
from tests.client import Make
from tests.conftest import Instance
from tests.factories import make_project
from tests.git_history import repository_of


def _root(make: Make) -> Actor:
    actor = make.database.read(lambda db: active_actor(db, make.root.id))
    assert actor is not None
    return actor


def _play(make: Make, rows: PipelineRows, name: str) -> Any:
    return rows.write(lambda db: service.play_job(db, _root(make), rows.job(name)))


def _retry(make: Make, rows: PipelineRows, name: str) -> Any:
    return rows.write(lambda db: service.retry_job(db, _root(make), rows.job(name)))


def _pass_time(make: Make, monkeypatch: pytest.MonkeyPatch, **time: float) -> None:
    clock = make.database.clock
    monkeypatch.setattr(make.database, "clock", lambda: add_duration(clock(), **time))


def test_play_a_blocking_manual_job(make: Make) -> None:
    rows = PipelineRows(make, "a 0 manual", "b 1")
    rows.process()
    assert rows.statuses() == "manual created manual"
    played = _play(make, rows, "a")
    assert (played.status, played.user_id) == ("pending", make.root.id)
    rows.finish("a")
    assert rows.statuses() == "success pending running"
    again = _play(make, rows, "a")
    assert again.id != played.id
    assert again.status == "pending"
    with pytest.raises(Invalid, match="Unplayable Job"):
        _play(make, rows, "b")


def test_retry_runs_skipped_jobs_again_but_not_finished_ones(make: Make) -> None:
    rows = PipelineRows(make, "a 0", "b 0", "c 1", "d 1 always")
    rows.process()
    rows.finish("a", "failed")
    rows.finish("b")
    rows.finish("d")
    assert rows.statuses() == "failed success skipped success failed"
    finished = rows.job("d").id
    first = rows.job("a").id
    _retry(make, rows, "a")
    assert rows.statuses() == "success pending created success running"
    assert rows.job("d").id == finished
    assert existing_job(rows.database, first).retried
    with pytest.raises(Denied, match="Job is not retryable"):
        rows.write(lambda db: service.retry_job(db, _root(make), existing_job(rows.database, first)))
    rows.finish("a")
    assert rows.job("c").status == "pending"


def test_retry_and_cancel_a_pipeline(make: Make) -> None:
    rows = PipelineRows(make, "a 0", "b 0", "c 1")
    rows.process()
    rows.start("a")
    rows.write(lambda db: service.cancel_pipeline(db, _root(make), rows.pipeline()))
    assert rows.statuses() == "canceled canceled canceled canceled"
    rows.write(lambda db: service.retry_pipeline(db, _root(make), rows.pipeline()))
    assert rows.statuses() == "pending pending created pending"
    rows.finish("a", "failed")
    rows.finish("b")
    assert sorted(job.status for job in rows.jobs()) == ["failed", "skipped", "success"]
    rows.write(lambda db: service.retry_pipeline(db, _root(make), rows.pipeline()))
    assert sorted(job.status for job in rows.jobs()) == ["created", "pending", "success"]


def test_a_canceled_job_skips_later_jobs_and_always_runs(make: Make) -> None:
    rows = PipelineRows(make, "a 0", "b 1", "c 2 always")
    rows.process()
    rows.write(lambda db: service.cancel_job(db, rows.job("a")))
    assert rows.statuses() == "canceled skipped pending running"
    rows.finish("c")
    rows.write(lambda db: service.cancel_job(db, rows.job("c")))
    assert rows.statuses() == "canceled skipped success canceled"


def test_delayed_jobs(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = PipelineRows(make, "a 0 delayed", "b 1", options={"a": JobOptions(start_in=60)})
    rows.process()
    maintenance.start_delayed_job(rows.database, rows.job("a").id)
    assert rows.statuses() == "scheduled created scheduled"
    _pass_time(make, monkeypatch, seconds=61)
    maintenance.start_delayed_job(rows.database, rows.job("a").id)
    assert rows.statuses() == "pending created pending"
    assert rows.job("a").scheduled_at is None


@pytest.mark.parametrize(
    ("time", "reason"),
    [
        ({"seconds": 800}, None),
        ({"seconds": 1000}, "stuck_or_timeout_failure"),
        ({"seconds": 4000}, "job_execution_timeout"),
    ],
)
def test_jobs_of_dead_runners_fail(
    make: Make, monkeypatch: pytest.MonkeyPatch, time: dict[str, float], reason: str | None
) -> None:
    rows = PipelineRows(make, "a 0", "b 1")
    rows.process()
    rows.start("a")
    _report(make, monkeypatch, rows)
    _pass_time(make, monkeypatch, **time)
    maintenance.drop_stuck_jobs(rows.database, None)
    assert rows.job("a").failure_reason == reason
    assert rows.statuses() == ("running created running" if reason is None else "failed skipped failed")


def _report(make: Make, monkeypatch: pytest.MonkeyPatch, rows: PipelineRows) -> None:
    """Let a second pass, and record that the runner has reported about the job."""
    _pass_time(make, monkeypatch, seconds=1)
    rows.write(lambda db: db.update(ci_jobs, rows.job("a").id, contacted_at=db.now))


def test_a_job_that_its_runner_has_not_received_is_queued_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after a crash of the server between the choice of the job and its response."""
    rows = PipelineRows(make, "a 0", "b 1")
    rows.process()
    rows.start("a")
    _pass_time(make, monkeypatch, seconds=100)
    maintenance.drop_stuck_jobs(rows.database, None)
    assert rows.statuses() == "running created running"
    _pass_time(make, monkeypatch, seconds=130)
    rows.write(stuck_jobs.enqueue_stuck_job_search)
    maintenance.drop_stuck_jobs(rows.database, None)
    assert rows.statuses() == "pending created pending"
    assert (rows.job("a").runner_id, rows.job("a").token_digest) == (None, None)


def test_jobs_that_no_runner_takes_fail_after_a_day(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = PipelineRows(make, "a 0")
    rows.process()
    maintenance.drop_stuck_jobs(rows.database, None)
    assert rows.job("a").status == "pending"
    _pass_time(make, monkeypatch, hours=25)
    rows.write(stuck_jobs.enqueue_stuck_job_search)
    maintenance.drop_stuck_jobs(rows.database, None)
    assert (rows.job("a").status, rows.job("a").failure_reason) == ("failed", "stuck_or_timeout_failure")


def test_refs_of_old_pipelines_are_removed(make: Make, instance: Instance, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(make)
    sha = commit_files(make, project, {".gitlab-ci.yml": "job: {script: make}\n"})
    (pipeline,) = list_pipelines(make, project)
    assert project_runner(make, project.id).run_all() == ["job"]
    repository = repository_of(instance, project)
    ref = f"refs/pipelines/{pipeline['id']}"
    assert repository.tip(ref) == sha
    make.database.write(maintenance.enqueue_old_ref_removal)
    instance.work()
    assert repository.tip(ref) == sha
    _pass_time(make, monkeypatch, days=31)
    make.database.write(maintenance.enqueue_old_ref_removal)
    instance.work()
    assert repository.tip(ref) is None
