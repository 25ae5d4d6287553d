"""Limits of SSH connections before authentication: a share per address, random early drop, a login timeout."""

import asyncio
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from ingot.core.http.client_networks import client_network
from ingot.core.log import Log
from ingot.server.supervisor import open_socket
from ingot.transport import connection_limits, ssh_server
from ingot.transport.connection_limits import ConnectionLimits, drop_percentage
from ingot.transport.ssh_server import SshServer
from ingot.transport.ssh_sessions import SshSessions
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import make_project
from tests.server.process import until
from tests.transport.conftest import Tree, over_ssh, ssh_command
from tests.transport.wire import key_of

Give = Callable[[User], dict[str, str]]
ATTACKER, CLIENT = "127.0.0.1", "127.0.0.2"


@pytest.fixture
def half_open(instance: Instance) -> Iterator[Callable[[int], list[socket.socket]]]:
    """Opens connections from one address that never authenticate."""
    until("connections of other tests to be closed", lambda: instance.ssh and not len(instance.ssh.unauthenticated))
    with ExitStack() as stack:

        def connect(count: int) -> list[socket.socket]:
            server = ("127.0.0.1", instance.settings.ssh_port)
            return [
                stack.enter_context(socket.create_connection(server, source_address=(ATTACKER, 0)))
                for _ in range(count)
            ]

        yield connect


@contextmanager
def second_server(instance: Instance) -> Iterator[tuple[int, ConnectionLimits]]:
    """Serve SSH on another port of its own thread."""
    log = Log("json", instance.log)
    listener = open_socket("127.0.0.1", 0)
    sessions = SshSessions(instance.settings, instance.app.database, log)
    server = SshServer(instance.settings, sessions, log)
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        acceptor = await server.listen(listener)
        await stop.wait()
        acceptor.close()
        await acceptor.wait_closed()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        yield listener.getsockname()[1], server.unauthenticated
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
        sessions.close()


def _greeting(instance: Instance, key: Path, address: str) -> bool:
    """Return whether a client at an address can sign in."""
    words = [*ssh_command(key).split(), "-b", address, "-T", "-p", str(instance.settings.ssh_port), "git@127.0.0.1"]
    done = subprocess.run(words, capture_output=True, check=False, timeout=60)
    return done.stdout.startswith(b"Welcome")


def test_one_address_does_not_keep_others_out(
    instance: Instance,
    make: Make,
    ssh_key: Give,
    tree: Tree,
    half_open: Callable[[int], list[socket.socket]],
) -> None:
    """Attack: 200 connections from one address that never authenticate."""
    assert instance.ssh is not None
    limits = instance.ssh.unauthenticated
    owner = make.user()
    project = make_project(make, owner)
    environment = ssh_key(owner)
    before = limits.dropped
    waiting = half_open(200)
    until("the connections to be counted", lambda: limits.dropped - before + len(limits) == 200)
    assert len(limits) == connection_limits.MAX_PER_ADDRESS
    assert not _greeting(instance, key_of(environment), ATTACKER)
    tree.env = {"GIT_SSH_COMMAND": f"{environment['GIT_SSH_COMMAND']} -b {CLIENT}"}
    tree.commit()
    tree.git("push", "-q", over_ssh(instance, project), "master")
    for connection in waiting[: connection_limits.MAX_PER_ADDRESS // 2]:
        connection.close()
    until("a share of the address to be free", lambda: _greeting(instance, key_of(environment), ATTACKER))


def test_authenticated_connections_do_not_count(
    instance: Instance, make: Make, ssh_key: Give, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "MAX_PER_ADDRESS", 1)
    key = key_of(ssh_key(make.user()))
    there = ["-p", str(instance.settings.ssh_port), "git@127.0.0.1"]
    words = [*ssh_command(key).split(), "-M", "-S", str(tmp_path / "master"), "-N", "-T", *there]
    until("other connections to be closed", lambda: instance.ssh and not len(instance.ssh.unauthenticated))
    with subprocess.Popen(words) as master:
        try:
            until("the connection to be authenticated", (tmp_path / "master").exists)
            assert _greeting(instance, key, "127.0.0.1")
        finally:
            master.terminate()


def test_the_login_timeout_frees_the_share(
    instance: Instance,
    make: Make,
    ssh_key: Give,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A second server with a short timeout closes a connection that says nothing, and then serves the address."""
    assert instance.ssh is not None
    assert ssh_server.LOGIN_SECONDS <= 30
    monkeypatch.setattr(ssh_server, "LOGIN_SECONDS", 1)
    monkeypatch.setattr(connection_limits, "MAX_PER_ADDRESS", 1)
    with second_server(instance) as (port, limits):
        with socket.create_connection(("127.0.0.1", port)) as silent:
            until("the connection to be counted", lambda: len(limits) == 1)
            while silent.recv(1000):
                pass
        until("the connection to be released", lambda: len(limits) == 0)
        key = key_of(ssh_key(make.user()))
        words = [*ssh_command(key).split(), "-T", "-p", str(port), "git@127.0.0.1"]
        until(
            "the address to be served",
            lambda: b"Welcome" in subprocess.run(words, capture_output=True, check=False).stdout,
        )


def test_random_early_drop() -> None:
    """The part of dropped connections grows from none to all; other addresses keep a chance until then."""
    start, end = connection_limits.DROP_START, connection_limits.DROP_ALL
    assert [drop_percentage(count) for count in (0, start - 1, start, end, end + 1)] == [0, 0, 30, 100, 100]
    parts = [drop_percentage(count) for count in range(start, end)]
    assert parts == sorted(parts) and parts[-1] < 100
    limits = ConnectionLimits()
    admitted = [limits.admit(number, f"10.0.{number // 250}.{number % 250}") for number in range(5000)]
    assert all(admitted[:start]) and not all(admitted)
    assert len(limits) == sum(admitted) <= end
    assert limits.dropped == 5000 - sum(admitted)


def test_shares_of_addresses() -> None:
    """An IPv6 client owns at least 64 bits of addresses, so these count as one."""
    assert client_network("2001:db8::1") == client_network("2001:db8::ffff:0:1") == "2001:db8::/64"
    assert client_network("2001:db8:0:1::1") != client_network("2001:db8::1")
    assert client_network("fe80::1%eth0") == "fe80::/64"
    assert client_network("::ffff:192.0.2.1") == client_network("192.0.2.1") == "192.0.2.1"
    assert client_network("") == ""
    limits = ConnectionLimits()
    admitted = [limits.admit(number, f"2001:db8::{number:x}") for number in range(100)]
    assert sum(admitted) == connection_limits.MAX_PER_ADDRESS
    for number in range(100):
        limits.release(number)
        limits.release(number)
    assert len(limits) == 0
    assert limits.admit("again", "2001:db8::1")
