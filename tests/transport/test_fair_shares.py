"""Shares of transfers: a user who does not read responses does not keep others out, by any protocol."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from select import select

import asyncssh
import httpx
import pytest

from ingot.core.errors import TransfersBusy
from ingot.core.http import transfer_slots
from ingot.core.http.transfer_slots import TransferCaller, TransferSlots
from tests.ci.artifacts.files import upload, zip_of
from tests.ci.pipelines.rows import PipelineRows
from tests.client import Api, Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.lfs.conftest import LfsClient
from tests.server.process import until
from tests.transport.conftest import Tree, over_http, over_ssh
from tests.transport.test_disconnects import _wants, gits
from tests.transport.wire import key_of

BUSY = "The server is busy with other transfers. Retry later."
CONTENT = os.urandom(8 * 2**20)
Give = Callable[..., dict[str, str]]


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def other(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, owner: User, other: User, tree: Tree) -> Project:
    """Return a project whose file does not fit into the buffers of a connection."""
    made = make_project(make, owner, visibility="private", members={other: 40})
    (tree.folder / "file").write_bytes(CONTENT)
    tree.git("add", "file")
    tree.git("commit", "-q", "-m", "Large")
    tree.git("push", "-q", over_http(instance, made, owner), "master")
    return made


@pytest.fixture
def lfs(instance: Instance) -> Iterator[LfsClient]:
    with httpx.Client(timeout=60) as client:
        yield LfsClient(instance.url, client)


@contextmanager
def unread(instance: Instance, request: str, user: User, body: bytes = b"") -> Iterator[socket.socket]:
    """Send a request whose response is not read."""
    lines = [f"{request} HTTP/1.1", "Host: x", f"PRIVATE-TOKEN: {user.token}", f"Content-Length: {len(body)}"]
    if body:
        lines.append("Content-Type: application/x-git-upload-pack-request")
    with socket.create_connection(("127.0.0.1", httpx.URL(instance.url).port)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        yield connection


def status_of(connection: socket.socket) -> str:
    """Return the status of a response that has begun."""
    return connection.recv(64, socket.MSG_PEEK).split()[1].decode()


def begun(connections: list[socket.socket]) -> list[socket.socket]:
    """Return the connections whose responses have begun."""
    return select(connections, [], [], 0)[0]


def test_sixty_unread_clones_over_http(
    instance: Instance, owner: User, other: User, project: Project, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One holds the user's share, some wait, and the rest is refused; another user's command succeeds meanwhile."""
    slots = TransferSlots(4)
    monkeypatch.setattr(instance.app.git, "_slots", slots)
    monkeypatch.setattr(transfer_slots, "WAIT_SECONDS", 600.0)
    request = f"POST /{project.path}.git/git-upload-pack"
    with ExitStack() as stack:
        held = [stack.enter_context(unread(instance, request, owner, _wants(instance, project))) for _ in range(60)]
        until("the refusals", lambda: len(begun(held)) == 28)  # One has a slot, 32 wait.
        assert sorted(status_of(each) for each in begun(held)) == ["200", *["503"] * 27]
        assert "refs/heads/master" in tree.git("ls-remote", over_http(instance, project, other))
        assert len(begun(held)) == 28
        refused = next(each for each in begun(held) if status_of(each) == "503")
        text = refused.recv(4096).decode()
        assert BUSY in text
        assert "retry-after: 10" in text
    until("the end of git", lambda: not gits(instance))


def test_sixty_unread_clones_over_ssh(
    instance: Instance,
    owner: User,
    other: User,
    project: Project,
    tree: Tree,
    ssh_key: Give,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert instance.ssh is not None
    monkeypatch.setattr(instance.ssh.sessions, "_slots", TransferSlots(4))
    monkeypatch.setattr(transfer_slots, "WAIT_SECONDS", 600.0)
    key, wants = key_of(ssh_key(owner)), _wants(instance, project)
    tree.env = ssh_key(other)

    async def hold() -> tuple[str, str, int | None]:
        port = instance.settings.ssh_port
        async with asyncssh.connect("127.0.0.1", port, username="git", client_keys=[key], known_hosts=None) as client:
            sessions = []
            for _ in range(60):
                session = await client.create_process(f"git-upload-pack '{project.path}'", encoding=None)
                with suppress(OSError):  # Refused already.
                    session.stdin.write(wants)
                sessions.append(session)
            done, waiting = await asyncio.wait(
                [asyncio.ensure_future(session.wait_closed()) for session in sessions], return_when="FIRST_COMPLETED"
            )
            listed = await asyncio.to_thread(tree.git, "ls-remote", over_ssh(instance, project))
            assert done and waiting
            for task in waiting:
                task.cancel()
            refused = next(session for session in sessions if session.exit_status is not None)
            return listed, (await refused.stderr.read()).decode(), refused.exit_status

    listed, message, status = asyncio.run(hold())
    assert "refs/heads/master" in listed
    assert (message, status) == (f"{BUSY}\n", 128)
    until("the end of git", lambda: not gits(instance))


def _archive(_: LfsClient, __: Make, project: Project, ___: User) -> str:
    return f"/api/v4{project.url}/repository/archive.tar"


def _lfs(lfs: LfsClient, _: Make, project: Project, owner: User) -> str:
    return f"/{project.path}.git/gitlab-lfs/objects/{lfs.upload(project, owner, CONTENT)}"


def _artifacts(_: LfsClient, make: Make, project: Project, __: User) -> str:
    rows = PipelineRows(make, "build 0", project=project)
    rows.process()
    token, job = rows.start("build"), rows.job("build")
    assert upload(make.api, job.id, token, zip_of({"file": CONTENT})).status_code == 201
    rows.finish("build")
    return f"/api/v4{project.url}/jobs/{job.id}/artifacts"


def _package(_: LfsClient, make: Make, project: Project, owner: User) -> str:
    path = f"{project.url}/packages/generic/tool/1.0/file"
    assert make.api.request("PUT", path, owner, content=CONTENT).status_code == 201
    return f"/api/v4{path}"


def _raw_file(_: LfsClient, make: Make, project: Project, owner: User) -> str:
    return f"/api/v4{project.url}/repository/files/file/raw?ref=master"


@pytest.mark.parametrize("prepare", [_archive, _lfs, _artifacts, _package, _raw_file])
def test_share_of_downloads(
    instance: Instance,
    make: Make,
    owner: User,
    other: User,
    project: Project,
    lfs: LfsClient,
    prepare: Callable[[LfsClient, Make, Project, User], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A user's download beyond the share starts when another one ends; another user is served meanwhile."""
    path = prepare(lfs, make, project, owner)
    monkeypatch.setattr(instance.app._transfers, "_user_share", 2)
    with ExitStack() as stack:
        first = stack.enter_context(unread(instance, f"GET {path}", owner))
        second = stack.enter_context(unread(instance, f"GET {path}", owner))
        until("two responses", lambda: len(begun([first, second])) == 2)
        third = stack.enter_context(unread(instance, f"GET {path}", owner))
        answer = httpx.get(f"{instance.url}{path}", headers={"PRIVATE-TOKEN": other.token}, timeout=60)
        assert (answer.status_code, len(answer.content) >= len(CONTENT)) == (200, True)
        assert begun([first, second, third]) == [first, second]
        first.close()
        until("the third response", lambda: begun([third]))
        assert status_of(third) == "200"


def test_no_download_in_time(
    instance: Instance, api: Api, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instance.app._transfers, "_user_share", 0)
    monkeypatch.setattr(transfer_slots, "WAIT_SECONDS", 0.0)
    answer = api.get(f"{project.url}/repository/archive.tar", owner)
    assert (answer.status_code, answer.json()) == (503, {"message": f"503 Service Unavailable - {BUSY}"})
    assert int(answer.headers["retry-after"]) > 0
    page = httpx.get(
        f"{instance.url}/{project.path}.git/gitlab-lfs/objects/{'0' * 64}", headers={"PRIVATE-TOKEN": owner.token}
    )
    assert page.status_code == 404


USER, SAME_USER = TransferCaller("user 1", "192.0.2.1"), TransferCaller("user 1", "192.0.2.2")


def test_shares_and_order_of_the_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user has one share at all addresses, an address one for all its users; the least served caller is next."""
    monkeypatch.setattr(transfer_slots, "WAIT_SECONDS", 600.0)
    log: list[str] = []

    async def transfer(slots: TransferSlots, caller: TransferCaller, ended: asyncio.Event) -> None:
        async with slots.hold(caller):
            log.append(caller.key)
            await ended.wait()

    async def run() -> None:
        slots = TransferSlots(6)  # Two for a user, four for a network, one for an anonymous network.
        ended, tasks = [asyncio.Event() for _ in range(8)], []
        nobody, neighbour = TransferCaller("", "2001:db8::/64"), TransferCaller("user 2", "192.0.2.1")
        for caller, event in zip((USER, SAME_USER, USER, nobody, nobody, neighbour), ended, strict=False):
            tasks.append(asyncio.ensure_future(transfer(slots, caller, event)))
            await asyncio.sleep(0)
        assert log == ["user 1", "user 1", nobody.key, "user 2"]
        ended[0].set()
        await tasks[0]
        await asyncio.sleep(0)
        assert log[4:] == ["user 1"]
        for event in ended:
            event.set()
        await asyncio.gather(*tasks)
        assert not slots._used and not slots._held

    asyncio.run(run())


def test_full_queue_keeps_a_place_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest transfer of the caller with the most waiting ones is refused, and a timeout frees its place."""
    monkeypatch.setattr(transfer_slots, "WAITING_PER_SLOT", 2)
    monkeypatch.setattr(transfer_slots, "WAIT_SECONDS", 600.0)

    async def enter(slots: TransferSlots, caller: TransferCaller) -> None:
        async with slots.hold(caller):
            pass

    async def run() -> None:
        slots = TransferSlots(1)
        async with slots.hold(USER):
            flood = [asyncio.ensure_future(enter(slots, USER)) for _ in range(2)]
            await asyncio.sleep(0)
            late = asyncio.ensure_future(enter(slots, TransferCaller("user 2", "192.0.2.9")))
            await asyncio.wait([flood[1]])
            assert isinstance(flood[1].exception(), TransfersBusy)
            flood[0].cancel()
            await asyncio.wait([flood[0]])
        await late
        assert not slots._used and not slots._queue

    asyncio.run(run())
