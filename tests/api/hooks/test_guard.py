"""Destinations of deliveries: a name is resolved once per connection, and local addresses are blocked."""

import socket
import time
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest

from ingot.core.log import Log
from ingot.core.outgoing.guard import SsrfGuard
from ingot.projects.projects.api import repository_store
from ingot.server.app import open_database
from ingot.webhooks.delivery import hook_worker
from ingot.webhooks.delivery.dispatcher import HookDispatcher
from ingot.webhooks.payload_completion import PayloadCompletion
from tests.api.hooks.receiver import DEADLINE_SECONDS, Receiver
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_project


class FakeResolver:
    """Resolver with answers set by tests; the last one repeats."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, list[list[str]]] = {}

    def __call__(self, host: str, port: int, **_: Any) -> Any:
        self.asked.append(host)
        answers = self.answers.get(host)
        if answers is None:
            raise socket.gaierror(-2, "unknown")
        addresses = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]


@pytest.fixture(scope="module")
def resolver() -> FakeResolver:
    """Return the resolver used by the dispatcher."""
    return FakeResolver()


@pytest.fixture(scope="module", autouse=True)
def guarded(instance: Instance, resolver: FakeResolver) -> Iterator[None]:
    """Yield a dispatcher that may reach public addresses and one allowed local address."""
    database = open_database(instance.settings)
    guard = SsrfGuard(allowed=[ip_network("127.0.0.2/32")], resolve=resolver)
    log = Log("json", instance.log)
    finisher = PayloadCompletion(database, repository_store(instance.settings), log)
    dispatcher = HookDispatcher(database, guard, finisher, instance.url, log)
    dispatcher.start()
    yield
    assert dispatcher.stop()
    database.close()


class NamedHook:
    """Hook with a URL that contains a host name."""

    def __init__(self, api: Api, make: Make, url: str) -> None:
        self._api, self._make = api, make
        self.project = make_project(make)
        made = api.post(f"{self.project.url}/hooks", make.root, url=url, issues_events=True)
        assert made.status_code == 201, made.text
        self.url = f"{self.project.url}/hooks/{made.json()['id']}"

    def trigger(self, count: int = 1) -> Any:
        """Trigger an event and return the result of the last attempt."""
        assert self._api.post(f"{self.project.url}/issues", self._make.root, title="One").status_code == 201
        deadline = time.monotonic() + DEADLINE_SECONDS
        while len(found := self._api.get(f"{self.url}/events", self._make.root).json()) < count:
            assert time.monotonic() < deadline
        return found[0]


@pytest.fixture
def local_listener() -> Iterator[Receiver]:
    """Yield a server on all local addresses that must receive nothing."""
    receiver = Receiver("0.0.0.0")
    yield receiver
    receiver.close()


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["127.0.0.1", "93.184.216.34"], ["169.254.169.254"],
                  ["::1"], ["::ffff:127.0.0.1"], ["10.0.0.1"], ["0.0.0.0"]],
)  # fmt: skip
def test_names_of_local_addresses_are_blocked(
    api: Api, make: Make, resolver: FakeResolver, local_listener: Receiver, addresses: list[str]
) -> None:
    """Attack: a host name resolves to a local address, alone or among others. No connection is made."""
    host = f"{make.name('host')}.example"
    resolver.answers[host] = [addresses]
    event = NamedHook(api, make, f"http://{host}:{local_listener.port}/x").trigger()
    assert event["response_status"] == "internal error"
    assert event["internal_error_message"].startswith("The request was blocked")
    assert local_listener.got.empty()


def test_dns_rebinding(
    api: Api, make: Make, resolver: FakeResolver, local_listener: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attack: the host name is public when checked and local a moment later. The first answer is used."""
    monkeypatch.setattr(hook_worker, "IDLE_SECONDS", DEADLINE_SECONDS)
    host = f"{make.name('host')}.example"
    resolver.answers[host] = [["127.0.0.2"], ["127.0.0.1"]]
    hook = NamedHook(api, make, f"http://{host}:{local_listener.port}/x")
    assert hook.trigger()["response_status"] == "200"
    assert local_listener.next().headers["host"] == f"{host}:{local_listener.port}"
    assert resolver.asked.count(host) == 1
    # The connection is reused, so nothing is resolved; another URL is resolved again and blocked.
    assert hook.trigger(2)["response_status"] == "200"
    assert resolver.asked.count(host) == 1
    local_listener.next()
    changed = api.put(hook.url, make.root, url=f"http://{host}:{local_listener.port}/y")
    assert changed.status_code == 200
    assert hook.trigger(3)["internal_error_message"].startswith("The request was blocked")
    assert local_listener.got.empty()


def test_a_failed_lookup_disables_no_check(api: Api, make: Make, resolver: FakeResolver) -> None:
    """Attack: a failed lookup is retried and does not disable the check."""
    hook = NamedHook(api, make, f"http://{make.name('host')}.example/x")
    event = hook.trigger()
    assert event["internal_error_message"] == "The URL's host cannot be resolved"
    assert resolver.asked


def test_allowed_networks(api: Api, make: Make, resolver: FakeResolver, local_listener: Receiver) -> None:
    """No other local address is reachable."""
    for address, status in (("127.0.0.2", "200"), ("127.0.0.3", "internal error")):
        host = f"{make.name('host')}.example"
        resolver.answers[host] = [[address]]
        assert NamedHook(api, make, f"http://{host}:{local_listener.port}/x").trigger()["response_status"] == status
    assert local_listener.next()
    assert local_listener.got.empty()
