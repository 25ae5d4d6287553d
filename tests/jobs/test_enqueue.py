"""Enqueueing: transactions, schedules and unique keys."""

import threading

import pytest

from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.jobs.leases import JobCapacity, claim_jobs, fail_job, postpone_job
from ingot.core.jobs.queue import enqueue
from ingot.core.jobs.worker import JobWorker
from tests.jobs.conftest import Bench
from tests.statements import executed


def test_a_rolled_back_transaction_leaves_no_job(bench: Bench) -> None:
    def work(db: Connection) -> None:
        enqueue(db, "note", 1)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        bench.database.write(work)
    assert bench.jobs() == []

    bench.database.write(lambda db: enqueue(db, "note", 2))
    assert bench.job().payload == "2"


def test_a_job_runs_once_with_its_payload_and_is_gone(bench: Bench) -> None:
    seen: list[object] = []
    worker = JobWorker(bench.database, {"note": lambda _, payload: seen.append(payload)}, [], bench.log)
    bench.database.write(lambda db: enqueue(db, "note", {"a": [1, "ü"]}))
    assert [worker.run_once(), worker.run_once()] == [True, False]
    assert seen == [{"a": [1, "ü"]}]
    assert bench.jobs() == []


def test_a_scheduled_job_waits_for_its_time(bench: Bench) -> None:
    seen: list[object] = []
    worker = JobWorker(bench.database, {"note": lambda _, payload: seen.append(payload)}, [], bench.log)
    bench.database.write(lambda db: enqueue(db, "note", 1, run_at=add_duration(db.now, hours=1)))
    bench.clock.step(minutes=59)
    assert not worker.run_once()
    bench.clock.step(minutes=2)
    assert worker.run_once()
    assert seen == [1]


def test_looking_into_an_idle_queue_takes_few_reads_and_no_lock(bench: Bench) -> None:
    worker = JobWorker(bench.database, {}, [], bench.log)
    worker.run_once()
    before = executed(bench.database)
    # Another connection holds SQLite's only write lock; polling does not need it.
    other = bench.database.engine.connect(read_only=False)
    other.execute(bench.database.engine.begin_statement)
    assert not worker.run_once()
    other.execute("ROLLBACK")
    other.close()
    assert executed(bench.database) - before <= 2


class TestUnique:
    def test_an_equal_key_that_waits_makes_no_second_row(self, bench: Bench) -> None:
        first = bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        again = bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        other = bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="b"))
        keyless = [bench.database.write(lambda db: enqueue(db, "note", 1)) for _ in range(2)]
        assert first == again
        assert len({first, other, *keyless}) == 4 == len(bench.jobs())

    def test_within_one_transaction_too(self, bench: Bench) -> None:
        ids = bench.database.write(lambda db: {enqueue(db, "note", n, unique_key="a") for n in range(3)})
        assert ids == {bench.job().id}

    def test_a_key_is_free_again_once_its_job_runs(self, bench: Bench) -> None:
        """The running job may have read the old state, so the later request must not be lost."""
        first = bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        second = bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        assert second != first

    def test_the_earlier_time_wins_but_a_failed_job_keeps_its_pause(self, bench: Bench) -> None:
        bench.database.write(lambda db: enqueue(db, "note", 1, add_duration(db.now, hours=2), unique_key="a"))
        bench.database.write(lambda db: enqueue(db, "note", 1, add_duration(db.now, hours=1), unique_key="a"))
        assert bench.job().run_at == add_duration(bench.clock(), hours=1)
        bench.database.write(lambda db: enqueue(db, "note", 1, add_duration(db.now, hours=3), unique_key="a"))
        assert bench.job().run_at == add_duration(bench.clock(), hours=1)

        bench.clock.step(hours=1)
        (job,) = bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        bench.database.write(lambda db: fail_job(db, job, "x"))
        paused = bench.job().run_at
        bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        assert bench.job().run_at == paused > bench.clock()

    @pytest.mark.parametrize("ends", ["fails", "is put off"])
    def test_a_job_that_comes_back_gives_way_to_the_one_that_waits(self, bench: Bench, ends: str) -> None:
        bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        (job,) = bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        second = bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        if ends == "fails":
            assert bench.database.write(lambda db: fail_job(db, job, "x"))
        else:
            assert bench.database.write(lambda db: postpone_job(db, job, 60))
        assert (bench.job().id, bench.job().attempts) == (second, 1 if ends == "fails" else 0)

    def test_many_at_once_make_one(self, bench: Bench) -> None:
        ids: list[int] = []
        line = threading.Barrier(8)

        def add() -> None:
            line.wait()
            ids.append(bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a")))

        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ids == [bench.job().id] * 8

    def test_a_job_wished_for_again_is_not_taken_before_the_wish_is_committed(self, bench: Bench) -> None:
        """Otherwise it would run without the changes of the second transaction, and not again."""
        if bench.settings.embedded:
            pytest.skip("here writers queue for one lock anyway")
        bench.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        taken: list[object] = []

        def take() -> None:
            taken.append(bench.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60)))

        def work(db: Connection) -> None:
            enqueue(db, "note", 1, unique_key="a")
            thread = threading.Thread(target=take)
            thread.start()
            thread.join()

        bench.database.write(work)
        assert taken == [[]]
        take()
        assert taken[1]
