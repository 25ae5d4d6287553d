"""Memory of request bodies: charged as they arrive, limited for anonymous callers and for each address."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from ingot.core.errors import Unavailable
from ingot.core.http import body_budget
from ingot.core.http.body_budget import ANONYMOUS_BODY_LIMIT, BodyBudget, BodyCharge
from ingot.core.http.client_networks import client_network
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project

SLOW_CONNECTIONS = 80
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
LARGE_FORM = b"description=" + b"x" * ANONYMOUS_BODY_LIMIT


@pytest.fixture
def slow_bodies(instance: Instance) -> Iterator[list[socket.socket]]:
    """Connections of anonymous callers who have announced large bodies and sent a part of them."""
    port = httpx.URL(instance.url).port
    targets = ("/api/v4/projects", "/api/v4/session", "/users/sign_in", "/api/v4/projects/1/repository/commits")
    with ExitStack() as stack:
        connections = []
        for number in range(SLOW_CONNECTIONS):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
            head = f"POST {targets[number % len(targets)]} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            cookie = "Cookie: _service_session=unknown\r\n" if number % 2 else ""
            connection.sendall(f"{head}{cookie}Content-Length: {9 * 2**20}\r\n\r\n".encode() + b" " * 60_000)
            connections.append(connection)
        yield connections


def test_slow_anonymous_bodies_do_not_delay_users(
    api: Api, make: Make, slow_bodies: list[socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: announce large bodies on many connections. A commit and a sign-in succeed without waiting."""
    monkeypatch.setattr(body_budget, "WAIT_SECONDS", 0.0)
    owner = make.user()
    project = make_project(make, owner)
    action = {"action": "create", "file_path": "large", "content": "x" * 8_000_000}
    commit = {"branch": "master", "commit_message": "Add", "actions": [action]}
    assert api.post(f"{project.url}/repository/commits", owner, **commit).status_code == 201
    assert api.post("/session", login=owner.username, password="wrong password").status_code == 401
    assert len(slow_bodies) == SLOW_CONNECTIONS


def test_anonymous_bodies_are_small(instance: Instance, api: Api, make: Make) -> None:
    """The limit holds without credentials and with invalid ones; a valid token or session raises it."""
    user = make.user()
    project = make_project(make, user)
    path = f"{project.url}/issues"
    issue = LARGE_FORM + b"&title=x"
    assert api.request("POST", "/session", content=LARGE_FORM, headers=FORM).status_code == 413
    assert (
        api.request("POST", path, content=issue + b"&private_token=" + user.token.encode(), headers=FORM).status_code
        == 401
    )
    for headers in ({"Cookie": "_service_session=unknown"}, {"JOB-TOKEN": "unknown"}):
        assert api.request("POST", path, content=issue, headers={**FORM, **headers}).status_code == 401
        sign_in = httpx.post(f"{instance.url}/users/sign_in", content=LARGE_FORM, headers={**FORM, **headers})
        assert sign_in.status_code == 413
    small = b"title=x&private_token=" + user.token.encode()
    assert api.request("POST", path, content=small, headers=FORM).status_code == 201
    allowed = api.request("POST", path, user, content=b"title=x&ignored=" + b"x" * ANONYMOUS_BODY_LIMIT, headers=FORM)
    assert allowed.status_code == 201


def _known(budget: BodyBudget, ip: str) -> BodyCharge:
    charge = budget.open(ip)
    charge.anonymous = False
    return charge


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be admitted without counting, and do not wait."""
    monkeypatch.setattr(body_budget, "ADMITTED_BYTES", 0)
    monkeypatch.setattr(body_budget, "WAIT_SECONDS", 0.01)


@pytest.mark.usefixtures("quick")
def test_shares_of_the_budget() -> None:
    """Of 960 bytes, one address gets 480, anonymous callers 160, and those of one address 20."""

    async def run() -> None:
        budget = BodyBudget(960)
        await budget.open("192.0.2.1").add(10)
        crowded = budget.open("192.0.2.1")
        await crowded.add(10)
        with pytest.raises(Unavailable):
            await crowded.add(1)
        for number in range(2, 9):
            await budget.open(f"192.0.2.{number}").add(20)
        with pytest.raises(Unavailable):
            await budget.open("192.0.2.10").add(1)
        await _known(budget, "192.0.2.1").add(480)
        with pytest.raises(Unavailable):
            await _known(budget, "192.0.2.1").add(1)
        last = _known(budget, "192.0.2.2")
        await last.add(320)
        with pytest.raises(Unavailable):
            await _known(budget, "192.0.2.3").add(1)
        last.release()
        await _known(budget, "192.0.2.3").add(300)

    asyncio.run(run())


@pytest.mark.usefixtures("quick")
def test_bodies_never_wait_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest body may exceed the budget, so that it ends and the next one can."""
    monkeypatch.setattr(body_budget, "WAIT_SECONDS", 60.0)
    ended: list[str] = []

    async def read(budget: BodyBudget, name: str) -> None:
        with budget.charge(name) as charge:
            charge.anonymous = False
            for _ in range(10):
                await charge.add(10)
                await asyncio.sleep(0)
        ended.append(name)

    async def run() -> None:
        budget = BodyBudget(150)
        await asyncio.gather(*(read(budget, f"192.0.2.{number}") for number in range(5)))

    asyncio.run(run())
    assert len(ended) == 5 and ended[0] == "192.0.2.0"


def test_addresses_that_count_as_one() -> None:
    assert client_network("192.0.2.1") == "192.0.2.1"
    assert client_network("2001:db8:1:2:3::4") == client_network("2001:db8:1:2::1") == "2001:db8:1:2::/64"
    assert client_network("2001:db8:1:3::1") != client_network("2001:db8:1:2::1")
    assert client_network("") == ""
