"""The ``ingot jobs`` command."""

import subprocess
from functools import partial

from ingot.core.jobs.queue import MAX_ATTEMPTS, enqueue
from ingot.core.jobs.tables import jobs
from ingot.core.mail.queue import send_mail
from ingot.server.app import open_database
from tests import fork_server
from tests.jobs.conftest import DEADLINE_SECONDS, JobQueue, until


def _arguments(job_queue: JobQueue, *words: str) -> list[str]:
    url = ["--database-url", job_queue.settings.database_url] if job_queue.settings.database_url else []
    return ["ingot", "jobs", *words, "--data", str(job_queue.settings.data), *url]


def _ingot(job_queue: JobQueue, *words: str) -> "subprocess.CompletedProcess[str]":
    return fork_server.run(*_arguments(job_queue, *words))


def _kill_job(job_queue: JobQueue, job_id: int) -> None:
    values = {"state": "dead", "attempts": MAX_ATTEMPTS, "last_error": "OSError: no route"}
    job_queue.database.write(lambda db: db.update(jobs, job_id, **values))


def test_list_retry_and_drop(job_queue: JobQueue) -> None:
    assert _ingot(job_queue, "list").stdout == "There are no jobs.\n"
    waiting, dead, other = (
        job_queue.database.write(partial(enqueue, kind=kind, payload={"secret": "hunter2"}))
        for kind in ("mail", "import", "hook")
    )
    _kill_job(job_queue, dead)
    _kill_job(job_queue, other)

    listed = _ingot(job_queue, "list").stdout
    assert [line.split()[:3] for line in listed.splitlines()] == [
        ["ID", "KIND", "STATE"],
        [str(waiting), "mail", "waiting"],
        [str(dead), "import", "dead"],
        [str(other), "hook", "dead"],
    ]
    assert "OSError: no route" in listed and "hunter2" not in listed
    assert len(_ingot(job_queue, "list", "--state", "dead").stdout.splitlines()) == 3
    assert _ingot(job_queue, "list", "--state", "running").stdout == "There are no running jobs.\n"
    assert _ingot(job_queue, "list", "--limit", "1").stdout.splitlines()[-1] == "… and 2 more"

    assert _ingot(job_queue, "retry", str(dead)).stdout == f"Job {dead} runs again.\n"
    assert _ingot(job_queue, "retry", "--all-dead").stdout == "1 job runs again.\n"
    assert {(job.state, job.attempts) for job in job_queue.jobs()} == {("waiting", 0)}
    assert _ingot(job_queue, "drop", str(dead), str(other)).stdout.startswith(f"Dropped job {dead} (import).\n")
    assert job_queue.job().id == waiting

    for words in (("drop", str(dead)), ("retry", str(dead)), ("retry",), ("retry", "1", "--all-dead")):
        refused = _ingot(job_queue, *words)
        assert refused.returncode == 1 and refused.stderr.startswith("ingot: "), refused.stderr
    assert job_queue.job().id == waiting


def test_options_may_precede_the_subcommand(job_queue: JobQueue) -> None:
    job_queue.database.write(lambda db: enqueue(db, "mail", 1))
    words = _arguments(job_queue)
    assert "waiting" in fork_server.run(*words, "list").stdout


def test_without_a_subcommand_it_runs_until_sigterm_and_reports_readiness(job_queue: JobQueue) -> None:
    database = open_database(job_queue.settings)
    engine = job_queue.database.engine
    until(lambda: not engine.is_served("jobs"))
    worker = fork_server.start(*_arguments(job_queue))
    try:
        until(lambda: engine.is_served("jobs"))
        database.write(lambda db: send_mail(db, "joe@example.com", "Hello", "A text"))
        until(lambda: list((job_queue.settings.data / "mail").glob("*.eml")))
        until(lambda: not job_queue.jobs())
        listed = _ingot(job_queue, "list")
        assert listed.stdout == "There are no jobs.\n"
        worker.terminate()
        assert worker.wait(DEADLINE_SECONDS) == 0
    finally:
        worker.kill()
        worker.wait()
    until(lambda: not engine.is_served("jobs"))  # PostgreSQL notices the end of a connection a moment later.
    database.close()
