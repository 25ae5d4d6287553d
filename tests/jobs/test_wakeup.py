"""Wake-up of workers: bounded polling, no busy waiting."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from ingot.core.db import engines
from ingot.core.db.engines import SqliteWatch, Watch
from ingot.core.jobs.queue import enqueue
from ingot.core.jobs.worker import MAX_SLEEP_SECONDS, JobWorker
from ingot.server.app import open_database
from tests.jobs.conftest import JobQueue, until
from tests.statements import count_statements, executed, polls


@pytest.fixture
def watch(job_queue: JobQueue) -> Iterator[Watch]:
    """Yield a watch that has seen all jobs."""
    with closing(job_queue.database.engine.watch("jobs")) as watch:
        watch.wait(0, [])
        yield watch


def test_work_enqueued_before_the_wait_ends_it_at_the_first_poll(job_queue: JobQueue, watch: Watch) -> None:
    """Jobs committed between polling the queue and waiting must not be missed."""
    job_queue.database.write(lambda db: enqueue(db, "note", 1))
    before = polls(job_queue.database)
    watch.wait(MAX_SLEEP_SECONDS, [])
    assert polls(job_queue.database) - before <= 1


def test_work_enqueued_during_the_wait_ends_it(
    job_queue: JobQueue, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that commits wakes the watch, which would not look for a long time otherwise."""
    monkeypatch.setattr(engines, "POLL_SECONDS", MAX_SLEEP_SECONDS)
    committed: list[int] = []
    waiting = threading.Event()

    def add() -> None:
        waiting.wait()
        database = open_database(job_queue.settings)
        database.write(lambda db: enqueue(db, "note", 1))
        committed.append(polls(job_queue.database))
        database.close()

    thread = threading.Thread(target=add)
    thread.start()
    waiting.set()
    began = time.monotonic()
    watch.wait(MAX_SLEEP_SECONDS, [])
    assert time.monotonic() - began < MAX_SLEEP_SECONDS / 2
    thread.join()
    assert polls(job_queue.database) - committed[0] <= 2


def test_a_commit_without_wakeup_is_seen_at_the_next_poll(
    job_queue: JobQueue, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that committed may have been killed before it could wake the watch."""
    if not isinstance(watch, SqliteWatch):
        pytest.skip("The server notifies as part of the commit.")
    monkeypatch.setattr(engines, "POLL_SECONDS", 0.01)
    monkeypatch.setattr(engines, "wake_all", lambda _: None)
    began = time.monotonic()
    job_queue.database.write(lambda db: enqueue(db, "note", 1))
    watch.wait(MAX_SLEEP_SECONDS, [])
    assert time.monotonic() - began < MAX_SLEEP_SECONDS / 2


def test_a_rolled_back_job_wakes_no_worker(job_queue: JobQueue, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "POLL_SECONDS", 0.05)
    raw = job_queue.database.engine.connect(read_only=False)
    raw.execute(job_queue.database.engine.begin_statement)
    raw.execute("DELETE FROM jobs")
    raw.execute("ROLLBACK")
    raw.close()
    before, began = polls(job_queue.database), time.monotonic()
    watch.wait(0.15, [])
    assert polls(job_queue.database) - before >= (2 if isinstance(watch, SqliteWatch) else 1)
    assert time.monotonic() - began >= 0.15, "It waited until the time was over."


def test_a_readable_descriptor_ends_the_wait_at_once(job_queue: JobQueue, watch: Watch) -> None:
    stop, stopper = os.pipe()
    os.close(stopper)
    before = polls(job_queue.database)
    watch.wait(MAX_SLEEP_SECONDS, [stop])
    os.close(stop)
    assert polls(job_queue.database) - before <= 1


def test_a_watch_is_reported_by_readiness(job_queue: JobQueue) -> None:
    engine = job_queue.database.engine
    until(
        lambda: not engine.is_served("jobs")
    )  # PostgreSQL notices the end of other tests' connections a moment later.
    with closing(engine.watch("jobs")):
        assert engine.is_served("jobs")
    until(lambda: not engine.is_served("jobs"))


def test_an_idle_worker_runs_no_queries(job_queue: JobQueue, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks once, then sleeps; forty looks at the counter later it has asked nothing more."""
    monkeypatch.setattr(engines, "POLL_SECONDS", 0.02)
    database = count_statements(open_database(job_queue.settings))
    performed: list[object] = []
    worker = JobWorker(database, {"note": lambda _, payload: performed.append(payload)}, [], job_queue.log)
    stop, stopper = os.pipe()
    thread = threading.Thread(target=worker.run, args=([stop],))
    thread.start()
    if job_queue.settings.embedded:
        until(lambda: polls(database) >= 5)
        before, seen = executed(database), polls(database)
        until(lambda: polls(database) >= seen + 40)
        assert executed(database) == before
    job_queue.database.write(lambda db: enqueue(db, "note", 1))
    until(lambda: performed == [1])
    os.close(stopper)
    thread.join(60)
    assert not thread.is_alive()
    os.close(stop)
    assert executed(database) < 60
    database.close()


def test_a_lost_connection_is_restored(job_queue: JobQueue) -> None:
    """After a restart of the database, the worker is ready again without its own restart."""
    if job_queue.settings.embedded:
        pytest.skip("there is no server to lose")
    engine = job_queue.database.engine
    with closing(engine.watch("jobs")) as watch:
        raw = engine.connect(read_only=False)
        raw.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        raw.close()
        until(lambda: not engine.is_served("jobs"))
        for _ in range(3):
            watch.wait(MAX_SLEEP_SECONDS, [])  # Ends each time, because the connection did.
        assert engine.is_served("jobs")
        before = polls(job_queue.database)
        job_queue.database.write(lambda db: enqueue(db, "note", 1))
        watch.wait(MAX_SLEEP_SECONDS, [])
        assert polls(job_queue.database) == before
