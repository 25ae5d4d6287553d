"""Malformed git protocol data: error messages, bounded work, and no leftovers."""

import asyncio
import gzip
import os
import socket
import subprocess
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ingot.git.core.repository import Repository
from ingot.projects.projects.api import repository_store
from ingot.projects.projects.queries import existing_project
from ingot.repositories.ref_changes import policy
from ingot.transport import push
from ingot.transport.callers import anonymous
from ingot.transport.push import Push
from ingot.transport.push_messages import ClientAddress
from tests.client import Make, User
from tests.conftest import Instance
from tests.factories import Project, make_project
from tests.git_history import repository_of, run
from tests.server.process import TOKEN, Server, serving, until
from tests.transport.conftest import Tree, over_http, ssh_command
from tests.transport.test_workflows import recorded
from tests.transport.wire import ZERO, auth_of, connected, exchange, key_of, packet, send_commands

OPAQUE = os.urandom(3 * 2**20)


@pytest.fixture
def owner(make: Make) -> User:
    return make.user()


@pytest.fixture
def project(instance: Instance, make: Make, owner: User, tree: Tree) -> Project:
    """Return a project with a commit."""
    made = make_project(make, owner)
    tree.commit()
    tree.git("push", "-q", over_http(instance, made, owner), "master")
    return made


GARBAGE = {
    "nothing": b"",
    "no packet": b"hello, git",
    "no length": b"zzzz",
    "a length that lies": b"00ff" + b"x" * 10,
    "lengths that cannot be": b"0001" * 100,
    "too short a length": b"0003",
    "zeros": b"\0" * 100_000,
    "the longest packet without an end": b"ffff" + b"x" * 60_000,
    "wants of nothing": packet("want " + "1" * 40 + "\n") + b"0000" + packet("done\n"),
    "wants that are no ids": packet("want ../../etc/passwd\n") + b"0000",
    "a command without a pack": packet(f"{ZERO} {'1' * 40} refs/heads/x\0report-status") + b"0000",
    "a command that is none": packet("x" * 1000) + b"0000",
    "a pack that is none": packet(f"{ZERO} {'1' * 40} refs/heads/x\0report-status") + b"0000PACKzzzz",
    "a pack that promises too much": packet(f"{ZERO} {'1' * 40} refs/heads/x\0report-status")
    + b"0000PACK\0\0\0\2\xff\xff\xff\xff",
    "a certificate": packet("push-cert\0report-status") + packet("certificate version 0.1\n") + b"0000",
    "a shallow line": packet("shallow " + "1" * 40) + b"0000",
    "noise": os.urandom(10_000),
}


@pytest.mark.parametrize("what", GARBAGE)
def test_malformed_requests(
    instance: Instance,
    owner: User,
    project: Project,
    ssh_key: Callable[..., dict[str, str]],
    tmp_path: Path,
    what: str,
) -> None:
    """Attack: both services, HTTP and SSH, and protocol version 2."""
    repository = repository_of(instance, project)
    before = repository.refs()
    for service in ("upload", "receive"):
        for headers in ({}, {"Git-Protocol": "version=2"}, {"Git-Protocol": "version=1"}):
            answer = exchange(instance, f"{project.path}.git", service, GARBAGE[what], auth_of(owner), headers)
            assert answer.status_code in (200, 400), answer.text
            assert answer.status_code == 200 or answer.text == "Git does not understand this request.\n"
    with connected(instance, key_of(ssh_key(owner)), tmp_path) as connection:
        for service in ("upload", "receive"):
            connection.run(f"git-{service}-pack '{project.path}'", GARBAGE[what])
        assert connection.run(f"git-upload-pack '{project.path}'", b"0000").status == 0
    assert repository.refs() == before
    assert not list(repository.path.glob("objects/*incoming-*"))
    assert run(repository.path, "fsck", "--strict") == ""
    assert len(recorded(instance, project)) == 1


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "deflate", "br", "GZIP"])
def test_content_encodings(instance: Instance, owner: User, project: Project, encoding: str) -> None:
    """Attack: malformed compression is reported; a decompression bomb is limited while it expands."""
    path, auth, sent = f"{project.path}.git", auth_of(owner), {"Content-Encoding": encoding}
    for service in ("upload", "receive"):
        assert exchange(instance, path, service, b"no gzip at all", auth, sent).status_code == 400
    bomb = gzip.compress(b"\0" * (65 * 2**20), 9)
    assert exchange(instance, path, "upload", bomb, auth, sent).status_code == 413
    asked = gzip.compress(b"0000")
    assert exchange(instance, path, "upload", asked, auth, sent).status_code == 200


def test_too_many_refs_in_a_push(
    instance: Instance, owner: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rejected with a message, whether they can be listed or exceed the limits."""
    tip = repository_of(instance, project).tip("refs/heads/master")
    assert tip is not None
    commands = [(ZERO, tip, f"refs/heads/x{number}") for number in range(60)]
    monkeypatch.setattr("ingot.repositories.ref_changes.apply.MAX_REFS", 50)
    assert "A push may change 50 references at most." in send_commands(instance, project, owner, commands)
    monkeypatch.undo()
    monkeypatch.setattr(push, "MAX_HOOK_REQUEST_BYTES", 1000)
    said = f"A push may change {policy.MAX_REFS} references at most."
    assert said in send_commands(instance, project, owner, commands)
    monkeypatch.undo()
    assert len(recorded(instance, project)) == 1
    assert "ok refs/heads/x59" in send_commands(instance, project, owner, commands)
    assert len(recorded(instance, project)) == 61


def test_push_options(instance: Instance, owner: User, project: Project, tree: Tree) -> None:
    """They are accepted and ignored."""
    tree.commit(content="two\n")
    url = over_http(instance, project, owner)
    tree.git("push", "-q", "-o", "ci.skip", "-o", "x=$(id)", "-o", "--help", url, "master")
    assert len(recorded(instance, project)) == 2


def test_a_request_in_small_chunks(instance: Instance, owner: User, project: Project) -> None:
    """Byte by byte over a raw connection."""
    port = httpx.URL(instance.url).port
    with socket.create_connection(("127.0.0.1", port)) as connection:
        head = (
            f"POST /{project.path}.git/git-upload-pack HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {owner.token}\r\n"
            "Content-Type: application/x-git-upload-pack-request\r\nTransfer-Encoding: chunked\r\n"
            "Connection: close\r\n\r\n"
        )
        for byte in head.encode() + b"1\r\n0\r\n" * 4 + b"0\r\n\r\n":
            connection.send(bytes([byte]))
        answer = b""
        while piece := connection.recv(4096):
            answer += piece
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server with a limit of one megabyte; it always uses its own database."""
    data = tmp_path_factory.mktemp("small") / "data"
    with serving(data, INGOT_MAX_PUSH_MB="2", INGOT_MAX_FILE_MB="1") as server:
        yield server


def _push_to(small: Server, tree: Tree, name: str, protocol: str, tmp_path: Path) -> Callable[[str, bool], str]:
    made = small.call("POST", "/projects", json={"name": name})
    assert made.status_code == 201, made.text
    url = small.url.replace("http://", f"http://root:{TOKEN}@") + f"/root/{name}.git"
    if protocol == "ssh":
        key = tmp_path / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
        public = Path(f"{key}.pub").read_text()
        assert small.call("POST", "/user/keys", json={"title": "key", "key": public}).status_code == 201
        port = until("the port", lambda: (small.data / "run" / "ssh_port").read_text().strip())
        url = f"ssh://git@127.0.0.1:{port}/root/{name}.git"
        tree.env = {"GIT_SSH_COMMAND": ssh_command(key)}
    return lambda spec, fails: tree.git("push", url, spec, fails=fails)


@pytest.mark.parametrize("protocol", ["http", "ssh"])
def test_size_limits(small: Server, tree: Tree, tmp_path: Path, protocol: str) -> None:
    """A push or a file over the limit is rejected with a message, and leaves no objects."""
    push = _push_to(small, tree, f"sizes-{protocol}", protocol, tmp_path)
    tree.commit()
    push("master", False)
    (tree.folder / "file").write_bytes(OPAQUE[: 2**20])
    tree.git("add", "file")
    tree.git("commit", "-q", "-m", "Just small enough")
    push("master", False)
    (tree.folder / "file").write_bytes(OPAQUE[: 2**20 + 1])
    tree.git("commit", "-q", "-a", "-m", "A byte too large")
    assert "A file is larger than the 1 MB that are allowed." in push("master", True)
    (tree.folder / "file").write_bytes(OPAQUE)
    tree.git("commit", "-q", "-a", "-m", "Far too large")
    said = push("master", True)
    assert "exceeds maximum allowed size" in said, said
    for repository in (small.data / "repositories").glob("??/??/*"):
        assert not list(repository.glob("objects/*incoming-*"))


def test_size_limits_of_the_api(small: Server) -> None:
    """A file over the push limit is not committed by a call either."""
    project = small.call("POST", "/projects", json={"name": "sizes-api"}).json()["id"]
    base = {"branch": "master", "commit_message": "x"}
    fits, large = "x" * 2**20, "x" * (2**20 + 1)

    def responses(content: str, name: str, **more: str) -> list[tuple[int, Any]]:
        encoded = {"content": content, **more}
        action = {"action": "create", "file_path": f"{name}-too", **encoded}
        sent = [
            small.call("POST", f"/projects/{project}/repository/files/{name}", json={**base, **encoded}),
            small.call("PUT", f"/projects/{project}/repository/files/begun", json={**base, **encoded}),
            small.call("POST", f"/projects/{project}/repository/commits", json={**base, "actions": [action]}),
        ]
        return [(answer.status_code, answer.json().get("message")) for answer in sent]

    begun = {**base, "content": ""}
    assert small.call("POST", f"/projects/{project}/repository/files/begun", json=begun).status_code == 201
    assert [status for status, _ in responses(fits, "fits")] == [201, 200, 201]
    refused = (400, {"content": ["is larger than the 1 MB that are allowed"]})
    assert responses(large, "large") == [refused] * 3
    assert responses(b64encode(large.encode()).decode(), "large", encoding="base64") == [refused] * 3


def test_decompression_bombs(small: Server) -> None:
    """Attack: sent to receive-pack, with its own limit."""
    made = small.call("POST", "/projects", json={"name": "bombs"})
    assert made.status_code == 201, made.text
    bomb = gzip.compress(b"\0" * (19 * 2**20), 9)
    kind = {
        "Content-Type": "application/x-git-receive-pack-request",
        "Content-Encoding": "gzip",
        "PRIVATE-TOKEN": TOKEN,
    }
    answer = httpx.post(f"{small.url}/root/bombs.git/git-receive-pack", headers=kind, content=bomb, timeout=60)
    assert answer.status_code == 413


def test_no_pipe_stays_open(instance: Instance, owner: User, project: Project) -> None:
    """After a push, or after one that failed to start."""

    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    nowhere = Repository(Path("/nowhere"))
    row = instance.app.database.read(lambda db: existing_project(db, project.id))

    async def begin() -> None:
        push = Push(
            instance.app.database,
            instance.app.kernel.pool,
            repository_store(instance.settings),
            nowhere,
            row,
            anonymous,
            via="http",
            address=ClientAddress("", ""),
            base_url="",
            max_file_mb=0,
        )
        with pytest.raises(FileNotFoundError):
            await push.start(["receive-pack", "."], [], {})

    async def begin_all() -> None:
        await begin()
        before = count()
        for _ in range(5):
            await begin()
        assert count() <= before  # A connection of an earlier test may end meanwhile.

    asyncio.run(begin_all())
    exchange(instance, f"{project.path}.git", "receive", b"0000", auth_of(owner))
    before = count()
    for _ in range(5):
        exchange(instance, f"{project.path}.git", "receive", b"0000", auth_of(owner))
    until("the end of what is open", lambda: count() <= before)
