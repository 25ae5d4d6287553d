"""Enqueueing: transactions, schedules and unique keys."""

import threading

import pytest

from ingot.core.db.connection import Connection
from ingot.core.db.times import add_duration
from ingot.core.jobs.leases import JobCapacity, claim_jobs, fail_job, postpone_job
from ingot.core.jobs.queue import enqueue
from ingot.core.jobs.worker import JobWorker
from tests.jobs.conftest import JobQueue
from tests.statements import executed


def test_a_rolled_back_transaction_leaves_no_job(job_queue: JobQueue) -> None:
    def work(db: Connection) -> None:
        enqueue(db, "note", 1)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        job_queue.database.write(work)
    assert job_queue.jobs() == []

    job_queue.database.write(lambda db: enqueue(db, "note", 2))
    assert job_queue.job().payload == "2"


def test_a_job_runs_once_with_its_payload_and_is_deleted(job_queue: JobQueue) -> None:
    seen: list[object] = []
    worker = JobWorker(job_queue.database, {"note": lambda _, payload: seen.append(payload)}, [], job_queue.log)
    job_queue.database.write(lambda db: enqueue(db, "note", {"a": [1, "ü"]}))
    assert [worker.run_once(), worker.run_once()] == [True, False]
    assert seen == [{"a": [1, "ü"]}]
    assert job_queue.jobs() == []


def test_a_scheduled_job_waits_for_its_time(job_queue: JobQueue) -> None:
    seen: list[object] = []
    worker = JobWorker(job_queue.database, {"note": lambda _, payload: seen.append(payload)}, [], job_queue.log)
    job_queue.database.write(lambda db: enqueue(db, "note", 1, run_at=add_duration(db.now, hours=1)))
    job_queue.clock.step(minutes=59)
    assert not worker.run_once()
    job_queue.clock.step(minutes=2)
    assert worker.run_once()
    assert seen == [1]


def test_polling_an_idle_queue_takes_few_reads_and_no_lock(job_queue: JobQueue) -> None:
    worker = JobWorker(job_queue.database, {}, [], job_queue.log)
    worker.run_once()
    before = executed(job_queue.database)
    # Another connection holds SQLite's only write lock; polling does not need it.
    other = job_queue.database.engine.connect(read_only=False)
    other.execute(job_queue.database.engine.begin_statement)
    assert not worker.run_once()
    other.execute("ROLLBACK")
    other.close()
    assert executed(job_queue.database) - before <= 2


class TestUnique:
    def test_an_equal_pending_key_adds_no_row(self, job_queue: JobQueue) -> None:
        first = job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        again = job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        other = job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="b"))
        keyless = [job_queue.database.write(lambda db: enqueue(db, "note", 1)) for _ in range(2)]
        assert first == again
        assert len({first, other, *keyless}) == 4 == len(job_queue.jobs())

    def test_within_one_transaction(self, job_queue: JobQueue) -> None:
        ids = job_queue.database.write(lambda db: {enqueue(db, "note", n, unique_key="a") for n in range(3)})
        assert ids == {job_queue.job().id}

    def test_a_key_is_free_when_its_job_starts(self, job_queue: JobQueue) -> None:
        """The running job may have read the old state, so the later request must not be lost."""
        first = job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        second = job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        assert second != first

    def test_the_earlier_time_wins_but_a_failed_job_keeps_its_delay(self, job_queue: JobQueue) -> None:
        job_queue.database.write(lambda db: enqueue(db, "note", 1, add_duration(db.now, hours=2), unique_key="a"))
        job_queue.database.write(lambda db: enqueue(db, "note", 1, add_duration(db.now, hours=1), unique_key="a"))
        assert job_queue.job().run_at == add_duration(job_queue.clock(), hours=1)
        job_queue.database.write(lambda db: enqueue(db, "note", 1, add_duration(db.now, hours=3), unique_key="a"))
        assert job_queue.job().run_at == add_duration(job_queue.clock(), hours=1)

        job_queue.clock.step(hours=1)
        (job,) = job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        job_queue.database.write(lambda db: fail_job(db, job, "x"))
        paused = job_queue.job().run_at
        job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        assert job_queue.job().run_at == paused > job_queue.clock()

    @pytest.mark.parametrize("ends", ["fails", "is put off"])
    def test_a_rescheduled_job_yields_to_a_pending_one(self, job_queue: JobQueue, ends: str) -> None:
        job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        (job,) = job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60))
        second = job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        if ends == "fails":
            assert job_queue.database.write(lambda db: fail_job(db, job, "x"))
        else:
            assert job_queue.database.write(lambda db: postpone_job(db, job, 60))
        assert (job_queue.job().id, job_queue.job().attempts) == (second, 1 if ends == "fails" else 0)

    def test_concurrent_enqueueing_adds_one(self, job_queue: JobQueue) -> None:
        ids: list[int] = []
        line = threading.Barrier(8)

        def add() -> None:
            line.wait()
            ids.append(job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a")))

        threads = [threading.Thread(target=add) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ids == [job_queue.job().id] * 8

    def test_a_job_enqueued_again_is_not_claimed_before_the_commit(self, job_queue: JobQueue) -> None:
        """Otherwise it would run without the changes of the second transaction, and not again."""
        if job_queue.settings.embedded:
            pytest.skip("here writers queue for one lock anyway")
        job_queue.database.write(lambda db: enqueue(db, "note", 1, unique_key="a"))
        taken: list[object] = []

        def claim() -> None:
            taken.append(job_queue.database.write(lambda db: claim_jobs(db, JobCapacity(1), 60)))

        def work(db: Connection) -> None:
            enqueue(db, "note", 1, unique_key="a")
            thread = threading.Thread(target=claim)
            thread.start()
            thread.join()

        job_queue.database.write(work)
        assert taken == [[]]
        claim()
        assert taken[1]
