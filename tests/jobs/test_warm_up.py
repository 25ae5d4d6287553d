"""Warm-up of the job worker, before its process is forked."""

from ingot.server.app import App
from ingot.server.jobs import job_worker, minutely_work
from ingot.server.warm_up import warm_up
from tests.jobs.conftest import JobQueue


def test_the_first_jobs_compile_no_statement(job_queue: JobQueue) -> None:
    """They would copy memory that the processes of the server share."""
    database = job_queue.database
    warm_up(App(job_queue.settings, database, job_queue.log, None), minutely_work(job_queue.settings))
    assert job_queue.jobs() == []
    compiled = set(database.statements._compiled)
    worker = job_worker(job_queue.settings, database, job_queue.log)
    worker.run_once()
    job_queue.clock.step(seconds=60)
    ran = 0
    while worker.run_once():
        ran += 1
    assert ran == len(minutely_work(job_queue.settings))
    assert set(database.statements._compiled) == compiled
