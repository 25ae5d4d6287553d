"""Clock changes: a year ahead, or a day back."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingot.accounts.sessions.password_check import FAILURE_WINDOW_SECONDS, MAX_FAILURES
from ingot.core.db.connection import Connection
from ingot.core.jobs.admin import list_jobs
from ingot.core.jobs.queue import enqueue
from ingot.core.jobs.schedule import RecurringJob
from ingot.core.jobs.worker import JobWorker
from tests.server.in_process_server import AdjustableClock, InProcessServer, first_settings, serve_in_process
from tests.server.process import PASSWORD


@pytest.fixture
def clock() -> AdjustableClock:
    return AdjustableClock()


@pytest.fixture
def inside(data_folder: Path, empty_database: str, clock: AdjustableClock) -> Iterator[InProcessServer]:
    with serve_in_process(first_settings(data_folder, empty_database), clock) as inside:
        yield inside


def _token(inside: InProcessServer, **attributes: str) -> str:
    made = inside.call(
        "POST", "/users/1/personal_access_tokens", json={"name": "token", "scopes": ["api"], **attributes}
    )
    assert made.status_code == 201, made.text
    token: str = made.json()["token"]
    return token


def _sign_in(inside: InProcessServer, password: str = PASSWORD) -> int:
    return inside.call("POST", "/session", "", json={"login": "root", "password": password}).status_code


def _open_page(inside: InProcessServer) -> int:
    """Return whether the session is valid: 200 if it is, 302 to the sign-in page if not."""
    return inside.client.get("/profile/account").status_code


def _sign_in_by_page(inside: InProcessServer) -> None:
    form = inside.client.get("/users/sign_in").text
    token = form.partition('name="authenticity_token" value="')[2].partition('"')[0]
    sent = {"user[login]": "root", "user[password]": PASSWORD, "authenticity_token": token}
    assert inside.client.post("/users/sign_in", data=sent).status_code == 302


def test_tokens_expire_on_time(inside: InProcessServer, clock: AdjustableClock) -> None:
    soon = (clock()[:4], int(clock()[:4]) + 3)
    lasting = _token(inside)
    long = _token(inside, expires_at=f"{soon[1]}-01-01")
    clock.jump(days=-1)
    assert inside.call("GET", "/user", long).status_code == 200
    assert inside.call("GET", "/user", lasting).status_code == 200
    made_yesterday = _token(inside)
    clock.jump(days=1)
    assert inside.call("GET", "/user", made_yesterday).status_code == 200
    clock.jump(days=365)
    assert inside.call("GET", "/user", long).status_code == 200
    clock.jump(days=3 * 365)
    assert inside.call("GET", "/user", long).status_code == 401
    assert inside.call("GET", "/user", lasting).status_code == 200
    # The wrong clock is corrected.
    clock.jump(days=-4 * 365)
    assert inside.call("GET", "/user", long).status_code == 200


def test_sessions_expire_ahead_and_survive_the_correction(inside: InProcessServer, clock: AdjustableClock) -> None:
    _sign_in_by_page(inside)
    assert _open_page(inside) == 200
    clock.jump(days=-1)
    assert _open_page(inside) == 200
    clock.jump(days=366)
    assert _open_page(inside) == 302
    inside.client.cookies.clear()
    _sign_in_by_page(inside)
    assert _open_page(inside) == 200


def test_a_lockout_is_never_extended(inside: InProcessServer, clock: AdjustableClock) -> None:
    """A lockout of ten minutes must not last a day because the clock was set back."""
    for _ in range(MAX_FAILURES):
        assert _sign_in(inside, "wrong password") == 401
    assert _sign_in(inside) == 429
    clock.jump(seconds=FAILURE_WINDOW_SECONDS + 1)
    assert _sign_in(inside) == 201
    for _ in range(MAX_FAILURES):
        assert _sign_in(inside, "wrong password") == 401
    assert _sign_in(inside) == 429
    clock.jump(days=-1)
    assert _sign_in(inside) == 201
    assert _sign_in(inside, "wrong password") == 401


@pytest.mark.parametrize("days", [365, -1])
def test_lists_keep_their_order(inside: InProcessServer, clock: AdjustableClock, days: int) -> None:
    def create(name: str) -> None:
        sent = {"username": name, "name": name, "email": f"{name}@example.org", "force_random_password": True}
        assert inside.call("POST", "/users", json=sent).status_code == 201

    create("first")
    clock.jump(days=days)
    create("second")
    listed = [user["username"] for user in inside.call("GET", "/users?per_page=2").json()]
    assert listed == ["second", "first"]


@pytest.mark.parametrize("days", [365, -1])
def test_recurring_jobs_continue(inside: InProcessServer, clock: AdjustableClock, days: int) -> None:
    done: list[str] = []

    def work(db: Connection) -> None:
        done.append(db.now)

    worker = JobWorker(inside.database, {}, [RecurringJob(600, work)], lambda *_, **__: None)
    assert not worker.run_once()
    clock.jump(seconds=601)
    assert worker.run_once() and not worker.run_once()
    clock.jump(seconds=599)
    assert not worker.run_once()
    clock.jump(days=days)
    assert worker.run_once() and not worker.run_once()
    clock.jump(seconds=601)
    assert worker.run_once()
    assert len(done) == 3


@pytest.mark.parametrize("days", [365, -1])
def test_jobs_run_after_a_clock_change(inside: InProcessServer, clock: AdjustableClock, days: int) -> None:
    """Queued jobs run, and failed ones are retried within the hour, not after a day."""
    ran: list[str] = []
    fails = [True]

    def handle(_: object, payload: str) -> None:
        ran.append(payload)
        if payload == "fails" and fails[0]:
            raise OSError("no route")

    worker = JobWorker(inside.database, {"test": handle}, [], lambda *_, **__: None)
    inside.database.write(lambda db: enqueue(db, "test", "fails"))
    assert worker.run_once() and not worker.run_once()
    inside.database.write(lambda db: enqueue(db, "test", "waits"))
    fails[0] = False
    clock.jump(days=days)
    while worker.run_once():
        pass
    assert ran[1:].count("waits") == 1
    clock.jump(hours=1)
    while worker.run_once():
        pass
    assert sorted(ran) == ["fails", "fails", "waits"]
    assert inside.database.read(lambda db: list_jobs(db, None, 1)[1]) == 0


def test_retry_delays_grow_despite_clock_changes(inside: InProcessServer, clock: AdjustableClock) -> None:
    """Each delay is counted from the failure."""
    tries: list[int] = []

    def handle(*_: object) -> None:
        tries.append(1)
        raise OSError("no route")

    worker = JobWorker(inside.database, {"test": handle}, [], lambda *_, **__: None)
    inside.database.write(lambda db: enqueue(db, "test", None))
    for days in (0, -1, -1, 365, -300):
        clock.jump(days=days)
        worker.run_once()
        clock.jump(hours=1)
        worker.run_once()
        assert not worker.run_once()
    assert 5 <= len(tries) <= 10
