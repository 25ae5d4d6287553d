"""Several worker processes on one queue, and their shutdown."""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import update

from ingot.core.db.connection import Connection
from ingot.core.errors import Unavailable
from ingot.core.jobs.queue import enqueue, wake_workers
from ingot.core.jobs.tables import jobs, recurring_jobs
from ingot.server.app import open_database
from tests import fork_server
from tests.jobs.conftest import DEADLINE_SECONDS, JobQueue, until
from tests.jobs.test_leases import LEASE

Start = Callable[..., fork_server.ForkedProcess]


@pytest.fixture
def start(job_queue: JobQueue, tmp_path: Path) -> Iterator[Start]:
    """Yield a function that starts workers that write to the test's folder."""
    processes: list[fork_server.ForkedProcess] = []

    def begin(lease: float = 60.0, grace: float = 8.0) -> fork_server.ForkedProcess:
        arguments = [
            str(job_queue.settings.data),
            job_queue.settings.database_url,
            str(tmp_path),
            str(lease),
            str(grace),
        ]
        process = fork_server.start("tests.jobs.process", *arguments)
        processes.append(process)
        return process

    yield begin
    for process in processes:
        process.kill()
        process.wait()


def notes(folder: Path) -> list[str]:
    file = folder / "notes"
    return file.read_text().splitlines() if file.exists() else []


def add(job_queue: JobQueue, kind: str, *payloads: object) -> None:
    database = open_database(job_queue.settings)
    for payload in payloads:
        database.write(partial(enqueue, kind=kind, payload=payload))
    database.close()


def expire_leases(db: Connection) -> None:
    """End all leases, and wake the workers; the clock of the queue shows the time at which the test began."""
    db.run(update(jobs).where(jobs.c.state == "running").values(leased_until=db.now))
    wake_workers(db)


def test_the_job_of_a_killed_worker_is_taken_over(job_queue: JobQueue, start: Start, tmp_path: Path) -> None:
    add(job_queue, "hang", "done")
    first = start(lease=LEASE)
    until((tmp_path / f"hanging-{first.pid}").exists)
    second = start()
    # The first renews its lease while it lives, so the second gets nothing.
    held = job_queue.job("hang").leased_until
    until(lambda: job_queue.job("hang").leased_until != held)
    assert not (tmp_path / f"hanging-{second.pid}").exists()
    first.kill()
    first.wait()
    job_queue.database.write(expire_leases)
    until((tmp_path / f"hanging-{second.pid}").exists)
    (tmp_path / "go").touch()
    until(lambda: "done" in notes(tmp_path) and not job_queue.jobs())
    assert notes(tmp_path).count("done") == 1


def test_two_workers_share_the_jobs_and_run_each_once(job_queue: JobQueue, start: Start, tmp_path: Path) -> None:
    expected = [str(number) for number in range(60)]
    add(job_queue, "note", *expected[:30])
    # A recurring job that is due runs once too, although both start at the same time.
    job_queue.database.write(lambda db: db.insert_row(recurring_jobs, name="of the tests", next_run_at=db.now))
    start(), start()
    add(job_queue, "note", *expected[30:])
    until(lambda: not job_queue.jobs() and len(notes(tmp_path)) >= 61)
    assert Counter(notes(tmp_path)) == Counter([*expected, "recurred"])


def test_sigterm_lets_a_running_job_finish(job_queue: JobQueue, start: Start, tmp_path: Path) -> None:
    worker = start(grace=DEADLINE_SECONDS)
    add(job_queue, "hang", "done")
    until((tmp_path / f"hanging-{worker.pid}").exists)
    until(lambda: [job.kind for job in job_queue.jobs()] == ["hang"])
    worker.terminate()
    add(job_queue, "note", "too late")
    (tmp_path / "go").touch()
    assert worker.wait(DEADLINE_SECONDS) == 0
    assert notes(tmp_path) == ["done"]
    assert job_queue.job("note").state == "waiting"


def test_sigterm_releases_a_job_that_takes_too_long(job_queue: JobQueue, start: Start, tmp_path: Path) -> None:
    worker = start(grace=0.1)
    add(job_queue, "hang", "done")
    until((tmp_path / f"hanging-{worker.pid}").exists)
    worker.terminate()
    assert worker.wait(DEADLINE_SECONDS) == 0
    job = job_queue.job("hang")
    assert (job.state, job.attempts, job.lease) == ("waiting", 0, None)
    (tmp_path / "go").touch()
    start()
    until(lambda: "done" in notes(tmp_path))


def _states(pid: int) -> set[str]:
    """Return whether its threads run, sleep or are stopped."""
    return {stat.read_text().rpartition(")")[2].split()[0] for stat in Path(f"/proc/{pid}/task").glob("*/stat")}


def _stopped_without_lock(job_queue: JobQueue, pid: int) -> bool:
    """Stop a process where it holds no lock that other workers wait for, and end its leases."""
    os.kill(pid, signal.SIGSTOP)
    until(lambda: _states(pid) == {"T"})  # The signal takes effect a little later, for each thread by itself.
    try:
        job_queue.database.write(expire_leases)
    except Unavailable:
        os.kill(pid, signal.SIGCONT)
        return False
    return True


def test_a_suspended_process_loses_its_job(job_queue: JobQueue, start: Start, tmp_path: Path) -> None:
    """SIGSTOP for longer than the lease: two run the job, and only one finishes it."""
    first = start(lease=LEASE)
    add(job_queue, "hang", "done")
    until((tmp_path / f"hanging-{first.pid}").exists)
    until(lambda: _stopped_without_lock(job_queue, first.pid))
    second = start()
    until((tmp_path / f"hanging-{second.pid}").exists)
    assert job_queue.job("hang").attempts == 2
    os.kill(first.pid, signal.SIGCONT)
    (tmp_path / "go").touch()
    until(lambda: notes(tmp_path).count("done") == 2 and not job_queue.jobs())
