"""The wall clock is set an hour forward or back while the server runs, as after a wrong time zone."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.core.db.connection import Connection
from ingot.core.jobs.admin import list_jobs
from ingot.core.jobs.leases import JobCapacity, claim_jobs
from ingot.core.jobs.queue import enqueue
from ingot.core.jobs.worker import JobWorker
from tests.server.in_process_server import AdjustableClock, InProcessServer, first_settings, serve_in_process
from tests.server.process import PASSWORD

JUMPS = pytest.mark.parametrize("hours", [1, -1])


@pytest.fixture
def clock() -> AdjustableClock:
    return AdjustableClock()


@pytest.fixture
def inside(data_folder: Path, empty_database: str, clock: AdjustableClock) -> Iterator[InProcessServer]:
    with serve_in_process(first_settings(data_folder, empty_database), clock) as inside:
        yield inside


def _created(inside: InProcessServer, path: str, **sent: Any) -> dict[str, Any]:
    answer = inside.call("POST", path, json=sent)
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    return created


def test_credentials(inside: InProcessServer, clock: AdjustableClock) -> None:
    """Tokens, sessions and OAuth tokens of two hours hold through both jumps and end at their own time."""
    personal = _created(inside, "/users/1/personal_access_tokens", name="t", scopes=["api"], expires_at="2999-01-01")
    form = inside.client.get("/users/sign_in").text
    sent = {
        "user[login]": "root",
        "user[password]": PASSWORD,
        "authenticity_token": form.partition('name="authenticity_token" value="')[2].partition('"')[0],
    }
    assert inside.client.post("/users/sign_in", data=sent).status_code == 302
    grant = {"grant_type": "password", "username": "root", "password": PASSWORD}
    granted = inside.client.post("/oauth/token", data=grant).json()
    bearer = {"Authorization": f"Bearer {granted['access_token']}"}
    assert granted["expires_in"] == 7200
    for hours, valid in ((0, True), (-1, True), (2, True), (2, False), (-3, True)):
        clock.jump(hours=hours)
        assert inside.call("GET", "/user", personal["token"]).status_code == 200
        assert inside.client.get("/profile/account").status_code == 200
        answer = httpx.get(f"{inside.client.base_url}/api/v4/user", headers=bearer)
        assert answer.status_code == (200 if valid else 401), hours


@JUMPS
def test_lists_hold_everything_once(inside: InProcessServer, clock: AdjustableClock, hours: int) -> None:
    """Pages by time and by id neither repeat nor lose a row; notes stay in the order in which they were written."""
    project = _created(inside, "/projects", name="clock")
    issues = f"/projects/{project['id']}/issues"
    for number in range(9):
        _created(inside, issues, title=str(number))
        clock.jump(hours=hours if number % 3 == 0 else 0, seconds=1)
    for order in ("order_by=created_at", "order_by=updated_at", "order_by=created_at&sort=asc"):
        pages = [inside.call("GET", f"{issues}?{order}&per_page=2&page={page}").json() for page in range(1, 6)]
        assert sorted(issue["iid"] for page in pages for issue in page) == list(range(1, 10)), order
        times = [issue[order.partition("=")[2].partition("&")[0]] for page in pages for issue in page]
        assert times == sorted(times, reverse="asc" not in order)
    for body in ("first", "second"):
        _created(inside, f"{issues}/1/notes", body=body)
        clock.jump(hours=hours)
    updated = inside.call("PUT", f"{issues}/1", json={"title": "changed", "state_event": "close"}).json()
    assert updated["state"] == "closed"
    texts = [note["body"] for note in inside.call("GET", f"{issues}/1/notes?sort=asc").json() if not note["system"]]
    assert sorted(texts) == ["first", "second"]
    events = [event["id"] for event in inside.call("GET", f"/projects/{project['id']}/events").json()]
    assert all(newer > older for newer, older in pairwise(events))


@JUMPS
def test_leases_and_retries(inside: InProcessServer, clock: AdjustableClock, hours: int) -> None:
    """A job of a worker that died runs again within its lease, a failed one within the hour, and none is lost."""
    ran: list[str] = []

    def handle(_: object, payload: str) -> None:
        ran.append(payload)
        if payload == "fails" and ran.count("fails") == 1:
            raise OSError("no route")

    def work() -> None:
        """Run due jobs in a new worker: one that has seen the clock jump takes over no lease for a while."""
        worker = JobWorker(inside.database, {"test": handle}, [], lambda *_, **__: None)
        while worker.run_once():
            pass

    def claim(db: Connection) -> int:
        enqueue(db, "test", "orphaned")
        return len(claim_jobs(db, JobCapacity(1), 60))

    assert inside.database.write(claim) == 1
    inside.database.write(lambda db: enqueue(db, "test", "fails"))
    work()
    assert ran == ["fails"]
    clock.jump(hours=hours)
    inside.database.write(lambda db: enqueue(db, "test", "waits"))
    work()
    assert "waits" in ran
    for _ in range(60):
        clock.jump(minutes=1)
        work()
    assert sorted(ran) == ["fails", "fails", "orphaned", "waits"]
    assert inside.database.read(lambda db: list_jobs(db, None, 1)[1]) == 0
