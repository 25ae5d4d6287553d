"""Leases of jobs, and clock changes."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from ingot.core.db.clocks import wall_clock
from ingot.core.db.database import Database
from ingot.core.db.times import add_duration
from ingot.core.jobs.leases import JobCapacity, claim_jobs, fail_job, finish_job, postpone_job
from ingot.core.jobs.queue import MAX_ATTEMPTS, enqueue
from ingot.core.jobs.statistics import queue_stats
from ingot.core.jobs.tables import jobs
from ingot.core.jobs.worker import JobWorker
from ingot.server.app import open_database
from tests.jobs.conftest import DEADLINE_SECONDS, JobQueue, until

LEASE = 6.0
"""Longer than a busy machine may delay a renewal; it is renewed three times as often."""


@contextmanager
def running_worker(worker: JobWorker) -> Iterator[None]:
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


def test_a_claimed_job_is_protected_until_its_lease_expires(job_queue: JobQueue) -> None:
    job_queue.database.write(lambda db: enqueue(db, "note", 1))
    (first,) = job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
    job_queue.clock.step(seconds=59)
    assert job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60)) == []
    job_queue.clock.step(seconds=2)
    assert job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1, takeovers=False), 60)) == []
    (second,) = job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
    assert (second.id, second.attempts) == (first.id, 2)
    assert job_queue.database.read(queue_stats).failures == {"note": 1}

    # The former holder returns and cannot finish the job in any way.
    assert not job_queue.database.write(lambda db: finish_job(db, first))
    assert not job_queue.database.write(lambda db: fail_job(db, first, "x"))
    assert not job_queue.database.write(lambda db: postpone_job(db, first, 1))
    assert job_queue.job().lease == second.lease
    assert job_queue.database.write(lambda db: finish_job(db, second))
    assert job_queue.jobs() == []


def test_a_job_that_kills_its_workers_becomes_dead(job_queue: JobQueue) -> None:
    job_queue.database.write(lambda db: enqueue(db, "note", 1))
    for _ in range(MAX_ATTEMPTS):
        assert job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        job_queue.clock.step(seconds=61)
    assert job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60)) == []
    assert (job_queue.job().state, job_queue.job().last_error) == ("dead", "The worker died")


def test_a_long_job_keeps_its_lease(job_queue: JobQueue) -> None:
    database = open_database(job_queue.settings)
    seen: list[Any] = []
    runs: list[int] = []

    def handler(_: Database, payload: Any) -> None:
        runs.append(payload)

        def renewed() -> bool:
            until_when = job_queue.job().leased_until
            if until_when not in seen:
                seen.append(until_when)
            return len(seen) > 3  # The first lease would have ended.

        until(renewed)

    others = [open_database(job_queue.settings) for _ in range(2)]
    workers = [JobWorker(each, {"note": handler}, [], job_queue.log, lease_seconds=LEASE) for each in others]
    with running_worker(workers[0]), running_worker(workers[1]):
        database.write(lambda db: enqueue(db, "note", 1))
        until(lambda: runs and not job_queue.jobs())
    assert runs == [1]
    assert database.read(queue_stats).failures == {}
    for each in (database, *others):
        each.close()


def test_one_kind_never_uses_all_threads(job_queue: JobQueue) -> None:
    """Many long imports, and a mail after them."""
    database = open_database(job_queue.settings)
    go = threading.Event()
    mails: list[Any] = []
    running: list[Any] = []

    def long(_: Database, payload: Any) -> None:
        running.append(payload)
        go.wait(DEADLINE_SECONDS)

    worker = JobWorker(database, {"import": long, "mail": lambda _, payload: mails.append(payload)}, [], job_queue.log)
    for number in range(6):
        database.write(partial(enqueue, kind="import", payload=number))
    with running_worker(worker):
        until(lambda: len(running) == 3)
        database.write(lambda db: enqueue(db, "mail", 1))
        until(lambda: mails)
        assert sorted(running) == [0, 1, 2]
        go.set()
        until(lambda: not job_queue.jobs())
    assert sorted(running) == [0, 1, 2, 3, 4, 5]
    database.close()


class TestClockSet:
    """Tests of a clock that is set: no job may wait for a time of the old clock."""

    @pytest.mark.parametrize("back", [{"days": -1}, {"days": -366}])
    def test_clock_set_back(self, job_queue: JobQueue, back: dict[str, float]) -> None:
        ran: list[Any] = []
        job_queue.database.write(lambda db: enqueue(db, "note", "now"))
        job_queue.database.write(lambda db: enqueue(db, "note", "in an hour", add_duration(db.now, hours=1)))
        job_queue.database.write(lambda db: enqueue(db, "dies", "held"))
        (held,) = job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1, ["note"]), 60))
        assert held.kind == "dies"
        job_queue.clock.step(**back)
        handlers = {kind: (lambda _, payload: ran.append(payload)) for kind in ("note", "dies")}
        worker = JobWorker(job_queue.database, handlers, [], job_queue.log, lease_seconds=60)
        while worker.run_once():
            pass
        assert ran == ["now"]
        job_queue.clock.step(seconds=61)
        # Another worker, because this one grants holders extra time after each step of its clock.
        worker = JobWorker(job_queue.database, handlers, [], job_queue.log, lease_seconds=60)
        while worker.run_once():
            pass
        assert ran == ["now", "held"]
        job_queue.clock.step(hours=1)
        while worker.run_once():
            pass
        assert ran == ["now", "held", "in an hour"]

    def test_a_clock_step_does_not_expire_running_jobs(self, job_queue: JobQueue) -> None:
        worker = JobWorker(job_queue.database, {"note": lambda *_: None}, [], job_queue.log)
        job_queue.database.write(lambda db: enqueue(db, "note", 1))
        (job,) = job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        job_queue.clock.step(days=366)
        assert not worker.run_once()
        assert job_queue.job().lease == job.lease
        job_queue.database.write(lambda db: enqueue(db, "note", 2))
        assert worker.run_once()
        assert [each.id for each in job_queue.jobs()] == [job.id]

    def test_small_clock_differences_are_ignored(self, job_queue: JobQueue) -> None:
        job_queue.database.write(lambda db: enqueue(db, "note", 1))
        job_queue.clock.step(seconds=-30)
        worker = JobWorker(job_queue.database, {"note": lambda *_: None}, [], job_queue.log)
        assert not worker.run_once()
        job_queue.clock.step(seconds=30)
        assert worker.run_once()


def test_a_lost_lease_does_not_stop_the_worker(job_queue: JobQueue) -> None:
    """An administrator drops a job while it runs."""
    database = open_database(job_queue.settings)

    def handler(_: Database, payload: Any) -> None:
        job_queue.database.write(lambda db: db.delete(jobs, job_queue.job().id))

    worker = JobWorker(database, {"note": handler}, [], job_queue.log)
    database.write(lambda db: enqueue(db, "note", wall_clock()))
    assert worker.run_once()
    assert "job was taken over" in job_queue.lines.getvalue()
    database.close()
