"""Separate instance for the queue, so that other tests do not run its jobs."""

import io
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from sqlalchemy import delete, select

from ingot.core.db.clocks import wall_clock
from ingot.core.db.connection import Connection
from ingot.core.db.times import Timestamp, add_duration
from ingot.core.jobs.tables import Job, job_failures, jobs, recurring_jobs
from ingot.core.log import Log
from ingot.core.settings import Settings
from ingot.server.app import open_database
from ingot.server.startup import initialize_instance
from tests.statements import count_statements

DEADLINE_SECONDS = 60.0
_ALL = select(jobs).order_by(jobs.c.id)


class SettableClock:
    """Clock that tests set."""

    def __init__(self) -> None:
        self.now = wall_clock()

    def __call__(self) -> Timestamp:
        return self.now

    def step(self, **delta: float) -> None:
        self.now = add_duration(self.now, **delta)


class JobQueue:
    """Database of the queue with accessors for tests."""

    def __init__(self, settings: Settings, clock: SettableClock) -> None:
        self.settings = settings
        self.clock = clock
        self.database = count_statements(open_database(settings, clock))
        self.lines = io.StringIO()
        self.log = Log("json", self.lines)

    def jobs(self) -> list[Job]:
        return self.database.read(lambda db: db.all(Job, _ALL))

    def job(self, kind: str = "") -> Job:
        """Return the only job, or the only one of its kind."""
        (job,) = (job for job in self.jobs() if kind in ("", job.kind))
        return job


def until(holds: Callable[[], object]) -> None:
    """Wait for a condition."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


@pytest.fixture(scope="session")
def queue_settings(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Settings:
    """Return the settings of an instance without a server."""
    if database_url:
        import psycopg

        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE queue")
        parts = urlsplit(database_url)
        # Not ``urlunsplit``, which drops the empty host of a socket URL.
        database_url = database_url.replace(f"{parts.path}?", "/queue?", 1)
    data: Path = tmp_path_factory.mktemp("queue")
    settings = Settings(data=data, database_url=database_url, root_password="a long password", log_format="json")
    initialize_instance(settings)
    return settings


@pytest.fixture
def job_queue(queue_settings: Settings) -> Iterator[JobQueue]:
    """Yield an empty queue."""
    job_queue = JobQueue(queue_settings, SettableClock())

    def empty(db: Connection) -> None:
        for table in (jobs, recurring_jobs, job_failures):
            db.run(delete(table))

    job_queue.database.write(empty)
    yield job_queue
    job_queue.database.close()
    job_queue.database.engine.close()
