"""Settings of outgoing requests: local addresses, the allow list, and silent mode."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import bindparam, func, select

from ingot.accounts.instance.outgoing_rules import instance_guard
from ingot.core.log import Log
from ingot.core.outgoing.errors import RequestRefused
from ingot.server.app import open_database
from ingot.server.jobs import hook_dispatcher
from ingot.webhooks.delivery.tables import hook_deliveries
from tests.api.hooks.receiver import Receiver
from tests.client import Api, Make
from tests.conftest import Instance
from tests.factories import make_group, make_project
from tests.web.browser import Browser

Configure = Callable[..., None]
WEB_HOOKS = "allow_local_requests_from_web_hooks_and_services"
SYSTEM_HOOKS = "allow_local_requests_from_system_hooks"
ALLOWED = "outbound_local_requests_whitelist"
_WAITING = select(func.count()).where(
    hook_deliveries.c.hook_id == bindparam("hook"), hook_deliveries.c.state == "waiting"
)
DEFAULTS: dict[str, Any] = {
    WEB_HOOKS: False,
    SYSTEM_HOOKS: False,
    ALLOWED: [],
    "deny_all_requests_except_allowed": False,
    "dns_rebinding_protection_enabled": True,
    "silent_mode_enabled": False,
}


@pytest.fixture
def configure(api: Api, make: Make) -> Iterator[Configure]:
    """Yield a function that changes the settings until the test ends."""

    def change(**settings: Any) -> None:
        changed = api.put("/application/settings", make.root, **settings)
        assert changed.status_code == 200, changed.text

    yield change
    change(**DEFAULTS)


@pytest.fixture(scope="module", autouse=True)
def dispatcher(instance: Instance) -> Iterator[None]:
    """Deliver events with the settings of the server, which allow no local addresses."""
    database = open_database(instance.settings)
    dispatcher = hook_dispatcher(instance.settings, database, Log("json", instance.log))
    dispatcher.start()
    yield
    assert dispatcher.stop()
    database.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


def test_local_addresses_of_webhooks_and_system_hooks(
    api: Api, make: Make, receiver: Receiver, configure: Configure
) -> None:
    hooks = f"{make_project(make).url}/hooks"

    def statuses() -> list[int]:
        return [api.post(path, make.root, url=receiver.url("/local")).status_code for path in (hooks, "/hooks")]

    assert statuses() == [422, 400]
    configure(**{WEB_HOOKS: True})
    assert statuses() == [201, 400]
    configure(**{WEB_HOOKS: False, SYSTEM_HOOKS: True})
    assert statuses() == [422, 201]


def test_an_allowed_address_is_reached_until_it_is_removed(
    api: Api, make: Make, receiver: Receiver, configure: Configure
) -> None:
    project = make_project(make)
    configure(**{ALLOWED: ["127.0.0.0/8, git.example.com:8443"]})
    assert api.get("/application/settings", make.root).json()[ALLOWED] == ["127.0.0.0/8", "git.example.com:8443"]
    made = api.post(f"{project.url}/hooks", make.root, url=receiver.url("/listed"), issues_events=True)
    assert made.status_code == 201, made.text

    api.post(f"{project.url}/issues", make.root, title="Delivered")
    assert receiver.next().body["object_attributes"]["title"] == "Delivered"
    configure(**{ALLOWED: []})
    api.post(f"{project.url}/issues", make.root, title="Refused")
    events = f"{project.url}/hooks/{made.json()['id']}/events"
    attempts: list[Any] = []
    while len(attempts) < 2:
        attempts = api.get(events, make.root).json()
    assert "not allowed" in attempts[0]["internal_error_message"]


def test_all_other_requests_are_denied(api: Api, make: Make, receiver: Receiver, configure: Configure) -> None:
    hooks = f"{make_project(make).url}/hooks"
    configure(**{WEB_HOOKS: True, "deny_all_requests_except_allowed": True})

    refused = api.post(hooks, make.root, url=receiver.url("/denied"))
    assert (refused.status_code, "allow list" in refused.text) == (422, True)
    assert api.post(hooks, make.root, url="http://93.184.216.34/").status_code == 422
    configure(**{ALLOWED: ["127.0.0.1", "93.184.216.34"]})
    assert api.post(hooks, make.root, url=receiver.url("/denied")).status_code == 201
    assert api.post(hooks, make.root, url="http://93.184.216.34/").status_code == 201


def test_hooks_to_denied_names_are_neither_created_nor_edited(api: Api, make: Make, configure: Configure) -> None:
    hooks, group_hooks = f"{make_project(make).url}/hooks", f"{make_group(make).url}/hooks"
    listed, other = "https://ci.example.com:8443/hook", "https://other.example.com/hook"
    made = [api.post(path, make.root, url=other) for path in (hooks, group_hooks, "/hooks")]
    assert [each.status_code for each in made] == [201, 201, 201]
    existing = [f"{path}/{each.json()['id']}" for path, each in zip((hooks, group_hooks, "/hooks"), made, strict=True)]

    configure(**{"deny_all_requests_except_allowed": True, ALLOWED: ["ci.example.com:8443"]})
    for path, status in ((hooks, 422), (group_hooks, 422), ("/hooks", 400)):
        refused = api.post(path, make.root, url=other)
        assert (refused.status_code, "allow list" in refused.text) == (status, True)
        assert api.post(path, make.root, url="https://ci.example.com/hook").status_code == status, "Another port."
    for path in existing:
        assert api.put(path, make.root, url="https://third.example.com/").status_code in (400, 422)
        assert api.get(path, make.root).json()["url"] == other
        assert api.put(path, make.root, url=listed).status_code == 200
        assert api.delete(path, make.root).status_code in (200, 204)
    # A name may have an address in a listed network, which its lookup before a delivery tells.
    configure(**{ALLOWED: ["192.0.2.0/24"]})
    assert api.post(hooks, make.root, url=other).status_code == 201


def test_nothing_leaves_a_silent_server(
    api: Api, make: Make, instance: Instance, receiver: Receiver, configure: Configure
) -> None:
    project, member = make_project(make), make.user()
    configure(**{WEB_HOOKS: True})
    made = api.post(f"{project.url}/hooks", make.root, url=receiver.url("/silent"), issues_events=True)
    hook = f"{project.url}/hooks/{made.json()['id']}"
    guard, importing = (
        instance_guard(instance.settings, instance.app.database, reads_only=only) for only in (False, True)
    )
    mails = len(instance.mails())

    configure(silent_mode_enabled=True)
    api.post(f"{project.url}/issues", make.root, title="Silent")
    api.post(f"{project.url}/members", make.root, user_id=member.id, access_level=30)
    assert len(instance.mails()) == mails
    with pytest.raises(RequestRefused, match="silent"):
        guard.pin("http://127.0.0.1/")
    assert importing.pin("http://127.0.0.1/").address == "127.0.0.1"
    with Browser(instance.url) as browser:
        assert "Silent mode is on" in browser.get("/explore").text
    while instance.app.database.read(lambda db: db.value(_WAITING, hook=made.json()["id"])):
        pass
    assert api.get(f"{hook}/events", make.root).json() == []

    configure(silent_mode_enabled=False)
    api.post(f"{project.url}/issues", make.root, title="Told")
    assert receiver.next().body["object_attributes"]["title"] == "Told", "The event before was dropped."
    with Browser(instance.url) as browser:
        assert "Silent mode is on" not in browser.get("/explore").text


@pytest.mark.parametrize("entry", ["http://example.com", "exa mple.com!", "*.example.com", "a" * 300])
def test_invalid_entries_are_refused(api: Api, make: Make, entry: str) -> None:
    assert api.put("/application/settings", make.root, **{ALLOWED: [entry]}).status_code == 400


def test_dns_rebinding_protection(
    api: Api, make: Make, receiver: Receiver, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the connection can resolve this name, which is asked only without the protection."""
    host, resolve = f"{'h' * 64}.example", socket.getaddrinfo

    def resolving(name: Any, port: Any, *args: Any, **options: Any) -> Any:
        if name not in (host, host.encode()):
            return resolve(name, port, *args, **options)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolving)  # Not that of the guard, which fails for so long a label.
    project = make_project(make)
    url = receiver.url("/name").replace("127.0.0.1", host)
    assert host in url
    made = api.post(f"{project.url}/hooks", make.root, url=url, issues_events=True)
    assert made.status_code == 201, made.text
    api.post(f"{project.url}/issues", make.root, title="Refused")
    events = f"{project.url}/hooks/{made.json()['id']}/events"
    attempts: list[Any] = []
    while not attempts:
        attempts = api.get(events, make.root).json()
    assert attempts[0]["internal_error_message"] == "The URL's host cannot be resolved"
    configure(dns_rebinding_protection_enabled=False)
    api.post(f"{project.url}/issues", make.root, title="Delivered")
    assert receiver.next().body["object_attributes"]["title"] == "Delivered"
