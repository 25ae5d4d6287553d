"""Recurring jobs."""

import pytest

from ingot.app import open_database
from ingot.core.db.connection import Connection
from ingot.core.jobs.schedule import RecurringJob
from ingot.core.jobs.worker import JobWorker
from tests.jobs.conftest import Bench


def _run(*workers: JobWorker) -> None:
    while sum(worker.run_once() for worker in workers):
        pass


def test_each_occurrence_runs_once_whoever_looks_first(bench: Bench) -> None:
    ran: list[str] = []
    recurring = [RecurringJob(600, lambda _: ran.append("a"), "a"), RecurringJob(3600, lambda _: ran.append("b"), "b")]
    other = open_database(bench.settings, bench.clock)
    workers = [JobWorker(database, {}, recurring, bench.log) for database in (bench.database, other)]
    _run(*workers)
    assert sorted(ran) == ["a", "b"]
    bench.clock.step(seconds=599)
    _run(*workers)
    assert len(ran) == 2
    bench.clock.step(seconds=1)
    _run(*reversed(workers))
    assert sorted(ran) == ["a", "a", "b"]
    # Several missed occurrences become one.
    bench.clock.step(days=3)
    _run(*workers)
    assert sorted(ran) == ["a", "a", "a", "b", "b"]
    other.close()


def test_one_that_fails_is_tried_again_like_any_job_and_does_not_pile_up(bench: Bench) -> None:
    def work(db: Connection) -> None:
        raise OSError

    worker = JobWorker(bench.database, {}, [RecurringJob(600, work)], bench.log)
    for _ in range(200):
        _run(worker)
        bench.clock.step(seconds=600)
        assert len(bench.jobs()) <= 2
    assert {job.kind for job in bench.jobs()} == {f"recurring:{__name__}.{work.__qualname__}"}


def test_a_shorter_rhythm_and_a_clock_set_back_do_not_put_it_off(bench: Bench) -> None:
    ran: list[int] = []
    daily = JobWorker(bench.database, {}, [RecurringJob(86_400, lambda _: ran.append(1), "a")], bench.log)
    _run(daily)
    bench.clock.step(hours=1)
    hourly = JobWorker(bench.database, {}, [RecurringJob(1800, lambda _: ran.append(1), "a")], bench.log)
    _run(hourly)
    assert len(ran) == 2
    bench.clock.step(days=-30)
    _run(hourly)
    assert len(ran) == 3


def test_two_of_the_same_name_are_refused(bench: Bench) -> None:
    with pytest.raises(ValueError, match="same name"):
        JobWorker(bench.database, {}, [RecurringJob(1, repr, "a"), RecurringJob(2, repr, "a")], bench.log)
