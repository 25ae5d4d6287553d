"""TLS of webhooks: a receiver must have a trusted certificate for its name, unless the hook says otherwise."""

import ssl
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingot.core.outgoing import client
from tests.api.hooks.receiver import DEADLINE_SECONDS, Receiver
from tests.certificates import certificate_for
from tests.client import Api, Make
from tests.factories import make_project

Receive = Callable[[str], Receiver]


@pytest.fixture
def receive(tmp_path: Path) -> Iterator[Receive]:
    """Return a function that starts a receiver with a certificate for a name, which only itself vouches for."""
    started: list[Receiver] = []

    def start(name: str) -> Receiver:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate_for(tmp_path, name))
        started.append(Receiver(tls=context))
        return started[-1]

    yield start
    for receiver in started:
        receiver.close()


@pytest.fixture
def trust(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Return a function that makes this machine trust the certificates of a file, as OpenSSL's variable does."""

    def add(file: Path) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        client._tls_context.cache_clear()

    yield add
    client._tls_context.cache_clear()


def _deliver(api: Api, make: Make, receiver: Receiver, **attributes: Any) -> Any:
    """Send one event to a receiver at localhost and return what became of it."""
    project = make_project(make)
    sent = {"url": f"https://localhost:{receiver.port}/", "issues_events": True, "push_events": False, **attributes}
    hook = api.post(f"{project.url}/hooks", make.root, **sent)
    assert hook.status_code == 201, hook.text
    assert api.post(f"{project.url}/issues", make.root, title="One").status_code == 201
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (events := api.get(f"{project.url}/hooks/{hook.json()['id']}/events", make.root).json()):
        assert time.monotonic() < deadline
    return events[0]


@pytest.mark.usefixtures("dispatcher")
@pytest.mark.parametrize(("name", "trusted"), [("localhost", False), ("other.example", False), ("other.example", True)])
def test_a_false_certificate_is_refused(
    api: Api, make: Make, receive: Receive, trust: Callable[[Path], None], tmp_path: Path, name: str, trusted: bool
) -> None:
    receiver = receive(name)
    if trusted:
        trust(tmp_path / f"{name}.pem")
    event = _deliver(api, make, receiver, enable_ssl_verification=True)
    assert event["response_status"] == "internal error"
    assert "No secure connection" in event["internal_error_message"]
    assert receiver.got.empty()


@pytest.mark.usefixtures("dispatcher")
def test_a_trusted_certificate_is_accepted(
    api: Api, make: Make, receive: Receive, trust: Callable[[Path], None], tmp_path: Path
) -> None:
    receiver = receive("localhost")
    trust(tmp_path / "localhost.pem")
    assert _deliver(api, make, receiver, enable_ssl_verification=True)["response_status"] == "200"
    assert receiver.next().headers["x-gitlab-event"] == "Issue Hook"


@pytest.mark.usefixtures("dispatcher")
def test_a_hook_may_do_without(api: Api, make: Make, receive: Receive) -> None:
    receiver = receive("other.example")
    assert _deliver(api, make, receiver, enable_ssl_verification=False)["response_status"] == "200"
    assert receiver.next()


def test_verification_is_the_default(api: Api, make: Make) -> None:
    made = api.post(f"{make_project(make).url}/hooks", make.root, url="https://example.org/")
    assert made.json()["enable_ssl_verification"] is True
