"""Leases of jobs, and clock changes."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from ingot.app import open_database
from ingot.core.db.database import Database, wall_clock
from ingot.core.db.times import add_duration
from ingot.core.jobs.leases import JobCapacity, claim_jobs, fail_job, finish_job, postpone_job
from ingot.core.jobs.queue import MAX_ATTEMPTS, enqueue
from ingot.core.jobs.statistics import queue_stats
from ingot.core.jobs.tables import jobs
from ingot.core.jobs.worker import JobWorker
from tests.jobs.conftest import DEADLINE_SECONDS, Bench, until


@contextmanager
def working(worker: JobWorker) -> Iterator[None]:
    """Run a worker beside the test."""
    stop, stopper = os.pipe()
    thread = threading.Thread(target=worker.run, args=([stop],))
    thread.start()
    try:
        yield
    finally:
        os.close(stopper)
        thread.join(DEADLINE_SECONDS)
        os.close(stop)
    assert not thread.is_alive()


def test_a_held_job_is_nobody_elses_until_the_lease_is_over(bench: Bench) -> None:
    bench.database.write(lambda db: enqueue(db, "note", 1))
    (first,) = bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
    bench.clock.step(seconds=59)
    assert bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60)) == []
    bench.clock.step(seconds=2)
    assert bench.database.write(lambda db: claim_jobs(db, JobCapacity(1, takeovers=False), 60)) == []
    (second,) = bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
    assert (second.id, second.attempts) == (first.id, 2)
    assert bench.database.read(queue_stats).failures == {"note": 1}

    # The former holder returns and cannot finish the job in any way.
    assert not bench.database.write(lambda db: finish_job(db, first))
    assert not bench.database.write(lambda db: fail_job(db, first, "x"))
    assert not bench.database.write(lambda db: postpone_job(db, first, 1))
    assert bench.job().lease == second.lease
    assert bench.database.write(lambda db: finish_job(db, second))
    assert bench.jobs() == []


def test_a_job_that_kills_its_workers_is_given_up(bench: Bench) -> None:
    bench.database.write(lambda db: enqueue(db, "note", 1))
    for _ in range(MAX_ATTEMPTS):
        assert bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        bench.clock.step(seconds=61)
    assert bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60)) == []
    assert (bench.job().state, bench.job().last_error) == ("dead", "The worker died")


def test_a_long_job_keeps_its_lease_while_another_worker_looks_for_work(bench: Bench) -> None:
    database = open_database(bench.settings)
    seen: list[Any] = []
    runs: list[int] = []

    def handler(_: Database, payload: Any) -> None:
        runs.append(payload)

        def renewed() -> bool:
            until_when = bench.job().leased_until
            if until_when not in seen:
                seen.append(until_when)
            return len(seen) > 4

        until(renewed)

    others = [open_database(bench.settings) for _ in range(2)]
    workers = [JobWorker(each, {"note": handler}, [], bench.log, lease_seconds=2.0) for each in others]
    with working(workers[0]), working(workers[1]):
        database.write(lambda db: enqueue(db, "note", 1))
        until(lambda: runs and not bench.jobs())
    assert runs == [1]
    assert database.read(queue_stats).failures == {}
    for each in (database, *others):
        each.close()


def test_one_kind_never_holds_every_thread(bench: Bench) -> None:
    """Many long imports, and a mail after them."""
    database = open_database(bench.settings)
    go = threading.Event()
    mails: list[Any] = []
    running: list[Any] = []

    def long(_: Database, payload: Any) -> None:
        running.append(payload)
        go.wait(DEADLINE_SECONDS)

    worker = JobWorker(database, {"import": long, "mail": lambda _, payload: mails.append(payload)}, [], bench.log)
    for number in range(6):
        database.write(partial(enqueue, kind="import", payload=number))
    with working(worker):
        until(lambda: len(running) == 3)
        database.write(lambda db: enqueue(db, "mail", 1))
        until(lambda: mails)
        assert sorted(running) == [0, 1, 2]
        go.set()
        until(lambda: not bench.jobs())
    assert sorted(running) == [0, 1, 2, 3, 4, 5]
    database.close()


class TestClockSet:
    """Tests of a clock that is set: no job may wait for a time of the old clock."""

    @pytest.mark.parametrize("back", [{"days": -1}, {"days": -366}])
    def test_back(self, bench: Bench, back: dict[str, float]) -> None:
        ran: list[Any] = []
        bench.database.write(lambda db: enqueue(db, "note", "now"))
        bench.database.write(lambda db: enqueue(db, "note", "in an hour", add_duration(db.now, hours=1)))
        bench.database.write(lambda db: enqueue(db, "dies", "held"))
        (held,) = bench.database.write(lambda db: claim_jobs(db, JobCapacity(1, ["note"]), 60))
        assert held.kind == "dies"
        bench.clock.step(**back)
        handlers = {kind: (lambda _, payload: ran.append(payload)) for kind in ("note", "dies")}
        worker = JobWorker(bench.database, handlers, [], bench.log, lease_seconds=60)
        while worker.run_once():
            pass
        assert ran == ["now"]
        bench.clock.step(seconds=61)
        # Another worker, because this one grants holders extra time after each step of its clock.
        worker = JobWorker(bench.database, handlers, [], bench.log, lease_seconds=60)
        while worker.run_once():
            pass
        assert ran == ["now", "held"]
        bench.clock.step(hours=1)
        while worker.run_once():
            pass
        assert ran == ["now", "held", "in an hour"]

    def test_a_worker_that_sees_the_clock_step_does_not_take_living_ones_for_dead(self, bench: Bench) -> None:
        worker = JobWorker(bench.database, {"note": lambda *_: None}, [], bench.log)
        bench.database.write(lambda db: enqueue(db, "note", 1))
        (job,) = bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        bench.clock.step(days=366)
        assert not worker.run_once()
        assert bench.job().lease == job.lease
        bench.database.write(lambda db: enqueue(db, "note", 2))
        assert worker.run_once()
        assert [each.id for each in bench.jobs()] == [job.id]

    def test_clocks_that_differ_a_little_are_left_alone(self, bench: Bench) -> None:
        bench.database.write(lambda db: enqueue(db, "note", 1))
        bench.clock.step(seconds=-30)
        worker = JobWorker(bench.database, {"note": lambda *_: None}, [], bench.log)
        assert not worker.run_once()
        bench.clock.step(seconds=30)
        assert worker.run_once()


def test_a_lease_that_was_lost_for_good_does_not_stop_the_worker(bench: Bench) -> None:
    """An administrator drops a job while it runs."""
    database = open_database(bench.settings)

    def handler(_: Database, payload: Any) -> None:
        bench.database.write(lambda db: db.delete(jobs, bench.job().id))

    worker = JobWorker(database, {"note": handler}, [], bench.log)
    database.write(lambda db: enqueue(db, "note", wall_clock()))
    assert worker.run_once()
    assert "job was taken over" in bench.lines.getvalue()
    database.close()
