"""The ``ingot jobs`` command."""

import subprocess
from functools import partial

from ingot.app import open_database
from ingot.core.jobs.queue import MAX_ATTEMPTS, enqueue
from ingot.core.jobs.tables import jobs
from ingot.core.mail.delivery import send_mail
from tests import fork_server
from tests.jobs.conftest import DEADLINE_SECONDS, Bench, until


def _arguments(bench: Bench, *words: str) -> list[str]:
    url = ["--database-url", bench.settings.database_url] if bench.settings.database_url else []
    return ["ingot", "jobs", *words, "--data", str(bench.settings.data), *url]


def _ingot(bench: Bench, *words: str) -> "subprocess.CompletedProcess[str]":
    return fork_server.run(*_arguments(bench, *words))


def _bury(bench: Bench, job_id: int) -> None:
    values = {"state": "dead", "attempts": MAX_ATTEMPTS, "last_error": "OSError: no route"}
    bench.database.write(lambda db: db.update(jobs, job_id, **values))


def test_list_retry_and_drop(bench: Bench) -> None:
    assert _ingot(bench, "list").stdout == "There are no jobs.\n"
    waiting, dead, other = (
        bench.database.write(partial(enqueue, kind=kind, payload={"secret": "hunter2"}))
        for kind in ("mail", "import", "hook")
    )
    _bury(bench, dead)
    _bury(bench, other)

    listed = _ingot(bench, "list").stdout
    assert [line.split()[:3] for line in listed.splitlines()] == [
        ["ID", "KIND", "STATE"],
        [str(waiting), "mail", "waiting"],
        [str(dead), "import", "dead"],
        [str(other), "hook", "dead"],
    ]
    assert "OSError: no route" in listed and "hunter2" not in listed
    assert len(_ingot(bench, "list", "--state", "dead").stdout.splitlines()) == 3
    assert _ingot(bench, "list", "--state", "running").stdout == "There are no running jobs.\n"
    assert _ingot(bench, "list", "--limit", "1").stdout.splitlines()[-1] == "… and 2 more"

    assert _ingot(bench, "retry", str(dead)).stdout == f"Job {dead} runs again.\n"
    assert _ingot(bench, "retry", "--all-dead").stdout == "1 job runs again.\n"
    assert {(job.state, job.attempts) for job in bench.jobs()} == {("waiting", 0)}
    assert _ingot(bench, "drop", str(dead), str(other)).stdout.startswith(f"Dropped job {dead} (import).\n")
    assert bench.job().id == waiting

    for words in (("drop", str(dead)), ("retry", str(dead)), ("retry",), ("retry", "1", "--all-dead")):
        refused = _ingot(bench, *words)
        assert refused.returncode == 1 and refused.stderr.startswith("ingot: "), refused.stderr
    assert bench.job().id == waiting


def test_options_may_stand_before_the_verb(bench: Bench) -> None:
    bench.database.write(lambda db: enqueue(db, "mail", 1))
    words = _arguments(bench)
    assert "waiting" in fork_server.run(*words, "list").stdout


def test_without_a_verb_it_works_until_sigterm_and_readiness_sees_it(bench: Bench) -> None:
    database = open_database(bench.settings)
    engine = bench.database.engine
    assert not engine.is_served("jobs")
    worker = fork_server.start(*_arguments(bench))
    try:
        until(lambda: engine.is_served("jobs"))
        database.write(lambda db: send_mail(db, "joe@example.com", "Hello", "A text"))
        until(lambda: list((bench.settings.data / "mail").glob("*.eml")))
        until(lambda: not bench.jobs())
        listed = _ingot(bench, "list")
        assert listed.stdout == "There are no jobs.\n"
        worker.terminate()
        assert worker.wait(DEADLINE_SECONDS) == 0
    finally:
        worker.kill()
        worker.wait()
    assert not engine.is_served("jobs")
    database.close()
