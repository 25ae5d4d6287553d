"""Limits of failed sign-ins: strangers cannot guess a password, and cannot lock its owner out."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from argon2 import PasswordHasher
from sqlalchemy import func, select

from ingot.accounts.instance.tables import throttles
from ingot.accounts.sessions.password_check import MAX_FAILURES, MAX_FAILURES_OF_STRANGERS, SLOW_SECONDS
from ingot.accounts.users.tables import users
from ingot.core.access import passwords
from ingot.core.db.times import add_duration
from ingot.core.http.client_networks import client_network
from tests.client import Make, User
from tests.conftest import Instance
from tests.web.browser import Browser
from tests.web.conftest import PASSWORD

OWN, NEW = "127.0.0.1", "127.0.0.9"


def sign_in_from(instance: Instance, address: str, person: User, password: str) -> httpx.Response:
    """Sign in by the API from one of the addresses of this machine."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=instance.url, transport=transport, timeout=60) as client:
        return client.post("/api/v4/session", json={"login": person.username, "password": password})


def test_failures_elsewhere_do_not_lock_the_owner_out(
    instance: Instance, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sign_in_from(instance, OWN, person, PASSWORD).status_code == 201
    strangers = ["127.0.0.2", "127.0.0.3"]
    for address in strangers:
        statuses = [sign_in_from(instance, address, person, "wrong").status_code for _ in range(MAX_FAILURES + 1)]
        assert statuses == [401] * MAX_FAILURES + [429]
    assert len(strangers) * MAX_FAILURES == MAX_FAILURES_OF_STRANGERS

    assert sign_in_from(instance, "127.0.0.4", person, "wrong").status_code == 401
    slowed = sign_in_from(instance, "127.0.0.5", person, "wrong")
    assert (slowed.status_code, 0 < int(slowed.headers["retry-after"]) <= SLOW_SECONDS) == (429, True)
    for _ in range(3):
        assert sign_in_from(instance, OWN, person, "wrong").status_code == 401, "Its failures count by themselves."
        assert sign_in_from(instance, OWN, person, PASSWORD).status_code == 201

    assert sign_in_from(instance, NEW, person, PASSWORD).status_code == 429
    later = add_duration(instance.app.database.clock(), seconds=SLOW_SECONDS + 1)
    monkeypatch.setattr(instance.app.database, "clock", lambda: later)
    assert sign_in_from(instance, NEW, person, PASSWORD).status_code == 201
    assert sign_in_from(instance, NEW, person, PASSWORD).status_code == 201, "From here it has succeeded."


def test_a_known_browser_is_not_locked_by_its_neighbours(
    browser: Browser, open_browser: Callable[[], Browser], make: Make, person: User
) -> None:
    """All clients behind one address share its limit, except browsers in which the user has signed in."""
    browser.signed_in_as(person)
    device = browser.cookies["_service_device"]
    form = browser.form("/profile/account", "/users/sign_out")
    browser.post("/users/sign_out", data=form.fields)
    stranger, other = open_browser(), open_browser().signed_in_as(make.user(password=PASSWORD))
    for _ in range(MAX_FAILURES):
        assert stranger.sign_in(person.username, "wrong").status_code == 401
    assert stranger.sign_in(person.username, PASSWORD).status_code == 429
    for cookie in (other.cookies["_service_device"], device[:-1], "x", device.partition(".")[0]):
        forger = open_browser()
        forger.cookies.set("_service_device", cookie)
        assert forger.sign_in(person.username, PASSWORD).status_code == 429

    browser.signed_in_as(person)
    assert browser.cookies["_service_device"] == device, "It remains the same device."
    form = browser.form("/profile/account", "/users/sign_out")
    browser.post("/users/sign_out", data=form.fields)
    statuses = [browser.sign_in(person.username, "wrong").status_code for _ in range(MAX_FAILURES + 1)]
    assert statuses == [401] * MAX_FAILURES + [429]


def test_the_device_cookie_is_kept_from_scripts(browser: Browser, person: User) -> None:
    answer = browser.sign_in(person.username, PASSWORD)
    (cookie,) = [value for value in answer.headers.get_list("set-cookie") if value.startswith("_service_device=")]
    attributes = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=lax", "path=/", f"max-age={365 * 24 * 3600}"} <= attributes


def test_throttled_attempts_store_nothing(instance: Instance, person: User) -> None:
    def count() -> int:
        counted: int = instance.app.database.read(lambda db: db.value(select(func.count()).select_from(throttles)))
        return counted

    for _ in range(MAX_FAILURES):
        sign_in_from(instance, OWN, person, "wrong")
    before = count()
    assert {sign_in_from(instance, OWN, person, "wrong").status_code for _ in range(5)} == {429}
    assert count() == before


@pytest.mark.parametrize(
    ("ip", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1%eth0", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_clients_are_counted_by_network(ip: str, network: str) -> None:
    assert client_network(ip) == network


@pytest.mark.parametrize("form", ["password", "two-factor"])
def test_concurrent_password_changes_share_one_limit(browser: Browser, person: User, form: str) -> None:
    token = browser.signed_in_as(person).token()
    fields = {
        "password": {"user[password]": "another password", "user[password_confirmation]": "another password"},
        "two-factor": {"pin_code": "000000"},
    }[form]
    path = {"password": "/profile/password", "two-factor": "/profile/two_factor_auth"}[form]
    names = {"password": "user[current_password]", "two-factor": "current_password"}

    def attempt(password: str) -> int:
        sent = {**fields, "authenticity_token": token, names[form]: password}
        with httpx.Client(base_url=browser.url, cookies=dict(browser.cookies.items()), timeout=60) as client:
            return client.post(path, data=sent).status_code

    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(attempt, ["wrong"] * 2 * MAX_FAILURES))
    assert sorted(statuses) == [422] * MAX_FAILURES + [429] * MAX_FAILURES
    assert attempt(PASSWORD) == 429


class CountingHasher(PasswordHasher):
    """A hasher that records the cost of every hash that it verifies."""

    verified: list[str]

    def verify(self, hash: str | bytes, password: str | bytes) -> Any:
        """Record the parameters, then verify."""
        self.verified.append(str(hash).rpartition("$")[0].rpartition("$")[0])
        return super().verify(hash, password)


def test_every_failure_costs_the_same_work(
    instance: Instance, make: Make, person: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of a failed sign-in must not tell whether the account exists.

    A test that measures time would fail on a busy machine; it counts the hashes and the transactions instead.
    """
    hasher = CountingHasher(time_cost=1, memory_cost=8, parallelism=1)
    hasher.verified = []
    monkeypatch.setattr(passwords, "_hasher", lambda: hasher)
    written: list[object] = []
    write = instance.app.database.write

    def counting_write(work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        written.append(work)
        return write(work, *args, **kwargs)

    blocked, unconfirmed, without = make.user(password=PASSWORD), make.user(password=PASSWORD), make.user()
    unknown = User(0, make.name("unknown"), "", "")
    instance.app.database.write(lambda db: db.update(users, blocked.id, state="blocked"))
    instance.app.database.write(lambda db: db.update(users, unconfirmed.id, confirmed_at=None))
    monkeypatch.setattr(instance.app.database, "write", counting_write)
    costs = set()
    for user in (unknown, person, blocked, unconfirmed, without):
        for password in ("wrong", "", PASSWORD if user is not person else "wrong", "x" * 5000):
            hasher.verified, written[:] = [], []
            answer = sign_in_from(instance, OWN, user, password)
            assert (answer.status_code, answer.json()) == (401, {"message": "401 Unauthorized"})
            costs.add((len(hasher.verified), *hasher.verified, len(written)))
    assert len(costs) == 1, costs
    assert {cost[0] for cost in costs} == {1}
