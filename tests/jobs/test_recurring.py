"""Recurring jobs."""

import os
import threading
from functools import partial

import pytest

from ingot.ci.pipelines.stuck_jobs import STUCK_SEARCH_SECONDS, enqueue_stuck_job_search
from ingot.core.db.connection import Connection
from ingot.core.jobs.schedule import RecurringJob, postpone_recurring
from ingot.core.jobs.worker import JobWorker
from ingot.server.app import open_database
from ingot.server.jobs import recurring_jobs
from tests.jobs.conftest import JobQueue, until


def _run(*workers: JobWorker) -> None:
    while sum(worker.run_once() for worker in workers):
        pass


def test_each_occurrence_runs_once(job_queue: JobQueue) -> None:
    ran: list[str] = []
    recurring = [RecurringJob(600, lambda _: ran.append("a"), "a"), RecurringJob(3600, lambda _: ran.append("b"), "b")]
    other = open_database(job_queue.settings, job_queue.clock)
    workers = [JobWorker(database, {}, recurring, job_queue.log) for database in (job_queue.database, other)]
    # A job that is new to the database waits for one interval.
    _run(*workers)
    job_queue.clock.step(seconds=599)
    _run(*workers)
    assert ran == []
    job_queue.clock.step(seconds=1)
    _run(*reversed(workers))
    assert ran == ["a"]
    # Several missed occurrences become one.
    job_queue.clock.step(days=3)
    _run(*workers)
    assert sorted(ran) == ["a", "a", "b"]
    other.close()


def test_a_failed_occurrence_is_retried_and_does_not_pile_up(job_queue: JobQueue) -> None:
    def work(db: Connection) -> None:
        raise OSError

    worker = JobWorker(job_queue.database, {}, [RecurringJob(600, work)], job_queue.log)
    for _ in range(200):
        _run(worker)
        job_queue.clock.step(seconds=600)
        assert len(job_queue.jobs()) <= 2
    assert {job.kind for job in job_queue.jobs()} == {"recurring:work"}


def test_a_shorter_interval_and_a_clock_set_back_do_not_delay_it(job_queue: JobQueue) -> None:
    ran: list[int] = []
    daily = JobWorker(job_queue.database, {}, [RecurringJob(86_400, lambda _: ran.append(1), "a")], job_queue.log)
    _run(daily)
    job_queue.clock.step(days=1)
    _run(daily)
    assert len(ran) == 1
    job_queue.clock.step(hours=1)
    hourly = JobWorker(job_queue.database, {}, [RecurringJob(1800, lambda _: ran.append(1), "a")], job_queue.log)
    _run(hourly)
    assert len(ran) == 2
    job_queue.clock.step(days=-30)
    _run(hourly)
    assert len(ran) == 3


def test_a_postponed_job_waits_for_its_whole_interval(job_queue: JobQueue) -> None:
    """The demo keeps a running server from searching stuck jobs, of which it has many."""
    ran: list[str] = []
    entry = RecurringJob(60, lambda _: ran.append("a"), "a")
    worker = JobWorker(job_queue.database, {}, [entry], job_queue.log)
    _run(worker)
    for _ in range(3):
        job_queue.clock.step(seconds=50)
        job_queue.database.write(partial(postpone_recurring, entry=entry, now=job_queue.clock()))
        _run(worker)
    assert ran == []
    job_queue.clock.step(seconds=60)
    _run(worker)
    assert ran == ["a"]
    search = RecurringJob(STUCK_SEARCH_SECONDS, enqueue_stuck_job_search)
    scheduled = {each.key: each.every_seconds for each in recurring_jobs(job_queue.settings)}
    assert scheduled[search.key] == search.every_seconds


def test_they_run_one_after_the_other(job_queue: JobQueue) -> None:
    """Each thread would open a connection of its own, and so take memory."""
    threads: list[str] = []
    names = ("a", "b", "c", "d")
    recurring = [RecurringJob(60, lambda _: threads.append(threading.current_thread().name), name) for name in names]
    worker = JobWorker(job_queue.database, {}, recurring, job_queue.log)
    _run(worker)
    job_queue.clock.step(seconds=60)
    stopping, stop = os.pipe()
    running = threading.Thread(target=worker.run, args=[[stopping]])
    running.start()
    until(lambda: len(threads) == len(names) and not job_queue.jobs())
    os.close(stop)
    running.join()
    os.close(stopping)
    assert set(threads) == {"jobs-1"}


def test_duplicate_names_are_rejected(job_queue: JobQueue) -> None:
    with pytest.raises(ValueError, match="same name"):
        JobWorker(job_queue.database, {}, [RecurringJob(1, repr, "a"), RecurringJob(2, repr, "a")], job_queue.log)
