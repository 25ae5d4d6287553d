"""Live DNS rebinding: the answer for a name changes between the guard's check and the connection."""

import socket
from collections.abc import Callable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from ingot.core.outgoing.client import send
from ingot.core.outgoing.errors import HostUnresolved, RequestRefused
from ingot.core.outgoing.guard import OutgoingRules, SsrfGuard
from ingot.core.outgoing.remotes import find_repository
from ingot.git.maintenance.fetch import fetch_into, remote_config
from ingot.git.maintenance.store import RepositoryStore, new_key
from tests.git.conftest import Clone
from tests.git.git_server import GitServer, serving
from tests.outgoing.raw_server import OK, answering, responding_with

HOST = "rebind.example"
ALLOWED, FORBIDDEN = "127.0.0.1", "127.0.0.3"


class ChangingResolver:
    """A stand-in for the resolver of the whole process; the first lookups of a name get the allowed address."""

    def __init__(self, resolve: Callable[..., Any], allowed_lookups: int) -> None:
        self._resolve = resolve
        self._left = allowed_lookups
        self.lookups = 0

    def __call__(self, host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host not in (HOST, HOST.encode()):
            return self._resolve(host, port, *args, **options)
        self.lookups += 1
        self._left -= 1
        address = ALLOWED if self._left >= 0 else FORBIDDEN
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]


@pytest.fixture
def guard_with(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], tuple[SsrfGuard, ChangingResolver]]:
    """Return a function that makes a guard which may reach one address of ours, and its resolver."""

    def make(allowed_lookups: int) -> tuple[SsrfGuard, ChangingResolver]:
        resolver = ChangingResolver(socket.getaddrinfo, allowed_lookups)
        # Also for every other lookup of this process, such as one by the HTTP client.
        monkeypatch.setattr(socket, "getaddrinfo", resolver)
        return SsrfGuard(allowed=[ip_network(f"{ALLOWED}/32")], resolve=resolver), resolver

    return make


def test_a_request_reaches_the_address_that_was_checked(
    guard_with: Callable[[int], tuple[SsrfGuard, ChangingResolver]],
) -> None:
    guard, resolver = guard_with(1)
    with answering(responding_with(OK + b"Content-Length: 2\r\n\r\nok")) as (port, heard):
        pinned = guard.pin(f"http://{HOST}:{port}/in")
        assert send(pinned).body == b"ok"
        assert f"Host: {HOST}:{port}" in heard[0].decode()
        assert resolver.lookups == 1
        with pytest.raises(RequestRefused):
            guard.pin(f"http://{HOST}:{port}/in")


def test_without_protection_the_name_is_resolved_again(
    guard_with: Callable[[int], tuple[SsrfGuard, ChangingResolver]],
) -> None:
    """The connection goes where the second lookup leads; local addresses are refused at the check as before."""
    guard, resolver = guard_with(2)
    unprotected = guard.under(OutgoingRules(pinned=False))
    with answering(responding_with(OK + b"Content-Length: 2\r\n\r\nok")) as (port, heard):
        pinned = unprotected.pin(f"http://{HOST}:{port}/in")
        assert (pinned.address, send(pinned).body, resolver.lookups) == (HOST, b"ok", 2)
        assert f"Host: {HOST}:{port}" in heard[0].decode()
        with pytest.raises(RequestRefused, match="local network"):
            unprotected.pin(f"http://{HOST}:{port}/in")


def test_without_protection_a_name_that_is_not_resolved_is_not_refused() -> None:
    """Only if all hosts may be reached; its connection fails by itself."""

    def failing(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(-2, "unknown")

    guard = SsrfGuard(resolve=failing)
    assert guard.under(OutgoingRules(pinned=False)).pin("http://later.example/").address == "later.example"
    listed = OutgoingRules(pinned=False, only_listed=True, hosts=frozenset({"later.example"}))
    assert guard.under(listed).pin("http://later.example/").address == "later.example"
    networks = OutgoingRules(pinned=False, only_listed=True, networks=(ip_network("10.0.0.0/8"),))
    for rules in (networks, OutgoingRules(pinned=True)):
        with pytest.raises(HostUnresolved):
            guard.under(rules).pin("http://later.example/")


def test_git_resolves_the_name_by_itself_without_protection(
    guard_with: Callable[[int], tuple[SsrfGuard, ChangingResolver]],
) -> None:
    for pinned, resolved in ((True, True), (False, False)):
        guard, _ = guard_with(1)
        checked = guard.under(OutgoingRules(pinned=pinned)).pin(f"http://{HOST}/remote.git")
        options = dict(remote_config(checked, "", ""))
        assert ("http.curloptResolve" in options) is resolved


def test_git_reaches_the_address_that_was_checked(
    guard_with: Callable[[int], tuple[SsrfGuard, ChangingResolver]], tmp_path: Path
) -> None:
    """git resolves names by itself; it is given the address, and no real server knows this name."""
    (tmp_path / "served").mkdir()
    served = RepositoryStore(tmp_path / "served")
    served.create("a" * 64, "master")
    served.path_of("a" * 64).rename(tmp_path / "served" / "remote.git")
    clone = Clone(tmp_path / "clone")
    clone.commit()
    clone.push(tmp_path / "served" / "remote.git")
    guard, resolver = guard_with(1)
    with serving(GitServer(tmp_path / "served")) as server:
        url = f"http://{HOST}:{server.port}/remote.git"
        remote = find_repository(guard, url)
        store, key = RepositoryStore(tmp_path / "ours"), new_key()
        store.create(key, "master")
        assert fetch_into(store.path_of(key), remote.url, remote.pinned, "", "") is None
        assert store.open(key).commit_count() == 1
        assert {host for _, host, _ in server.asked} == {f"{HOST}:{server.port}"}
        assert resolver.lookups == 1

        server.redirects = {"/moved": (302, f"{url}{{rest}}")}
        guard, _ = guard_with(1)
        with pytest.raises(RequestRefused):
            find_repository(guard, f"http://{HOST}:{server.port}/moved")
