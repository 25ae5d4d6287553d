"""Floods of password checks, which are slow on purpose."""

import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from ingot.accounts.sessions.password_check import MAX_FAILURES_PER_NETWORK
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project


def _sign_in(instance: Instance, address: str, login: str) -> int:
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=instance.url, transport=transport, timeout=60) as client:
        return client.post("/api/v4/session", json={"login": login, "password": "wrong"}).status_code


def test_guesses_for_many_accounts_are_limited_by_network(instance: Instance, make: Make) -> None:
    """Attack: one password for each of many accounts; unknown ones count too."""
    statuses = [_sign_in(instance, "127.0.7.1", make.name("unknown")) for _ in range(MAX_FAILURES_PER_NETWORK + 3)]
    assert statuses == [401] * MAX_FAILURES_PER_NETWORK + [429] * 3
    assert _sign_in(instance, "127.0.7.2", make.name("unknown")) == 401


def test_checks_leave_threads_to_others(
    instance: Instance, api: Api, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: more password checks at once than there are threads, and all of them are slow."""
    project = make_project(make, initialize_with_readme=True)
    release = threading.Event()

    def wait(*_: object) -> bool:
        release.wait(30)
        return False

    monkeypatch.setattr("ingot.accounts.sessions.password_check.password_matches", wait)
    with ThreadPoolExecutor(60) as pool:
        flood = [pool.submit(_sign_in, instance, f"127.0.8.{n % 30 + 1}", make.name("unknown")) for n in range(60)]
        try:
            for _ in range(5):
                archive = api.get(f"{project.url}/repository/archive", make.root)
                assert archive.status_code == 200
            assert not release.is_set() and not all(each.done() for each in flood)
        finally:
            release.set()
        assert {each.result() for each in flood} == {401, 503}


def test_git_clients_wait_for_their_check(instance: Instance, make: Make) -> None:
    """Many clients of one user at once, each with its password, are all accepted."""
    user = make.user(password="a password of a person")
    project = make_project(make, user)
    url = f"{instance.url}/{project.path}.git/info/refs?service=git-upload-pack"

    def fetch(_: int) -> int:
        return httpx.get(url, auth=(user.username, "a password of a person"), timeout=60).status_code

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(fetch, range(40))) == {200}
