"""Clients that disconnect or stall: no processes, pipes or files are left on the server."""

import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.core.http import transfer_rate
from ingot.git.maintenance.housekeeping import STALE_SECONDS, prune_temporary
from ingot.repositories.ref_changes.apply import finish_pushed_updates
from ingot.transport import exchange, push
from ingot.transport.git_process import GitProcess
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of
from tests.server.process import until
from tests.transport.conftest import Tree, over_http, ssh_command
from tests.transport.test_revocation import push_of
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO, key_of, packet

LARGE = 8 * 2**20
PROTOCOLS = ["http", "ssh"]
pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for git processes in /proc")
Give = Callable[..., dict[str, str]]


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, owner: User, tree: Tree) -> Project:
    """Return a project with more data than fits into pipe buffers."""
    made = make_project(make, owner)
    (tree.folder / "file").write_bytes(os.urandom(LARGE))
    tree.git("add", "file")
    tree.git("commit", "-q", "-m", "Large")
    tree.git("push", "-q", over_http(instance, made, owner), "master")
    return made


@pytest.fixture
def key(owner: User, ssh_key: Give) -> Path:
    return key_of(ssh_key(owner))


def gits(instance: Instance) -> list[str]:
    """Return the git processes that serve a client."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            where = (process / "cwd").readlink()
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if command and where.is_relative_to(instance.settings.data / "repositories"):
            found.append(command.replace(b"\0", b" ").decode(errors="replace"))
    return found


def pipes() -> int:
    """Return the number of open pipes to processes; other descriptors belong to the database, one for each thread."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found += str(descriptor.readlink()).startswith("pipe:")
        except FileNotFoundError:
            continue
    return found


@pytest.fixture
def started_commands(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """Return the git commands that were started, including those that have ended."""
    started_commands: list[Sequence[str]] = []
    start = GitProcess.start

    async def recorded(args: Sequence[str], *rest: Any, **options: Any) -> GitProcess:
        child = await start(args, *rest, **options)
        started_commands.append(args)
        return child

    monkeypatch.setattr(GitProcess, "start", recorded)
    return started_commands


@contextmanager
def client(
    instance: Instance, owner: User, project: Project, key: Path, protocol: str, service: str, sent: bytes
) -> Iterator[None]:
    """Connect a client that sends something, then neither sends nor reads, and disconnects."""
    if protocol == "http":
        head = (
            f"POST /{project.path}.git/git-{service} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {owner.token}\r\n"
            f"Content-Type: application/x-git-{service}-request\r\nContent-Length: {len(sent) + 1}\r\n\r\n"
        )
        body = sent + (b"" if service == "receive-pack" else b"\n")
        with socket.create_connection(("127.0.0.1", httpx.URL(instance.url).port)) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.sendall(head.encode() + body)
            yield
        return
    command = [*ssh_command(key).split(), "-p", str(instance.settings.ssh_port), "git@127.0.0.1"]
    process = subprocess.Popen(
        [*command, f"git-{service} '{project.path}'"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    try:
        process.stdin.write(sent)
        process.stdin.flush()
        yield
    finally:
        process.kill()
        process.communicate()


def _wants(instance: Instance, project: Project) -> bytes:
    tip = repository_of(instance, project).tip("refs/heads/master")
    return packet(f"want {tip} side-band-64k ofs-delta\n") + b"0000" + packet("done\n")


HALF = packet(f"{ZERO} {'1' * 40} refs/heads/half\0report-status side-band-64k") + b"0000PACK\0\0\0\2\0\0\xff\xff"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_client_disconnects(
    instance: Instance, owner: User, project: Project, key: Path, tree: Tree, protocol: str
) -> None:
    """In the middle of a clone, and of a push."""
    repository = repository_of(instance, project)
    until("the end of git", lambda: not gits(instance))
    before = pipes()
    for _ in range(2):
        with client(instance, owner, project, key, protocol, "upload-pack", _wants(instance, project)):
            until("its git", lambda: any("pack-objects" in git for git in gits(instance)))
        until("the end of git", lambda: not gits(instance))
        with client(instance, owner, project, key, protocol, "receive-pack", HALF):
            until("its quarantine", lambda: list(repository.path.glob("objects/*incoming-*")))
        until("the end of git", lambda: not gits(instance))
    until("the end of all pipes", lambda: pipes() <= before)
    assert len(recorded(instance, project)) == 1
    assert not list(repository.path.rglob("*.lock"))
    prune_temporary(repository.path, time.time() + STALE_SECONDS + 1)
    assert not list(repository.path.glob("objects/*incoming-*"))
    tree.git("push", "-q", over_http(instance, project, owner), "master:after")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_client_does_not_send(
    instance: Instance,
    owner: User,
    project: Project,
    key: Path,
    protocol: str,
    started_commands: list[Sequence[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transfer_rate, "STREAM_WINDOW_SECONDS", 0.5)
    monkeypatch.setattr(exchange, "IDLE_SECONDS", 0.5)
    with client(instance, owner, project, key, protocol, "receive-pack", HALF):
        until("its git", lambda: started_commands)
        until("the end of git", lambda: not gits(instance))
    assert len(recorded(instance, project)) == 1


def test_a_client_disconnects_after_the_ref_checks(
    instance: Instance, owner: User, project: Project, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The accepted push is completed and recorded, although the client is gone."""
    commands, pack = push_of(tree, "refs/heads/topic")
    connection = socket.create_connection(("127.0.0.1", httpx.URL(instance.url).port))

    def disconnect(*args: object) -> None:
        connection.close()
        finish_pushed_updates(*args)  # type: ignore[arg-type] # They are what it takes.

    monkeypatch.setattr(push, "finish_pushed_updates", disconnect)
    head = (
        f"POST /{project.path}.git/git-receive-pack HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {owner.token}\r\n"
        "Content-Type: application/x-git-receive-pack-request\r\n"
        f"Content-Length: {len(commands) + len(pack)}\r\n\r\n"
    )
    connection.sendall(head.encode() + commands + pack)
    until("the branch", lambda: repository_of(instance, project).tip("refs/heads/topic"))
    until("the end of git", lambda: not gits(instance))
    until("the record", lambda: len(recorded(instance, project)) == 2)
