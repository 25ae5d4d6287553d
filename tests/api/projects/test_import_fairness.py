"""Fairness of imports: slow servers, dropped jobs, and many imports of one user do not delay others."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ingot.core.jobs.admin import delete_job
from ingot.core.jobs.worker import JobWorker
from ingot.core.log import Log
from ingot.core.outgoing.guard import SsrfGuard
from ingot.git.maintenance import fetch
from ingot.git.maintenance.store import RepositoryStore
from ingot.projects.imports.jobs import ImportJobs
from ingot.projects.imports.service import IMPORT_PROJECT
from ingot.server.app import open_database
from tests.api.projects.import_server import Importer, SlowServer, is_empty
from tests.api.projects.test_import_hostile import HEAD, raw_server
from tests.client import User

DRIPS = (HEAD + b"\r\n", b"0")
"""An endless response sent one byte at a time."""


@contextmanager
def background_worker(importer: Importer) -> Iterator[threading.Thread]:
    """Run the queue beside the test, as a worker in another process would."""
    database = open_database(importer.instance.settings)
    work = ImportJobs(
        RepositoryStore(importer.instance.settings.data / "repositories"), SsrfGuard(allow_local=True), pauses=()
    )
    worker = JobWorker(database, {IMPORT_PROJECT: work.run}, [], Log("json", importer.instance.log))

    def empty() -> None:
        while worker.run_once():
            pass

    thread = threading.Thread(target=empty)
    thread.start()
    yield thread
    thread.join(60)
    assert not thread.is_alive()
    database.close()


def started(importer: Importer, project_id: int) -> None:
    """Wait until an import runs."""
    _until(lambda: importer.status(project_id)["import_status"] == "started")


def _until(holds: Callable[[], bool]) -> None:
    ended = threading.Event()
    for _ in range(600):
        if holds():
            return
        ended.wait(0.05)
    raise AssertionError("It never came to that")


def create(importer: Importer, url: str, who: User) -> int:
    """Create a user's project with an import."""
    made = importer.api.post("/projects", who, name=importer.make.name("turn"), import_url=url)
    assert made.status_code == 201, made.text
    project_id: int = made.json()["id"]
    return project_id


def test_slowly_sent_references_time_out(importer: Importer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Attack: one byte at a time never triggers curl's speed limit; the response has a short timeout of its own."""
    monkeypatch.setattr(fetch, "RESPONSE_SECONDS", 1.0)
    with raw_server(*DRIPS, pause=0.1) as port:
        project_id = importer.create(f"http://127.0.0.1:{port}/x.git")
        importer.work(pauses=())
    status = importer.status(project_id)
    assert (status["import_status"], status["import_error"]) == ("failed", "The server took too long")
    assert is_empty(importer.path(project_id))


def test_timeout_and_minimum_speed_of_a_response() -> None:
    """Otherwise three such servers could stop all imports for an hour."""
    assert fetch.RESPONSE_SECONDS <= 60
    assert fetch.MIN_BYTES_PER_SECOND >= 1024


def test_deleting_the_project_stops_the_wait_for_the_server(importer: Importer) -> None:
    """However long the server would delay its references."""
    with raw_server(*DRIPS, pause=0.1) as port:
        project_id = importer.create(f"http://127.0.0.1:{port}/x.git")
        with background_worker(importer):
            started(importer, project_id)
            assert importer.api.delete(f"/projects/{project_id}", importer.make.root).status_code == 200
    assert importer.jobs() == []
    importer.instance.work()


@pytest.mark.parametrize("running", [False, True])
def test_dropping_its_job_stops_an_import(importer: Importer, running: bool) -> None:
    """The import fails at once, and its worker runs other jobs."""
    with raw_server(*DRIPS, pause=0.1) as port:
        project_id = importer.create(f"http://127.0.0.1:{port}/x.git")
        (job,) = importer.jobs()
        if running:
            with background_worker(importer):
                started(importer, project_id)
                importer.instance.app.database.write(lambda db: delete_job(db, job.id))
                status = importer.status(project_id)
        else:
            importer.instance.app.database.write(lambda db: delete_job(db, job.id))
            status = importer.status(project_id)
    reason = "The import was stopped by an administrator"
    assert (status["import_status"], status["import_error"]) == ("failed", reason)
    assert importer.status(project_id)["import_error"] == reason
    assert importer.jobs() == []


def test_one_user_runs_one_import_at_a_time(importer: Importer, server: SlowServer) -> None:
    """The second waits for the first; an import of another user does not wait."""
    mine, theirs = importer.make.user(), importer.make.user()
    server.hold()
    first = create(importer, f"{server.url}/remote.git", mine)
    with background_worker(importer):
        assert server.reached.wait(30)
        second = create(importer, f"{server.url}/remote.git", mine)
        other = create(importer, f"{server.url}/nowhere.git", theirs)
        importer.work()
        assert importer.status(second)["import_status"] == "scheduled"
        assert importer.status(other)["import_status"] == "failed"
        (waiting,) = (job for job in importer.jobs() if job.state == "waiting")
        assert (waiting.attempts, waiting.last_error) == (0, None)
        server.release()
    assert [importer.status(number)["import_status"] for number in (first, second)] == ["finished", "finished"]
    assert importer.jobs() == []


def test_a_failed_import_starts_the_next_one(importer: Importer, server: SlowServer) -> None:
    """The first may be retried later, or its project deleted."""
    mine = importer.make.user()
    with raw_server(*DRIPS, pause=0.1) as port:
        slow = create(importer, f"http://127.0.0.1:{port}/x.git", mine)
        with background_worker(importer):
            started(importer, slow)
            second = create(importer, f"{server.url}/remote.git", mine)
            importer.work()
            assert importer.status(second)["import_status"] == "scheduled"
            assert importer.api.delete(f"/projects/{slow}", mine).status_code == 200
    assert importer.status(second)["import_status"] == "finished"
    importer.instance.work()


def test_the_last_error_is_shown_until_a_retry_succeeds(importer: Importer, server: SlowServer) -> None:
    """While the import waits for a retry, and while the retry runs."""
    server.redirects["/remote.git"] = (503, "")
    project_id = importer.create(f"{server.url}/remote.git")
    importer.work(pauses=(3600.0,))
    assert importer.status(project_id)["import_error"] == "The server answered with status 503"
    shown = importer.api.get(f"/projects/{project_id}", importer.make.root).json()
    assert (shown["import_status"], shown["import_error"]) == ("scheduled", "The server answered with status 503")
    (job,) = importer.jobs()
    assert (job.attempts, job.last_error) == (1, "The server answered with status 503")
    importer.instance.app.database.write(lambda db: delete_job(db, job.id))
    assert importer.status(project_id)["import_status"] == "failed"
