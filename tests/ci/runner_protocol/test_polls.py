"""Polls that are answered from memory or held until there is a job."""

import json
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.ci.runner_protocol import contacts
from ingot.ci.runner_protocol.assignment import return_job
from tests.ci.runner_client import RunnerClient, RunnerJob, make_runner, project_runner
from tests.ci.runner_protocol.projects import ci_project, commit_config
from tests.client import Api, Make
from tests.conftest import Instance
from tests.second_instance import SecondInstance, serving
from tests.statements import executed


def eventually(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def held(runner: RunnerClient, url: str) -> tuple[threading.Thread, list[httpx.Response]]:
    """Start a poll that knows the version of the queue, on a connection of its own."""
    answers: list[httpx.Response] = []

    def poll() -> None:
        with Api(url) as client:
            answers.append(RunnerClient(client, runner.id, runner.token, last_update=runner.last_update).poll())

    thread = threading.Thread(target=poll)
    thread.start()
    return thread, answers


def _statements(second: SecondInstance, call: Callable[[], object]) -> int:
    """Return how many statements the server runs during a call."""
    before = executed(second.app.database)
    call()
    return executed(second.app.database) - before


def synchronized(runner: RunnerClient) -> str:
    """Poll until the runner knows the current version of the queue; return it."""
    answer = runner.poll()
    assert answer.status_code == 204
    version: str = answer.headers["x-gitlab-last-update"]
    return version


@pytest.fixture
def quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Yield an instance that answers polls, and stores contacts, at once."""
    monkeypatch.setattr(contacts, "FLUSH_DELAY_SECONDS", 0.0)
    with serving(tmp_path / "data", runner_poll_seconds=0) as second:
        yield second


def is_online(second: SecondInstance, runner: RunnerClient) -> bool:
    """Return whether a contact of the runner was stored, which happens in the background."""
    status: str = second.api.get(f"/runners/{runner.id}", second.make.root).json()["status"]
    return status == "online"


def test_an_unchanged_poll_needs_no_statement(quick: SecondInstance) -> None:
    runner = make_runner(quick.make)
    runner.last_update = synchronized(runner)
    eventually(lambda: is_online(quick, runner))
    runner.last_update = synchronized(runner)
    eventually(lambda: _statements(quick, runner.poll) == 0)
    answer = runner.poll()
    assert (answer.status_code, answer.headers["x-gitlab-last-update"]) == (204, runner.last_update)
    # A commit that has nothing to do with the queue changes nothing; a thread reads the version once more after it.
    assert quick.api.post("/projects", quick.make.root, name="other").status_code == 201
    eventually(lambda: _statements(quick, runner.poll) == 0)
    assert runner.poll().headers["x-gitlab-last-update"] == runner.last_update


def test_a_change_of_the_runner_is_noticed(quick: SecondInstance) -> None:
    runner = make_runner(quick.make)
    runner.last_update = synchronized(runner)
    eventually(lambda: _statements(quick, runner.poll) == 0)
    assert quick.api.put(f"/runners/{runner.id}", quick.make.root, description="x").status_code == 200
    eventually(lambda: runner.poll().headers["x-gitlab-last-update"] != runner.last_update)
    assert quick.api.delete(f"/runners/{runner.id}", quick.make.root).status_code == 200
    eventually(lambda: runner.poll().status_code == 403)


def test_contacts_are_stored_in_the_background(quick: SecondInstance) -> None:
    runner = make_runner(quick.make)
    url = f"/runners/{runner.id}"
    assert quick.api.get(url, quick.make.root).json()["status"] == "never_contacted"
    runner.poll()
    eventually(lambda: is_online(quick, runner))
    details = quick.api.get(url, quick.make.root).json()
    assert (details["version"], details["platform"], details["ip_address"]) == ("17.9.3", "linux", "127.0.0.1")
    (manager,) = quick.api.get(f"{url}/managers", quick.make.root).json()
    assert (manager["system_id"], manager["architecture"]) == ("s_1", "amd64")


def test_a_held_runner_gets_a_new_job(make: Make, instance: Instance) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id)
    runner.run_all()
    runner.last_update = synchronized(runner)
    thread, answers = held(runner, instance.url)
    # Nothing else shows that a poll is held.
    eventually(lambda: instance.app.polls._held > 0)
    assert not answers
    commit_config(make, project, {"next": {"script": "true"}}, action="update")
    thread.join(30)
    assert RunnerJob(make.api, answers[0].json()).name == "next"


def test_a_job_is_not_lost_with_a_runner_that_disconnects(make: Make, instance: Instance) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id)
    runner.run_all()
    version = synchronized(runner)
    body = json.dumps({"token": runner.token, "last_update": version}).encode()
    host, _, port = instance.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port))) as connection:
        head = f"POST /api/v4/jobs/request HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        # Nothing else shows that a poll is held.
        eventually(lambda: instance.app.polls._held > 0)
    eventually(lambda: instance.app.polls._held == 0)
    commit_config(make, project, {"next": {"script": "true"}}, action="update")
    assert runner.must_take().name == "next"


def test_a_returned_job_is_queued_again(make: Make) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id)
    first = runner.must_take()
    make.database.write(lambda db: return_job(db, first.id))
    assert first.trace(b"x").status_code == 403
    second = runner.must_take()
    assert (second.id, second.token == first.token) == (first.id, False)
    assert second.finish().status_code == 200
    make.database.write(lambda db: return_job(db, first.id))
    assert runner.take() is None


def test_a_poll_without_the_version_is_not_held(make: Make) -> None:
    project = ci_project(make, {"job": {"script": "true"}})
    runner = project_runner(make, project.id)
    runner.run_all()
    assert runner.poll().status_code == 204
    assert runner.poll(last_update="another").status_code == 204


def test_a_held_poll_is_answered_after_a_time_and_when_the_server_stops(tmp_path: Path) -> None:
    with serving(tmp_path / "data", runner_poll_seconds=1) as second:
        runner = make_runner(second.make)
        runner.last_update = synchronized(runner)
        assert runner.poll().status_code == 204
    with serving(tmp_path / "other", runner_poll_seconds=3600) as second:
        runner = make_runner(second.make)
        runner.last_update = synchronized(runner)
        thread, answers = held(runner, second.url)
        # Nothing else shows that a poll is held.
        eventually(lambda: second.app.polls._held > 0)
        second.app.drain()
        second.api.get("/version", second.make.root)
        eventually(lambda: bool(answers))
        thread.join()
        assert (answers[0].status_code, answers[0].headers["x-gitlab-last-update"]) == (204, runner.last_update)


def test_polls_are_not_limited(quick: SecondInstance) -> None:
    runner = make_runner(quick.make)
    limits = {
        "throttle_unauthenticated_enabled": True,
        "throttle_unauthenticated_requests_per_period": 1,
        "throttle_unauthenticated_period_in_seconds": 3600,
    }
    assert quick.api.put("/application/settings", quick.make.root, **limits).status_code == 200
    eventually(lambda: quick.api.get("/projects").status_code == 429)
    assert [runner.poll().status_code for _ in range(5)] == [204] * 5
