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
from tests.jobs.conftest import Bench


def _failing(error: Exception) -> Any:
    def handler(database: Database, payload: Any) -> None:
        raise error

    return handler


def _exhaust(bench: Bench, worker: JobWorker) -> list[float]:
    """Run the job until it is dead, and return the delays."""
    pauses = []
    while worker.run_once():
        job = bench.job()
        if job.state == "dead":
            break
        pauses.append((to_datetime(job.run_at) - to_datetime(bench.clock())).total_seconds())
        bench.clock.step(seconds=pauses[-1])
    return pauses


def test_a_failing_job_rests_ever_longer_then_is_dead_until_somebody_retries_it(bench: Bench) -> None:
    worker = JobWorker(bench.database, {"note": _failing(OSError(111, "Connection refused"))}, [], bench.log)
    bench.database.write(lambda db: enqueue(db, "note", 1))
    pauses = _exhaust(bench, worker)
    assert len(pauses) == MAX_ATTEMPTS - 1
    assert min(pauses) >= 5 and max(pauses) <= 3600
    assert all(pause <= 10 * 2**number for number, pause in enumerate(pauses))

    bench.clock.step(days=300)
    assert not worker.run_once()
    job = bench.job()
    assert (job.state, job.attempts, job.lease) == ("dead", MAX_ATTEMPTS, None)
    assert job.last_error == "ConnectionRefusedError: [Errno 111] Connection refused"

    bench.database.write(lambda db: retry_job(db, job.id))
    seen: list[object] = []
    healed = JobWorker(bench.database, {"note": lambda _, payload: seen.append(payload)}, [], bench.log)
    assert healed.run_once()
    assert (seen, bench.jobs()) == ([1], [])


def test_pauses_are_spread_between_five_seconds_and_an_hour() -> None:
    for attempts in range(1, MAX_ATTEMPTS + 1):
        longest = min(3600.0, 10.0 * 2 ** (attempts - 1))
        found = {retry_pause(attempts) for _ in range(50)}
        assert len(found) > 1
        assert longest / 2 <= min(found) <= max(found) <= longest


def test_all_dead_jobs_can_be_retried_and_any_dropped(bench: Bench) -> None:
    worker = JobWorker(bench.database, {}, [], bench.log)
    for number in range(2):
        bench.database.write(partial(enqueue, kind="unknown", payload=number))
    for _ in range(MAX_ATTEMPTS):
        while worker.run_once():
            pass
        bench.clock.step(hours=1)
    assert [job.state for job in bench.jobs()] == ["dead", "dead"]
    assert bench.jobs()[0].last_error == "LookupError: No handler for jobs of this kind"
    assert bench.database.write(retry_dead) == 2
    assert [(job.state, job.attempts) for job in bench.jobs()] == [("waiting", 0)] * 2
    bench.database.write(lambda db: delete_job(db, bench.jobs()[0].id))
    assert len(bench.jobs()) == 1


def test_a_unique_job_that_always_dies_leaves_one_row(bench: Bench) -> None:
    worker = JobWorker(bench.database, {}, [], bench.log)
    for _ in range(2):
        bench.database.write(lambda db: enqueue(db, "unknown", None, unique_key="a"))
        for _ in range(MAX_ATTEMPTS):
            worker.run_once()
            bench.clock.step(hours=1)
    assert bench.job().state == "dead"


def test_retrying_a_dead_job_whose_key_waits_runs_it_once(bench: Bench) -> None:
    worker = JobWorker(bench.database, {}, [], bench.log)
    dead = bench.database.write(lambda db: enqueue(db, "unknown", None, unique_key="a"))
    _exhaust(bench, worker)
    waiting = bench.database.write(lambda db: enqueue(db, "unknown", None, unique_key="a"))
    assert bench.database.write(lambda db: retry_job(db, dead)) == waiting == bench.job().id


def test_later_is_no_failure(bench: Bench) -> None:
    bench.database.write(lambda db: enqueue(db, "note", 1))
    worker = JobWorker(bench.database, {"note": _failing(RetryLater(90))}, [], bench.log)
    for _ in range(MAX_ATTEMPTS + 3):
        assert worker.run_once()
        assert not worker.run_once()
        job = bench.job()
        assert (job.state, job.attempts, job.run_at) == ("waiting", 0, add_duration(bench.clock(), seconds=90))
        bench.clock.step(seconds=90)
    assert bench.database.read(queue_stats).failures == {}
    assert "job failed" not in bench.lines.getvalue()


def test_failures_are_counted_by_kind(bench: Bench) -> None:
    worker = JobWorker(bench.database, {"a": _failing(OSError()), "b": _failing(OSError())}, [], bench.log)
    for kind in ("a", "a", "b"):
        bench.database.write(partial(enqueue, kind=kind, payload=None))
        assert worker.run_once()
    numbers = bench.database.read(queue_stats)
    assert numbers.failures == {"a": 2, "b": 1}
    assert (numbers.waiting, numbers.running, numbers.dead, numbers.oldest_seconds) == (3, 0, 0, 0.0)
    bench.clock.step(hours=2)
    assert 7000 < bench.database.read(queue_stats).oldest_seconds <= 7200


SECRET = "hunter2-and-more"
LEAKS = [
    RuntimeError(f"could not send {SECRET}"),
    RuntimeError(f"cannot {[SECRET]!r}"),
    KeyError(SECRET),
    RuntimeError(SECRET * 1000),
    RuntimeError("no https://joe:s3same@example.com/x?private_token=abcdefgh"),
    RuntimeError("glpat-0123456789abcdefghij"),
]


@pytest.mark.parametrize("error", LEAKS, ids=range(len(LEAKS)))
def test_secrets_and_payloads_are_neither_logged_nor_kept(bench: Bench, error: Exception) -> None:
    """A handler's error quotes its input; administrators read the log and the list of jobs."""
    payload = {"list": [{"password": SECRET}], "text": f"Dear all,\nthe word is {SECRET}"}
    bench.database.write(lambda db: enqueue(db, "note", payload))
    JobWorker(bench.database, {"note": _failing(error)}, [], bench.log).run_once()
    kept = bench.job().last_error
    assert kept is not None and kept.startswith(type(error).__name__) and len(kept) < 300
    (line,) = bench.lines.getvalue().splitlines()
    assert json.loads(line)["error"] == type(error).__name__
    for text in (kept, line):
        for secret in (SECRET, "hunter2", "s3same", "abcdefgh", "0123456789"):
            assert secret not in text


def test_of_a_drivers_error_only_the_type_is_kept(bench: Bench) -> None:
    bench.database.write(lambda db: enqueue(db, "note", 1))
    JobWorker(bench.database, {"note": _failing(bench.database.engine.errors("value (x)"))}, [], bench.log).run_once()
    assert bench.job().last_error == bench.database.engine.errors.__name__
