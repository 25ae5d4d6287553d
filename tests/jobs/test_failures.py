"""Failing jobs: growing delays, then dead until retried."""

import json
from functools import partial
from typing import Any

import pytest

from ingot.core.db.database import Database
from ingot.core.db.times import add_duration, to_datetime
from ingot.core.jobs.admin import delete_job, retry_dead, retry_job
from ingot.core.jobs.handlers import RetryLater
from ingot.core.jobs.leases import retry_pause
from ingot.core.jobs.queue import MAX_ATTEMPTS, enqueue
from ingot.core.jobs.statistics import queue_stats
from ingot.core.jobs.worker import JobWorker
from tests.jobs.conftest import JobQueue


def _failing(error: Exception) -> Any:
    def handler(database: Database, payload: Any) -> None:
        raise error

    return handler


def _exhaust(job_queue: JobQueue, worker: JobWorker) -> list[float]:
    """Run the job until it is dead, and return the delays."""
    pauses = []
    while worker.run_once():
        job = job_queue.job()
        if job.state == "dead":
            break
        pauses.append((to_datetime(job.run_at) - to_datetime(job_queue.clock())).total_seconds())
        job_queue.clock.step(seconds=pauses[-1])
    return pauses


def test_delays_grow_until_the_job_is_dead_and_retried(job_queue: JobQueue) -> None:
    worker = JobWorker(job_queue.database, {"note": _failing(OSError(111, "Connection refused"))}, [], job_queue.log)
    job_queue.database.write(lambda db: enqueue(db, "note", 1))
    pauses = _exhaust(job_queue, worker)
    assert len(pauses) == MAX_ATTEMPTS - 1
    assert min(pauses) >= 5 and max(pauses) <= 3600
    assert all(pause <= 10 * 2**number for number, pause in enumerate(pauses))

    job_queue.clock.step(days=300)
    assert not worker.run_once()
    job = job_queue.job()
    assert (job.state, job.attempts, job.lease) == ("dead", MAX_ATTEMPTS, None)
    assert job.last_error == "ConnectionRefusedError: [Errno 111] Connection refused"

    job_queue.database.write(lambda db: retry_job(db, job.id))
    seen: list[object] = []
    healed = JobWorker(job_queue.database, {"note": lambda _, payload: seen.append(payload)}, [], job_queue.log)
    assert healed.run_once()
    assert (seen, job_queue.jobs()) == ([1], [])


def test_delays_are_between_five_seconds_and_an_hour() -> None:
    for attempts in range(1, MAX_ATTEMPTS + 1):
        longest = min(3600.0, 10.0 * 2 ** (attempts - 1))
        found = {retry_pause(attempts) for _ in range(50)}
        assert len(found) > 1
        assert longest / 2 <= min(found) <= max(found) <= longest


def test_all_dead_jobs_can_be_retried_and_any_dropped(job_queue: JobQueue) -> None:
    worker = JobWorker(job_queue.database, {"broken": _failing(ValueError("broken"))}, [], job_queue.log)
    for number in range(2):
        job_queue.database.write(partial(enqueue, kind="broken", payload=number))
    for _ in range(MAX_ATTEMPTS):
        while worker.run_once():
            pass
        job_queue.clock.step(hours=1)
    assert [job.state for job in job_queue.jobs()] == ["dead", "dead"]
    assert job_queue.jobs()[0].last_error == "ValueError: broken"
    assert job_queue.database.write(retry_dead) == 2
    assert [(job.state, job.attempts) for job in job_queue.jobs()] == [("waiting", 0)] * 2
    job_queue.database.write(lambda db: delete_job(db, job_queue.jobs()[0].id))
    assert len(job_queue.jobs()) == 1


def test_jobs_of_unknown_kinds_are_left_to_other_nodes(job_queue: JobQueue) -> None:
    """During an upgrade, nodes with the old version meet jobs that only the new one knows."""
    seen: list[object] = []
    old = JobWorker(job_queue.database, {"note": lambda *_: None}, [], job_queue.log)
    new = JobWorker(job_queue.database, {"new": lambda _, payload: seen.append(payload)}, [], job_queue.log)
    for payload in (1, 2):
        job_queue.database.write(partial(enqueue, kind="new", payload=payload))
    assert (old.run_once(), old.run_once()) == (True, False)
    assert [(job.state, job.attempts) for job in job_queue.jobs()] == [("waiting", 0)] * 2
    assert job_queue.database.read(queue_stats).failures == {}
    while new.run_once():
        pass
    assert sorted(seen, key=str) == [1, 2]


def test_a_unique_job_that_always_fails_leaves_one_row(job_queue: JobQueue) -> None:
    worker = JobWorker(job_queue.database, {"broken": _failing(ValueError("broken"))}, [], job_queue.log)
    for _ in range(2):
        job_queue.database.write(lambda db: enqueue(db, "broken", None, unique_key="a"))
        for _ in range(MAX_ATTEMPTS):
            worker.run_once()
            job_queue.clock.step(hours=1)
    assert job_queue.job().state == "dead"


def test_retrying_a_dead_job_with_a_pending_key_runs_once(job_queue: JobQueue) -> None:
    worker = JobWorker(job_queue.database, {"broken": _failing(ValueError("broken"))}, [], job_queue.log)
    dead = job_queue.database.write(lambda db: enqueue(db, "broken", None, unique_key="a"))
    _exhaust(job_queue, worker)
    waiting = job_queue.database.write(lambda db: enqueue(db, "broken", None, unique_key="a"))
    assert job_queue.database.write(lambda db: retry_job(db, dead)) == waiting == job_queue.job().id


def test_rescheduling_is_no_failure(job_queue: JobQueue) -> None:
    job_queue.database.write(lambda db: enqueue(db, "note", 1))
    worker = JobWorker(job_queue.database, {"note": _failing(RetryLater(90))}, [], job_queue.log)
    for _ in range(MAX_ATTEMPTS + 3):
        assert worker.run_once()
        assert not worker.run_once()
        job = job_queue.job()
        assert (job.state, job.attempts, job.run_at) == ("waiting", 0, add_duration(job_queue.clock(), seconds=90))
        job_queue.clock.step(seconds=90)
    assert job_queue.database.read(queue_stats).failures == {}
    assert "job failed" not in job_queue.lines.getvalue()


def test_failures_are_counted_by_kind(job_queue: JobQueue) -> None:
    worker = JobWorker(job_queue.database, {"a": _failing(OSError()), "b": _failing(OSError())}, [], job_queue.log)
    for kind in ("a", "a", "b"):
        job_queue.database.write(partial(enqueue, kind=kind, payload=None))
        assert worker.run_once()
    numbers = job_queue.database.read(queue_stats)
    assert numbers.failures == {"a": 2, "b": 1}
    assert (numbers.waiting, numbers.running, numbers.dead, numbers.oldest_seconds) == (3, 0, 0, 0.0)
    job_queue.clock.step(hours=2)
    assert 7000 < job_queue.database.read(queue_stats).oldest_seconds <= 7200


SECRET = "hunter2-and-more"
LEAKING_ERRORS = [
    RuntimeError(f"could not send {SECRET}"),
    RuntimeError(f"cannot {[SECRET]!r}"),
    KeyError(SECRET),
    RuntimeError(SECRET * 1000),
    RuntimeError("no https://joe:s3same@example.com/x?private_token=abcdefgh"),
    RuntimeError("glpat-0123456789abcdefghij"),
]


@pytest.mark.parametrize("error", LEAKING_ERRORS, ids=range(len(LEAKING_ERRORS)))
def test_secrets_and_payloads_are_neither_logged_nor_stored(job_queue: JobQueue, error: Exception) -> None:
    """A handler's error quotes its input; administrators read the log and the list of jobs."""
    payload = {"list": [{"password": SECRET}], "text": f"Dear all,\nthe word is {SECRET}"}
    job_queue.database.write(lambda db: enqueue(db, "note", payload))
    JobWorker(job_queue.database, {"note": _failing(error)}, [], job_queue.log).run_once()
    kept = job_queue.job().last_error
    assert kept is not None and kept.startswith(type(error).__name__) and len(kept) < 300
    (line,) = job_queue.lines.getvalue().splitlines()
    assert json.loads(line)["error"] == type(error).__name__
    for text in (kept, line):
        for secret in (SECRET, "hunter2", "s3same", "abcdefgh", "0123456789"):
            assert secret not in text


def test_only_the_type_of_a_driver_error_is_stored(job_queue: JobQueue) -> None:
    job_queue.database.write(lambda db: enqueue(db, "note", 1))
    JobWorker(
        job_queue.database, {"note": _failing(job_queue.database.engine.errors("value (x)"))}, [], job_queue.log
    ).run_once()
    assert job_queue.job().last_error == job_queue.database.engine.errors.__name__
